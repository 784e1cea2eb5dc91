"""Verbs by the complement they take: English | French | flags | subjects | objects.

English is ``base/past/participle`` (regular forms left out) and the particles that belong to it. French is
the infinitive, with ``se`` before a reflexive verb, and with the preposition (à, de) before its object and
any noun (avoir besoin) after it. Flags: ``s`` state, ``p`` no progressive although the past is a passé
composé, ``e`` être, ``o`` English says oneself, ``x`` auxiliary, ``l`` light: the last particle carries the
meaning. Subjects are kinds; objects are kinds or single nouns.
"""

from regard.datasets.microworld.english import VerbForms, verb_forms
from regard.datasets.microworld.french import conjugate
from regard.datasets.microworld.lexicon.entries import NounEntry, VerbEntry
from regard.datasets.microworld.lexicon.nouns import kinds_in, nouns_in

_INTRANSITIVE = """
work               | travailler |  | person
sing/sang/sung     | chanter    |  | person
dance              | danser     |  | person
laugh              | rire       |  | person
smile              | sourire    |  | person
travel             | voyager    |  | person
cry                | pleurer    |  | person
sleep/slept        | dormir     |  | person animal
eat/ate/eaten      | manger     |  | person animal
run/ran/run        | courir     |  | person animal
swim/swam/swum     | nager      |  | person animal
walk               | marcher    |  | person animal
wait               | attendre   |  | person animal
arrive             | arriver    | e | person vehicle
leave/left         | partir     | e | person vehicle
come/came/come     | venir      | e | person animal
come/came/come back | revenir   | e | person animal
go/went/gone out   | sortir     | e | person animal
fall/fell/fallen   | tomber     | e | person animal thing
stay               | rester     | e | person animal
wake/woke/woken up | se réveiller |  | person animal
get/got/got up     | se lever   |  | person
go/went/gone to bed | se coucher | l | person
get/got/got dressed | se habiller | l | person
hurry              | se dépêcher |  | person
rest               | se reposer |  | person animal
wash               | se laver   | o | person
enjoy              | se amuser  | o | person
stop               | se arrêter |  | person vehicle
fall/fell/fallen asleep | se endormir | l | person animal
get/got/got bored  | se ennuyer | l | person
"""

_TRANSITIVE = """
see/saw/seen       | voir       | p | person animal | person animal object place
find/found         | trouver    | p | person  | animal thing clothes text idea
lose/lost          | perdre     | p | person  | thing clothes text
eat/ate/eaten      | manger     |  | person animal | edible
drink/drank/drunk  | boire      |  | person  | drink
read/read          | lire       |  | person  | text
write/wrote/written | écrire    |  | person  | letter story poem novel song answer
buy/bought         | acheter    |  | person  | edible drink text clothes vehicle thing furniture house
sell/sold          | vendre     |  | person  | edible clothes vehicle thing furniture house horse cow
wear/wore/worn     | porter     |  | person  | clothes
like               | aimer      | s | person  | person animal edible drink text clothes place idea
hate               | détester   | s | person  | animal edible drink text clothes city school
prefer/preferred   | préférer   | s | person  | animal edible drink text clothes vehicle
look for           | chercher   |  | person animal | person animal thing clothes text hotel station
look at            | regarder   |  | person animal | person animal object
listen to          | écouter    |  | person  | person story song teacher bird
wait for           | attendre   |  | person  | person train bus plane boat
open               | ouvrir     |  | person  | opening letter box bottle suitcase gift bag
close              | fermer     |  | person  | opening box suitcase book
clean              | nettoyer   |  | person  | vehicle table shoe kitchen room house window desk
wash               | laver      |  | person  | clothes car plate cup glass dog
break/broke/broken | casser     |  | person  | glass cup plate toy window chair lamp bottle
repair             | réparer    |  | person  | vehicle clock computer phone toy lamp door
drive/drove/driven | conduire   |  | person  | car lorry bus
take/took/taken    | prendre    |  | person  | thing train bus plane
choose/chose/chosen | choisir   |  | person  | clothes text food gift hotel song
finish             | finir      |  | person  | text exercise lesson cake soup
visit              | visiter    |  | person  | castle museum church city village house
know/knew/known    | connaître  | s | person  | person place song
help               | aider      |  | person  | person
follow             | suivre     |  | person animal | person animal car
meet/met           | rencontrer |  | person  | person
invite             | inviter    |  | person  | person
thank              | remercier  |  | person  | person
understand/understood | comprendre | p | person | person question problem lesson answer story
forget/forgot/forgotten | oublier | p | person | key umbrella bag idea secret song answer lesson
hide/hid/hidden    | cacher     |  | person  | thing letter
draw/drew/drawn    | dessiner   |  | person  | animal house castle flower boat
prepare            | préparer   |  | person  | soup salad cake coffee tea lesson
cut/cut            | couper     |  | person  | bread cheese meat cake apple tomato carrot pear banana flower
build/built        | construire |  | person  | house castle boat church table
receive            | recevoir   | p | person  | letter gift photo answer
steal/stole/stolen | voler      |  | person  | thing car bicycle horse
learn/learnt       | apprendre  |  | person  | lesson poem song
hear/heard         | entendre   | p | person animal | person animal song train
push               | pousser    |  | person  | car bicycle door table chair
catch/caught       | attraper   |  | person animal | ball mouse rabbit bird
admire             | admirer    |  | person  | person castle painting garden flower church
have/had           | avoir      | s | person  | animal object garden idea problem dream question house
want               | vouloir    | s | person  | edible drink clothes text vehicle toy gift house
need               | avoir besoin de | s | person | person text clothes vehicle key map knife lamp
answer             | répondre à |  | person  | person letter question
obey               | obéir à    |  | person animal | king queen father mother teacher
talk to            | parler à   |  | person  | person dog horse
talk about         | parler de  |  | person  | person text idea
phone              | téléphoner à |  | person | person
dream of           | rêver de   |  | person  | house castle beach car horse
think/thought about | penser à  |  | person  | person problem question lesson
remember           | se souvenir de | s | person | person song story lesson dream house
"""

_GIVING = """
give/gave/given    | donner     |  | person  | food text thing flower clothes
show/showed/shown       | montrer    |  | person  | text thing clothes house
send/sent          | envoyer    |  | person  | letter gift photo map flower book
lend/lent          | prêter     |  | person  | text thing clothes car bicycle
explain            | expliquer  |  | person  | lesson problem idea exercise
bring/brought      | apporter   |  | person  | text thing food drink
"""

_WITH_INFINITIVE = """
can/could          | pouvoir    | sx | person animal
must               | devoir     | sx | person
want to            | vouloir    | s | person animal
hope to            | espérer    | s | person
like to            | aimer      | s | person animal
prefer/preferred to | préférer  | s | person
know/knew/known how to | savoir  | s | person
try to             | essayer de |  | person animal
start to           | commencer à | p | person animal
learn/learnt to    | apprendre à |  | person
refuse to          | refuser de | p | person
decide to          | décider de | p | person
forget/forgot/forgotten to | oublier de | p | person
continue to        | continuer à | p | person
"""

_WITH_CLAUSE = """
think/thought      | penser     | s | person
say/said           | dire       | p | person
know/knew/known    | savoir     | s | person
believe            | croire     | s | person
hope               | espérer    | s | person
"""

_OTHERS = """
be/was/been        | être       | sx | person
be/was/been hungry | avoir faim | sx | person animal
be/was/been thirsty | avoir soif | sx | person animal
be/was/been right  | avoir raison | sx | person
be/was/been wrong  | avoir tort | sx | person
be/was/been afraid of | avoir peur de | sx | person animal | wolf dog mouse teacher king thief doctor question
be/was/been hot    | faire chaud | sx | person
be/was/been cold   | faire froid | sx | person
be/was/been        | avoir      | sx | person
become/became/become | devenir  | e | person
seem               | sembler    | s | person
go/went/gone       | aller      | e | person | site
come/came/come     | venir      | e | person | site
come/came/come back | revenir   | e | person | site
live               | habiter    | s | person
put/put            | mettre     |  | person | thing text clothes
play               | jouer      |  | person | instrument
rain               | pleuvoir   |  | person
snow               | neiger     |  | person
"""


def _english(cell: str, auxiliary: bool) -> tuple[VerbForms, tuple[str, ...]]:
    entry, *particles = cell.split()
    forms = verb_forms(entry)
    return (forms._replace(third=forms.base) if auxiliary else forms), tuple(particles)


def _read(table: str) -> tuple[VerbEntry, ...]:
    verbs = []
    for line in table.strip().splitlines():
        english, french, flags, subjects, objects = (*(cell.strip() for cell in line.split("|")), "")[:5]
        forms, particles = _english(english, "x" in flags)
        reflexive = french.startswith("se ")
        infinitive, *rest = french.removeprefix("se ").split()
        link = rest[-1] if rest and rest[-1] in ("à", "de") else ""
        noun = rest[0] if rest and rest[0] != link else ""
        verbs.append(
            VerbEntry(
                forms,
                particles,
                "l" in flags,
                conjugate(infinitive),
                etre=reflexive or "e" in flags,
                reflexive=reflexive,
                oneself="o" in flags,
                noun=noun,
                link=link,
                state="s" in flags,
                lively="s" not in flags and "p" not in flags,
                auxiliary="x" in flags,
                subjects=kinds_in(subjects),
                objects=nouns_in(objects),
            )
        )
    return tuple(verbs)


def _by_subject(verbs: tuple[VerbEntry, ...]) -> dict[str, tuple[VerbEntry, ...]]:
    kinds = ("person", "animal", "vehicle", "thing")
    return {kind: tuple(verb for verb in verbs if kind in verb.subjects) for kind in kinds}


_transitive = _read(_TRANSITIVE)
_others = _read(_OTHERS)

INTRANSITIVE = _by_subject(_read(_INTRANSITIVE))
TRANSITIVE = _by_subject(tuple(verb for verb in _transitive if not verb.link))
INDIRECT = _by_subject((*(verb for verb in _transitive if verb.link), _others[5]))
GIVING = _read(_GIVING)
WITH_INFINITIVE = _by_subject(_read(_WITH_INFINITIVE))
WITH_CLAUSE = _read(_WITH_CLAUSE)
FEELING = _by_subject(_others[1:5])
BE, HOT, COLD, THERE_BE = _others[0], _others[6], _others[7], _others[8]
BECOME, SEEM, GO, COME, COME_BACK, LIVE, PUT, PLAY, RAIN, SNOW = _others[9:]

GENERIC = frozenset(("aimer", "détester", "préférer"))
"""French verbs after which a bare English noun means the whole kind: likes bread, aime *le* pain."""

KNOWN = frozenset(("connaître", "visiter", "finir"))
"""French verbs whose object is something definite."""


FOR_SOMEONE = frozenset(
    ("travailler", "chanter", "acheter", "préparer", "dessiner", "construire", "écrire", "réparer", "choisir")
)
"""French verbs with a benefactive: pour quelqu'un."""

LEADING_AWAY = frozenset(("partir", "sortir", "venir", "revenir"))
"""French verbs of motion, with which a place would be a goal."""

_IN_PLACE = ("travailler", "chanter", "danser", "dormir", "manger", "attendre", "habiter", "reposer")
STAYING = tuple(verb for verb in (*INTRANSITIVE["person"], LIVE) if verb.fr.infinitive in _IN_PLACE)
"""Verbs that go with a place."""


def verbs_by_infinitive(infinitives: str) -> tuple[VerbEntry, ...]:
    """Transitive verbs by their French infinitives; those that take de are left out."""
    wanted = infinitives.split()
    return tuple(verb for verb in _transitive if verb.fr.infinitive in wanted and verb.link != "de")


def taking(noun: NounEntry) -> tuple[VerbEntry, ...]:
    """The transitive verbs that select this noun as object, with a person as subject."""
    return _TAKING.get(noun.en[0], ())


_TAKING: dict[str, tuple[VerbEntry, ...]] = {}
for _verb in TRANSITIVE["person"]:
    for _noun in _verb.objects:
        _TAKING[_noun.en[0]] = (*_TAKING.get(_noun.en[0], ()), _verb)
