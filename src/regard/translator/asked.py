"""What a what-if asks for, in words, made into what a search understands.

In: steps, words and places as people give them. Out: the line with its words swapped, and a `Request`. A word that
stands in a line more than once, or in several tokens, has to be named by its place; the message says where it stands.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regard.errors import ConfigError, nearest
from regard.output.alignment.merge import name_words
from regard.search import Request
from regard.text import Tokenizer
from regard.text.specials import EOS
from regard.translator.wish import Wish


@dataclass(frozen=True)
class Asked:
    """What is to be different, as it was put.

    Attributes:
        attend: target step, counted from 0 → the source token to look at: a word, or the position of a token.
        swap: a word of the line, or its place among the words, counted from 0 → what stands there instead.
        wish: how the translation begins, what it says, and what it does not.

    Raises:
        ConfigError: nothing is asked for, or a step is negative.
    """

    attend: Mapping[int, str | int] = field(default_factory=dict)
    swap: Mapping[str | int, str] = field(default_factory=dict)
    wish: Wish = field(default_factory=Wish)

    def __post_init__(self) -> None:
        if not (self.attend or self.swap) and self.wish == Wish():
            raise ConfigError("what if: nothing is asked for; give attend, swap, prefix, include or exclude")
        for step in self.attend:
            if step < 0:
                raise ConfigError(f"attend: step {step}; steps of the translation are counted from 0")

    def places(self, line: str) -> dict[int, str]:
        """Which of the line's words are swapped, by their places.

        Raises:
            ConfigError: a word does not stand in the line, or more than once, or is swapped twice.
        """
        words = line.split()
        places: dict[int, str] = {}
        for asked, instead in self.swap.items():
            place = _place(asked, words, "swap", "words")
            if place in places:
                raise ConfigError(f"swap: word {place}, {words[place]!r}, is swapped twice; keep one")
            places[place] = instead
        return places

    def request(
        self,
        line: str,
        source_ids: Sequence[int],
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
    ) -> Request:
        """What is asked of the search.

        Args:
            line: with its words swapped.
            source_ids: of that line, without the end mark.
            source_tokenizer: that made them.
            target_tokenizer: that spells what is wished for.

        Raises:
            ConfigError: a word or position that is not in the source, or in it more than once; wished-for words that
                the target's vocabulary cannot spell.
        """
        whole = [*source_ids, EOS]
        tokens, words = source_tokenizer.tokens(whole), source_tokenizer.words(whole)
        labels = name_words(line, tokens, words)
        attend = {}
        for step, asked in self.attend.items():
            name = f"attend, step {step}"
            if asked in labels:
                attend[step] = _only_token(str(asked), labels, words, tokens, name)
            else:
                attend[step] = _place(asked, tokens, name, "tokens")
        return replace(self.wish.request(target_tokenizer, "what if"), attend=attend)


def swapped(line: str, places: Mapping[int, str]) -> str:
    """A line with some of its words swapped, its blanks left as they are.

    Args:
        line: as given.
        places: word number → what stands there instead.

    Raises:
        ConfigError: nothing is left.
    """
    numbers = iter(range(len(line)))
    new = re.sub(r"\S+", lambda found: places.get(next(numbers), found.group()), line)
    if not new.strip():
        raise ConfigError(f"swap: nothing is left of {line!r}; leave it a word")
    return new


def _place(asked: str | int, known: Sequence[str], name: str, units: str) -> int:
    """The one place at which a word stands, or the place itself."""
    if isinstance(asked, int):
        if not 0 <= asked < len(known):
            listed = " ".join(f"{place}:{word}" for place, word in enumerate(known))
            raise ConfigError(f"{name}: no position {asked}; the {units} are {listed}")
        return asked
    places = [place for place, word in enumerate(known) if word == asked]
    if not places:
        raise ConfigError(f"{name}: {asked!r} is not in the source; {nearest(asked, set(known))}")
    if len(places) > 1:
        raise _ambiguous(name, asked, places)
    return places[0]


def _only_token(
    asked: str, labels: Sequence[str], words: Sequence[int | None], tokens: Sequence[str], name: str
) -> int:
    """The one token of the one word called so."""
    numbers = {number for number, label in enumerate(labels) if label == asked}
    places = [place for place, word in enumerate(words) if word in numbers]
    if len(places) == 1:
        return places[0]
    if len(places) == len(numbers):
        raise _ambiguous(name, asked, places)
    pieces = ", ".join(f"{tokens[place]!r} at {place}" for place in places)
    raise ConfigError(
        f"{name}: {asked!r} has several tokens ({pieces}); give the position of one instead of the word"
    )


def _ambiguous(name: str, asked: str, places: Sequence[int]) -> ConfigError:
    listed = f"{', '.join(map(str, places[:-1]))} and {places[-1]}"
    return ConfigError(
        f"{name}: {asked!r} stands at positions {listed}; give the position instead of the word"
    )
