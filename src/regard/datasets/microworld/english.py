"""English inflection by rule: plurals, third person, past, -ing, and a or an.

In: a dictionary form. Out: the inflected form. Irregular forms are in the tables of the lexicon; the verbs that double
their last letter are listed here.
"""

from functools import cache
from typing import NamedTuple

_VOWELS = "aeiou"
_DOUBLING = frozenset(("run", "swim", "put", "get", "stop", "cut", "forget", "travel"))
_THIRD = {"go": "goes", "have": "has"}
_AN = frozenset(("honest", "hour"))
_A = frozenset(("useful", "university", "one"))


class VerbForms(NamedTuple):
    """The forms of one English verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


@cache
def takes_an(word: str) -> bool:
    """Whether the indefinite article before this word is ``an``."""
    return word in _AN or (word[0].lower() in _VOWELS and word not in _A)


def noun_plural(noun: str) -> str:
    """The regular plural: boxes, stories, toys, dogs."""
    return _add_s(noun) if noun[-1] != "o" else noun + ("es" if noun in ("tomato", "hero") else "s")


def verb_forms(entry: str) -> VerbForms:
    """All forms of a verb given as ``base`` or ``base/past`` or ``base/past/participle``."""
    base, *rest = entry.split("/")
    past = rest[0] if rest else _past(base)
    participle = rest[1] if len(rest) > 1 else past
    third = _THIRD.get(base) or _add_s(base)
    return VerbForms(base, third, past, participle, _ing(base))


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    if base in _DOUBLING:
        return base + base[-1] + "ed"
    return base + "ed"


def _ing(base: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + "ing"
