"""Small words: negations, adverbs, prepositions, times, places with names, connectives, professions.

Every entry has English and French side by side. Where several words render several, the links are given as
French word → English word, counted from 0, None where a French word has no sure source.
"""

from typing import NamedTuple

Tagged = tuple[tuple[str, str], ...]


class Negation(NamedTuple):
    """English words before the verb, French words after it, sure links; the first also calls for ``ne``."""

    en: Tagged
    fr: tuple[str, ...]
    links: tuple[int, ...]


NOT = Negation((("not", "PART"),), ("pas",), (0,))
NEVER = Negation((("never", "ADV"),), ("jamais",), (0,))
NO_LONGER = Negation((("no", "ADV"), ("longer", "ADV")), ("plus",), (1,))
NOT_YET = Negation((("not", "PART"), ("yet", "ADV")), ("pas", "encore"), (0, 1))


class Fixed(NamedTuple):
    """An expression that does not change: words of both sides, sure links (−1: possibly the last)."""

    en: Tagged
    fr: tuple[str, ...]
    links: tuple[int, ...]


def _fixed(english: str, french: str, links: str) -> Fixed:
    words = tuple((word, tag) for word, tag in (piece.split("/") for piece in english.split()))
    return Fixed(words, tuple(french.split()), tuple(int(link) for link in links.split()))


def _read(table: str) -> tuple[Fixed, ...]:
    return tuple(_fixed(*(cell.strip() for cell in line.split("|"))) for line in table.strip().splitlines())


MIDDLE = _read("""
often/ADV     | souvent  | 0
always/ADV    | toujours | 0
sometimes/ADV | parfois  | 0
also/ADV      | aussi    | 0
really/ADV    | vraiment | 0
""")
"""Adverbs before the English verb and after the French one."""

MIDDLE_NEGATED = MIDDLE[:2] + MIDDLE[4:]
"""Those that go with not."""

ALREADY = _fixed("already/ADV", "déjà", "0")

MANNER = _read("""
slowly/ADV    | lentement     | 0
quickly/ADV   | rapidement    | 0
carefully/ADV | prudemment    | 0
gently/ADV    | doucement     | 0
patiently/ADV | patiemment    | 0
calmly/ADV    | calmement     | 0
well/ADV      | bien          | 0
badly/ADV     | mal           | 0
""")

TIMES = {
    "present": _read("""
today/NOUN                | aujourd'hui        | 0
every/DET day/NOUN        | chaque jour        | 0 1
every/DET morning/NOUN    | chaque matin       | 0 1
every/DET evening/NOUN    | chaque soir        | 0 1
in/ADP winter/NOUN        | en hiver           | 0 1
in/ADP summer/NOUN        | en été             | 0 1
"""),
    "now": _read("""
now/ADV                   | maintenant         | 0
today/NOUN                | aujourd'hui        | 0
"""),
    "past": _read("""
yesterday/NOUN            | hier               | 0
yesterday/NOUN evening/NOUN | hier soir        | 0 1
this/DET morning/NOUN     | ce matin           | 0 1
last/ADJ week/NOUN        | la semaine dernière | -1 1 0
last/ADJ year/NOUN        | la année dernière  | -1 1 0
last/ADJ summer/NOUN      | le été dernier     | -1 1 0
on/ADP Monday/PROPN       | lundi              | 1
on/ADP Saturday/PROPN     | samedi             | 1
two/NUM days/NOUN ago/ADV | il y a deux jours  | 2 2 2 0 1
"""),
    "future": _read("""
tomorrow/NOUN             | demain             | 0
tonight/NOUN              | ce soir            | 0 0
next/ADJ week/NOUN        | la semaine prochaine | -1 1 0
next/ADJ year/NOUN        | la année prochaine | -1 1 0
on/ADP Sunday/PROPN       | dimanche           | 1
on/ADP Friday/PROPN       | vendredi           | 1
in/ADP three/NUM days/NOUN | dans trois jours  | 0 1 2
"""),
}
"""Time expressions by the tense they go with."""

TOWNS = ("Paris Paris", "Lyon Lyon", "London Londres", "Rome Rome", "Brussels Bruxelles")
COUNTRIES = ("France France f", "Italy Italie f", "Spain Espagne f", "Japan Japon m", "Canada Canada m")
"""English, French; a masculine country takes au and du, a feminine one en and de."""

PREPOSITIONS = {
    "in": (("in",), ("dans",)),
    "on": (("on",), ("sur",)),
    "under": (("under",), ("sous",)),
    "behind": (("behind",), ("derrière",)),
    "in_front_of": (("in", "front", "of"), ("devant",)),
    "near": (("near",), ("près", "de")),
    "at": (("at",), ("à",)),
    "to": (("to",), ("à",)),
    "with": (("with",), ("avec",)),
    "for": (("for",), ("pour",)),
    "of": (("of",), ("de",)),
    "from": (("from",), ("de",)),
}
"""English and French words of each; where English has several, the second to last carries the meaning."""

PROFESSIONS = (
    ("teacher", "teachers", "professeur", "professeur"),
    ("doctor", "doctors", "médecin", "médecin"),
    ("student", "students", "étudiant", "étudiante"),
    ("baker", "bakers", "boulanger", "boulangère"),
    ("musician", "musicians", "musicien", "musicienne"),
    ("lawyer", "lawyers", "avocat", "avocate"),
    ("farmer", "farmers", "fermier", "fermière"),
    ("nurse", "nurses", "infirmier", "infirmière"),
    ("singer", "singers", "chanteur", "chanteuse"),
    ("dancer", "dancers", "danseur", "danseuse"),
)
"""English singular and plural, French masculine and feminine; after be they take no French article."""

GAMES = (
    ("football", "le", "football"),
    ("tennis", "le", "tennis"),
    ("chess", "les", "échecs"),
    ("cards", "les", "cartes"),
)
"""English, French article, French noun: jouer au football, jouer aux échecs."""
