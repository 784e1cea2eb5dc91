"""French inflection: elision, plurals and feminines, conjugation.

In: a masculine singular, with the feminine where no rule gives it; an infinitive. Out: the other forms; a `Conjugation`
in the six persons of four simple tenses, with infinitive and past participle. Regular verbs in -er, -ir (finir) and -re
follow rules, spelling changes included; the others are in a table of principal parts: infinitive | six persons of the
present | stem of the imperfect | stem of the future | participle. Compound tenses are built by the grammar.
"""

from functools import cache
from typing import NamedTuple

_VOWELS = frozenset("aàâeéèêëiîïoôœuùûyAEÉIOU")
_NO_ELISION = frozenset(("héros", "haricot", "haricots", "hibou", "hiboux", "onze", "huit"))
"""Words with an aspirated h, and numerals that behave like them."""


@cache
def opens_with_vowel(word: str) -> bool:
    """Whether ``le`` before this word becomes ``l'``; a mute h counts as a vowel, an aspirated h does not."""
    if word in _NO_ELISION:
        return False
    return word[0] in _VOWELS or word[0] in "hH"


_PLURAL_IN_X = ("eau", "eu", "hibou")
_FEMININE = (
    ("eux", "euse"),
    ("er", "ère"),
    ("ien", "ienne"),
    ("et", "ette"),
    ("if", "ive"),
    ("c", "che"),
)


def plural(singular: str) -> str:
    """The plural of a noun or an adjective."""
    if singular[-1] in "sxz":
        return singular
    if singular.endswith("al"):
        return singular[:-1] + "ux"
    if singular.endswith(_PLURAL_IN_X) and singular != "bleu":
        return singular + "x"
    return singular + "s"


def adjective_forms(entry: str) -> tuple[str, str, str, str]:
    """Masculine and feminine singular, then masculine and feminine plural.

    Args:
        entry: the masculine singular, with ``/feminine`` where the rules do not give it.
    """
    masculine, _, feminine = entry.partition("/")
    if not feminine:
        feminine = _feminine(masculine)
    return masculine, feminine, plural(masculine), plural(feminine)


def _feminine(masculine: str) -> str:
    if masculine.endswith("e"):
        return masculine
    for ending, replacement in _FEMININE:
        if masculine.endswith(ending):
            return masculine[: -len(ending)] + replacement
    return masculine + "e"


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


Persons = tuple[str, str, str, str, str, str]

_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_PRESENT_ER = ("e", "es", "e", "ons", "ez", "ent")
_PRESENT_IR = ("is", "is", "it", "issons", "issez", "issent")
_PRESENT_RE = ("s", "s", "", "ons", "ez", "ent")


class Conjugation(NamedTuple):
    """All the forms of one verb; persons are counted je, tu, il, nous, vous, ils."""

    infinitive: str
    participle: str
    present: Persons
    imperfect: Persons
    future: Persons
    conditional: Persons


@cache
def conjugate(infinitive: str) -> Conjugation:
    """Conjugate a verb given by its infinitive (without ``se``)."""
    if infinitive in IRREGULAR:
        forms, imperfect_stem, future_stem, participle = IRREGULAR[infinitive]
        present = _persons(forms.split())
    else:
        present, imperfect_stem, future_stem, participle = _regular(infinitive)
    return Conjugation(
        infinitive,
        participle,
        present,
        _persons([_join(imperfect_stem, ending) for ending in _IMPERFECT]),
        _persons([future_stem + ending for ending in _FUTURE]),
        _persons([future_stem + ending for ending in _IMPERFECT]),
    )


def _regular(infinitive: str) -> tuple[Persons, str, str, str]:
    """Return present, stem of the imperfect, stem of the future, participle."""
    stem, group = infinitive[:-2], infinitive[-2:]
    if group == "er":
        strong = _strong_stem(stem)
        present = _persons(
            [_join(stem if person in (3, 4) else strong, ending) for person, ending in enumerate(_PRESENT_ER)]
        )
        # préférer keeps its é before the long endings of the future; acheter and nettoyer change there too
        future = (stem if "é" in stem[-2:] else strong) + "er"
        return present, present[3][:-3], future, stem + "é"
    if group == "ir":
        return _persons([stem + ending for ending in _PRESENT_IR]), stem + "iss", infinitive, stem + "i"
    return _persons([stem + ending for ending in _PRESENT_RE]), stem, infinitive[:-1], stem + "u"


def _strong_stem(stem: str) -> str:
    """Return the stem before a mute ending: achet → achèt, préfér → préfèr, nettoy → nettoi."""
    if stem.endswith("y"):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] not in "aeiouéè":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _join(stem: str, ending: str) -> str:
    """Put stem and ending together, keeping the sound of g and c: mang+ons → mangeons."""
    if ending[:1] in ("a", "o"):
        if stem.endswith("g"):
            return stem + "e" + ending
        if stem.endswith("c"):
            return stem[:-1] + "ç" + ending
    if ending.startswith("i"):
        if stem.endswith("ge"):
            return stem[:-1] + ending
        if stem.endswith("ç"):
            return stem[:-1] + "c" + ending
    return stem + ending


def _persons(forms: list[str]) -> Persons:
    first, second, third, we, you, they = forms
    return first, second, third, we, you, they
