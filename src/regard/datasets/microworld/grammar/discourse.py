"""The discourse: the state of one sentence while it is built.

It has the random generator, who is addressed, which nouns were mentioned, and whether a held-out pair of lexemes
occurs. The French form of a pronoun depends on its antecedent: ``it`` is used only while all singular things
mentioned so far have one gender, and ``they`` the same for plurals, so that the English line always decides the
French one.
"""

import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from regard.datasets.microworld.lexicon.entries import AdjectiveEntry, NounEntry, VerbEntry
from regard.datasets.microworld.lexicon.function_words import (
    HE,
    IT,
    NO_VOCATIVE,
    SHE,
    THEY,
    WE,
    I,
    Person,
    Vocative,
)

T = TypeVar("T")

_MASCULINE, _FEMININE = 1, 2
_HELD_OUT = 16
"""One adjective–noun pair and one subject–verb pair in this many is held out of the ordinary splits."""

_held: dict[tuple[str, str], bool] = {}


def is_held_out(first: str, second: str) -> bool:
    """Whether two lexemes (adjective and noun, or subject and verb) occur together in the unseen split alone."""
    pair = (first, second)
    held = _held.get(pair)
    if held is None:
        held = _held[pair] = zlib.crc32(f"{first} {second}".encode()) % _HELD_OUT == 0
    return held


class Discourse:
    """The state of one sentence while it is built."""

    __slots__ = ("_noun", "_plural", "_plurals", "_singles", "_used", "held_out", "random", "vocative")

    def __init__(self, random: Callable[[], float], vocative: Vocative = NO_VOCATIVE) -> None:
        self.random = random
        self.vocative = vocative
        self.held_out = False
        self._noun: NounEntry | None = None
        self._plural = False
        self._singles = 0
        self._plurals = 0
        self._used: list[object] = []

    def pick(self, choices: Sequence[T]) -> T:
        """Choose one of several."""
        return choices[int(self.random() * len(choices))]

    def pick_new(self, choices: Sequence[T]) -> T:
        """Choose one of several, preferably one not chosen before."""
        return self.try_new(choices) or self.pick(choices)

    def try_new(self, choices: Sequence[T]) -> T | None:
        """Choose one of several; None if it was chosen before."""
        chosen = self.pick(choices)
        if any(chosen is used for used in self._used):
            return None
        self._used.append(chosen)
        return chosen

    def up_to(self, most: int) -> int:
        """A random number from 0 to `most`, both included."""
        return int(self.random() * (most + 1))

    def mention(self, noun: NounEntry, feminine: bool, plural: bool) -> None:
        """Note a noun phrase as a possible antecedent."""
        gender = _FEMININE if feminine else _MASCULINE
        if plural:
            self._plurals |= gender
        elif noun.kind != "person":
            self._singles |= gender
        if noun.kind != "person":
            self._noun, self._plural = noun, plural

    def thing_pronoun(self) -> tuple[Person, NounEntry] | None:
        """It or they for the thing or animal last mentioned, where the gender is unambiguous."""
        if self._noun is None:
            return None
        seen = self._plurals if self._plural else self._singles
        if seen == _MASCULINE | _FEMININE:
            return None
        return (THEY if self._plural else IT)[seen == _FEMININE], self._noun

    def _they(self) -> Person | None:
        """They for people where the gender is unambiguous; people not mentioned are masculine."""
        if self._plurals == _MASCULINE | _FEMININE or (self._noun is not None and self._plural):
            return None
        return THEY[self._plurals == _FEMININE]

    def pick_person(self) -> Person:
        """Choose a pronoun for people."""
        choice = self.random()
        if choice < 0.23:
            return HE
        if choice < 0.46:
            return SHE
        if choice < 0.64:
            return I
        if choice < 0.76 or (choice < 0.9 and self.vocative is not NO_VOCATIVE):
            return self.vocative.you
        if choice < 0.87:
            return WE
        return self._they() or WE

    def note_modifier(self, adjective: AdjectiveEntry, noun: NounEntry) -> None:
        """Note that an adjective modifies a noun."""
        if is_held_out(adjective.en, noun.en[0]):
            self.held_out = True

    def note_subject(self, noun: NounEntry | None, verb: VerbEntry) -> None:
        """Note that a noun is the subject of a verb."""
        if noun is not None and not verb.auxiliary and is_held_out(noun.en[0], verb.en.base):
            self.held_out = True
