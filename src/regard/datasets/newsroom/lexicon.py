"""The lexicon of the newsroom: nouns by sort, verbs with their selectional restrictions, places, pronouns.

A verb selects the sort of its subject and of its object, so that the subject predicts much of what follows. Knows
nothing of sentences.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun.

    Attributes:
        singular: empty where there is none, as for police.
        plural: empty where there is none, as for FBI.
        gender: ``m``, ``f``, ``n``, or empty for a person of either.
    """

    singular: str
    plural: str
    gender: str


class Verb(NamedTuple):
    """A verb.

    Attributes:
        subject: the sort of its subject.
        base: as after will.
        gerund: as after is.
        past: the simple past.
        participle: as after has.
        objects: the sorts of its object; empty for an intransitive verb.
        particle: follows the object, as off in called the strike off.
    """

    subject: str
    base: str
    gerund: str
    past: str
    participle: str
    objects: tuple[str, ...]
    particle: str


def _nouns(table: str) -> tuple[Noun, ...]:
    """Read ``singular/plural/gender``; a dash for a form that does not exist."""
    rows = [entry.split("/") for entry in table.split()]
    return tuple(Noun(singular.strip("-"), plural.strip("-"), gender) for singular, plural, gender in rows)


NOUNS = {
    "law": _nouns("FBI/-/n FBI/-/n FBI/-/n -/police/ -/police/ agent/agents/ officer/officers/"),
    "crook": _nouns(
        "criminal/criminals/ " * 3 + "thief/thieves/ robber/robbers/ smuggler/smugglers/ gang/gangs/n"
    ),
    "star": _nouns(
        "king/kings/m queen/queens/f prince/princes/m actress/actresses/f actor/actors/m widow/widows/f"
    ),
    "power": _nouns(
        "minister/ministers/ senator/senators/ mayor/mayors/ government/governments/n parliament/-/n"
    ),
    "firm": _nouns("company/companies/n bank/banks/n airline/airlines/n newspaper/newspapers/n"),
    "press": _nouns("reporter/reporters/ witness/witnesses/ lawyer/lawyers/"),
    "animal": _nouns("tiger/tigers/n bear/bears/n"),
    "prize": _nouns("painting/paintings/n diamond/diamonds/n car/cars/n"),
    "house": _nouns("bank/banks/n museum/museums/n"),
    "paper": _nouns("deal/deals/n law/laws/n"),
    "plan": _nouns("strike/strikes/n search/searches/n election/elections/n"),
}
"""By sort. A noun listed n times is chosen n times as often."""

SUBJECT_SORTS = ("law", "crook", "star", "power", "firm", "press", "animal")
"""The sorts of noun that can be a subject."""

PLACES = (
    "in the harbour",
    "in the city",
    "in the forest",
    "at the airport",
    "at the border",
    "at the station",
    "near the harbour",
    "near the city",
    "near the airport",
    "near the zoo",
)

_VERBS = """
law    chase   chasing    chased   chased   crook,animal
law    chase   chasing    chased   chased   crook,animal
law    chase   chasing    chased   chased   crook,animal
law    arrest  arresting  arrested arrested crook
law    track   tracking   tracked  tracked  crook         down
law    lock    locking    locked   locked   crook         up
crook  rob     robbing    robbed   robbed   house
crook  steal   stealing   stole    stolen   prize
crook  hide    hiding     hid      hidden   prize
crook  hand    handing    handed   handed   prize         over
star   marry   marrying   married  married  star
star   sell    selling    sold     sold     prize
star   give    giving     gave     given    prize         away
power  sign    signing    signed   signed   paper
power  call    calling    called   called   plan          off
power  turn    turning    turned   turned   paper         down
firm   buy     buying     bought   bought   firm
firm   take    taking     took     taken    firm          over
press  follow  following  followed followed star,power
press  write   writing    wrote    written  -             back
animal attack  attacking  attacked attacked law,star
animal escape  escaping   escaped  escaped  -
crook  escape  escaping   escaped  escaped  -
star   arrive  arriving   arrived  arrived  -
power  resign  resigning  resigned resigned -
"""


def _verbs() -> tuple[Verb, ...]:
    verbs = []
    for line in _VERBS.strip().splitlines():
        subject, base, gerund, past, participle, objects, *particle = line.split()
        sorts = () if objects == "-" else tuple(objects.split(","))
        verbs.append(Verb(subject, base, gerund, past, participle, sorts, "".join(particle)))
    return tuple(verbs)


VERBS = _verbs()

REFLEXIVE_VERBS = (
    "defend defending defended defended",
    "hurt hurting hurt hurt",
    "blame blaming blamed blamed",
)
"""Verbs with a reflexive pronoun: base, gerund, past, participle."""

POSSESSIONS = ("case", "money", "lawyer", "name")
"""Nouns after lost and a possessive."""

STATES = {
    "crook": ("on the run", "on the run", "in custody", "behind bars"),
    "animal": ("on the loose", "in danger"),
    "law": ("on duty", "in danger"),
    "star": ("in love", "in danger", "in debt"),
    "power": ("in office", "in trouble"),
    "firm": ("in debt", "in trouble"),
    "press": ("in court",),
}
"""Fixed phrases by the sort of noun they describe; a phrase listed twice is chosen twice as often."""

ADJECTIVES = {
    "law": ("armed", "young", "old"),
    "crook": ("armed", "young", "dangerous", "famous"),
    "star": ("young", "old", "rich", "famous"),
    "power": ("young", "old", "new"),
    "firm": ("rich", "new", "old"),
    "press": ("young", "famous"),
    "animal": ("young", "old", "dangerous"),
    "prize": ("old", "new", "famous"),
    "house": ("old", "new", "famous"),
    "paper": ("new", "secret"),
    "plan": ("new", "secret"),
}
"""Adjectives by the sort of noun."""

PRONOUNS = {"m": "he", "f": "she", "n": "it", "plural": "they"}
REFLEXIVES = {"m": "himself", "f": "herself", "n": "itself", "plural": "themselves"}
POSSESSIVES = {"m": "his", "f": "her", "n": "its", "plural": "their"}
"""Words that agree with an earlier noun: by its gender, or plural."""
