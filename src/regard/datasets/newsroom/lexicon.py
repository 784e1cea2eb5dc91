"""The newsroom's words: who does what to whom, and where.

Nouns are of sorts; a verb takes one sort for its subject and some for its object, so that a reader who knows the
subject knows half of what follows. Knows nothing of sentences.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """Something or someone in the news.

    Attributes:
        one: the singular; empty where there is none, as of the police.
        many: the plural; empty where there is none, as of the FBI.
        gender: ``m``, ``f``, ``n``, or empty for people who may be either.
    """

    one: str
    many: str
    gender: str


class Verb(NamedTuple):
    """Something that is done.

    Attributes:
        subject: the sort of noun that does it.
        base: as after will.
        doing: as after is.
        did: the simple past.
        done: as after has.
        objects: the sorts of noun it is done to; none for a verb without an object.
        particle: what follows the object, as off in called the strike off.
    """

    subject: str
    base: str
    doing: str
    did: str
    done: str
    objects: tuple[str, ...]
    particle: str


def _nouns(table: str) -> tuple[Noun, ...]:
    """Read ``one/many/gender``; a dash stands for a form there is not."""
    rows = [entry.split("/") for entry in table.split()]
    return tuple(Noun(one.strip("-"), many.strip("-"), gender) for one, many, gender in rows)


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
"""By sort. A noun that stands more than once is drawn so much oftener."""

DOERS = ("law", "crook", "star", "power", "firm", "press", "animal")
"""The sorts that can be a subject."""

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
    found = []
    for line in _VERBS.strip().splitlines():
        subject, base, doing, did, done, objects, *particle = line.split()
        sorts = () if objects == "-" else tuple(objects.split(","))
        found.append(Verb(subject, base, doing, did, done, sorts, "".join(particle)))
    return tuple(found)


VERBS = _verbs()

TO_ONESELF = ("defend defending defended defended", "hurt hurting hurt hurt", "blame blaming blamed blamed")
"""Verbs whose object is himself or another such word."""

OF_ONES_OWN = ("case", "money", "lawyer", "name")
"""What someone can lose."""

STATES = {
    "crook": ("on the run", "on the run", "in custody", "behind bars"),
    "animal": ("on the loose", "in danger"),
    "law": ("on duty", "in danger"),
    "star": ("in love", "in danger", "in debt"),
    "power": ("in office", "in trouble"),
    "firm": ("in debt", "in trouble"),
    "press": ("in court",),
}
"""Phrases that stand as they are, by the sort they are said of; the figure's stands twice."""

QUALITIES = {
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
"""Adjectives by the sort they are said of."""

PRONOUNS = {"m": "he", "f": "she", "n": "it", "many": "they"}
REFLEXIVES = {"m": "himself", "f": "herself", "n": "itself", "many": "themselves"}
POSSESSIVES = {"m": "his", "f": "her", "n": "its", "many": "their"}
"""Words that agree with an earlier noun, by its gender, or by its number where there are many."""
