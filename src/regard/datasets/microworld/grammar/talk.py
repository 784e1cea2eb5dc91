"""What is known while one sentence is being built: the dice, who is spoken to, and what has been mentioned.

A pronoun's French form hangs on what it stands for. ``it`` is used only while all single things mentioned
so far share one gender, and ``they`` likewise for plurals, so that the English line always decides the
French one.
"""

import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from regard.datasets.microworld.lexicon.entries import Adjective, Noun, Verb
from regard.datasets.microworld.lexicon.function_words import HE, IT, PLAIN, SHE, THEY, WE, Address, I, Person

T = TypeVar("T")

_MASCULINE, _FEMININE = 1, 2
_HELD_OUT = 16
"""One adjective–noun pair and one subject–verb pair in this many is kept out of the ordinary splits."""

_held: dict[tuple[str, str], bool] = {}


def is_held_out(first: str, second: str) -> bool:
    """Say whether two lexemes (adjective and noun, or subject and verb) are kept for the unseen split."""
    pair = (first, second)
    held = _held.get(pair)
    if held is None:
        held = _held[pair] = zlib.crc32(f"{first} {second}".encode()) % _HELD_OUT == 0
    return held


class Talk:
    """The state of one sentence in the making."""

    __slots__ = ("_noun", "_plural", "_plurals", "_singles", "_used", "address", "held_out", "random")

    def __init__(self, random: Callable[[], float], address: Address = PLAIN) -> None:
        self.random = random
        self.address = address
        self.held_out = False
        self._noun: Noun | None = None
        self._plural = False
        self._singles = 0
        self._plurals = 0
        self._used: list[object] = []

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of several."""
        return choices[int(self.random() * len(choices))]

    def other(self, choices: Sequence[T]) -> T:
        """Draw one of several, rather not one drawn before."""
        return self.fresh(choices) or self.pick(choices)

    def fresh(self, choices: Sequence[T]) -> T | None:
        """Draw one of several; None where it happens to be one drawn before."""
        drawn = self.pick(choices)
        if any(drawn is used for used in self._used):
            return None
        self._used.append(drawn)
        return drawn

    def upto(self, most: int) -> int:
        """Draw a number from 0 to `most`, both included."""
        return int(self.random() * (most + 1))

    def mention(self, noun: Noun, feminine: bool, plural: bool) -> None:
        """Note a noun phrase that a later pronoun could stand for."""
        gender = _FEMININE if feminine else _MASCULINE
        if plural:
            self._plurals |= gender
        elif noun.kind != "person":
            self._singles |= gender
        if noun.kind != "person":
            self._noun, self._plural = noun, plural

    def thing(self) -> tuple[Person, Noun] | None:
        """Return it or they for the thing or animal last mentioned, where the gender is beyond doubt."""
        if self._noun is None:
            return None
        seen = self._plurals if self._plural else self._singles
        if seen == _MASCULINE | _FEMININE:
            return None
        return (THEY if self._plural else IT)[seen == _FEMININE], self._noun

    def _they(self) -> Person | None:
        """Return they for people where the gender is beyond doubt; people not mentioned are masculine."""
        if self._plurals == _MASCULINE | _FEMININE or (self._noun is not None and self._plural):
            return None
        return THEY[self._plurals == _FEMININE]

    def person(self) -> Person:
        """Draw a pronoun for people."""
        draw = self.random()
        if draw < 0.23:
            return HE
        if draw < 0.46:
            return SHE
        if draw < 0.64:
            return I
        if draw < 0.76 or (draw < 0.9 and self.address is not PLAIN):
            return self.address.you
        if draw < 0.87:
            return WE
        return self._they() or WE

    def caption(self, adjective: Adjective, noun: Noun) -> None:
        """Note that an adjective describes a noun."""
        if is_held_out(adjective.en, noun.en[0]):
            self.held_out = True

    def act(self, noun: Noun | None, verb: Verb) -> None:
        """Note that a noun is the subject of a verb."""
        if noun is not None and not verb.auxiliary and is_held_out(noun.en[0], verb.en.base):
            self.held_out = True
