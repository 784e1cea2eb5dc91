"""Conjugation of French verbs in the six persons of four simple tenses, with infinitive and past participle.

In: an infinitive. Out: a `Conjugation`. Regular verbs in -er, -ir (finir) and -re follow rules, spelling
changes included; the others come from `irregular`. Compound tenses are put together by the grammar.
"""

from functools import cache
from typing import NamedTuple

from regard.worlds.microworld.french.irregular import IRREGULAR

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
