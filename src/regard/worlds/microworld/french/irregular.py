"""Irregular French verbs by their principal parts.

Each line: infinitive | six persons of the present | stem of the imperfect | stem of the future | participle.
"""

_TABLE = """
être       | suis es est sommes êtes sont                       | ét       | ser      | été
avoir      | ai as a avons avez ont                             | av       | aur      | eu
aller      | vais vas va allons allez vont                      | all      | ir       | allé
dire       | dis dis dit disons dites disent                    | dis      | dir      | dit
faire      | fais fais fait faisons faites font                 | fais     | fer      | fait
voir       | vois vois voit voyons voyez voient                 | voy      | verr     | vu
savoir     | sais sais sait savons savez savent                 | sav      | saur     | su
pouvoir    | peux peux peut pouvons pouvez peuvent              | pouv     | pourr    | pu
vouloir    | veux veux veut voulons voulez veulent              | voul     | voudr    | voulu
devoir     | dois dois doit devons devez doivent                | dev      | devr     | dû
venir      | viens viens vient venons venez viennent            | ven      | viendr   | venu
revenir    | reviens reviens revient revenons revenez reviennent | reven   | reviendr | revenu
devenir    | deviens deviens devient devenons devenez deviennent | deven   | deviendr | devenu
souvenir   | souviens souviens souvient souvenons souvenez souviennent | souven | souviendr | souvenu
prendre    | prends prends prend prenons prenez prennent        | pren     | prendr   | pris
apprendre  | apprends apprends apprend apprenons apprenez apprennent | appren | apprendr | appris
comprendre | comprends comprends comprend comprenons comprenez comprennent | compren | comprendr | compris
mettre     | mets mets met mettons mettez mettent               | mett     | mettr    | mis
partir     | pars pars part partons partez partent              | part     | partir   | parti
sortir     | sors sors sort sortons sortez sortent              | sort     | sortir   | sorti
dormir     | dors dors dort dormons dormez dorment              | dorm     | dormir   | dormi
endormir   | endors endors endort endormons endormez endorment  | endorm   | endormir | endormi
lire       | lis lis lit lisons lisez lisent                    | lis      | lir      | lu
écrire     | écris écris écrit écrivons écrivez écrivent        | écriv    | écrir    | écrit
boire      | bois bois boit buvons buvez boivent                | buv      | boir     | bu
croire     | crois crois croit croyons croyez croient           | croy     | croir    | cru
connaître  | connais connais connaît connaissons connaissez connaissent | connaiss | connaîtr | connu
ouvrir     | ouvre ouvres ouvre ouvrons ouvrez ouvrent          | ouvr     | ouvrir   | ouvert
offrir     | offre offres offre offrons offrez offrent          | offr     | offrir   | offert
suivre     | suis suis suit suivons suivez suivent              | suiv     | suivr    | suivi
courir     | cours cours court courons courez courent           | cour     | courr    | couru
rire       | ris ris rit rions riez rient                       | ri       | rir      | ri
sourire    | souris souris sourit sourions souriez sourient     | souri    | sourir   | souri
recevoir   | reçois reçois reçoit recevons recevez reçoivent    | recev    | recevr   | reçu
conduire   | conduis conduis conduit conduisons conduisez conduisent | conduis | conduir | conduit
construire | construis construis construit construisons construisez construisent | construis | construir\
 | construit
envoyer    | envoie envoies envoie envoyons envoyez envoient    | envoy    | enverr   | envoyé
pleuvoir   | pleux pleux pleut pleuvons pleuvez pleuvent        | pleuv    | pleuvr   | plu
"""


def _read(table: str) -> dict[str, tuple[str, str, str, str]]:
    verbs = {}
    for line in table.strip().splitlines():
        infinitive, present, imperfect, future, participle = (cell.strip() for cell in line.split("|"))
        verbs[infinitive] = (present, imperfect, future, participle)
    return verbs


IRREGULAR = _read(_TABLE)
