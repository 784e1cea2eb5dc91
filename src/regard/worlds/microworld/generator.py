"""One sentence pair of a wanted length, with its gold alignment, its tags, and whether it is held out.

In: a `random.Random` and a range of English lengths. Out: a `Sentence`. Building aims at a length drawn
from the range; the few that miss the range are built anew, within a fixed number of tries.
"""

import random
from typing import NamedTuple

from regard.errors import ConfigError
from regard.worlds.microworld.grammar.sentences import build, choose_address
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.surface import spell
from regard.worlds.microworld.tokens import Mot, Word
from regard.worlds.world import Example

_TRIES = 2000


class Sentence(NamedTuple):
    """A built sentence, not yet spelt.

    Attributes:
        words: its English words.
        mots: its French words.
        held_out: True where it joins two lexemes that the ordinary splits never join.
    """

    words: list[Word]
    mots: list[Mot]
    held_out: bool

    def spell(self) -> Example:
        """Write both lines and the links."""
        return spell(self.words, self.mots)


def generate(rng: random.Random, shortest: int, longest: int) -> Sentence:
    """Build one sentence whose English side has from `shortest` to `longest` words.

    Raises:
        ConfigError: the range is empty or starts below three words.
    """
    if not 3 <= shortest <= longest:
        raise ConfigError(
            f"microworld: sentence lengths {shortest} to {longest} cannot be had; "
            "choose shortest ≥ 3 and longest ≥ shortest"
        )
    draw = rng.random
    for _ in range(_TRIES):
        length = shortest + int(draw() * (longest - shortest + 1))
        talk = Talk(draw)
        choose_address(talk, length)
        phrase = build(talk, length)
        if shortest <= len(phrase.en) <= longest:
            return Sentence(phrase.en, phrase.fr, talk.held_out)
    raise ConfigError(
        f"microworld: no sentence of {shortest} to {longest} words in {_TRIES} tries; "
        "widen the range of lengths"
    )
