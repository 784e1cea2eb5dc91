"""What a user asks of one line's translation, in text: how it begins, what it says, what it does not say.

In: text, or a file with a JSON object per line. Out: `Constraints` and, with a tokenizer, `TokenConstraints`.

What a what-if asks for, in words, made into what a search understands.

In: steps, words and positions as people give them. Out: the line with its words swapped, and `TokenConstraints`. A word
that occurs more than once, or spans several tokens, has to be named by its position; the message says where it is.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regard.errors import ConfigError, DataError, nearest
from regard.evaluation.alignment.words import name_words
from regard.search import TokenConstraints
from regard.text import UNK, Tokenizer
from regard.text.formats import read_file, shown
from regard.text.specials import EOS


@dataclass(frozen=True)
class Constraints:
    """What is asked of one translation.

    Attributes:
        prefix: how it begins.
        include: phrases that must appear, as the tokenizer spells them: the last piece may go on as a longer word.
        exclude: phrases that may not appear; as the tokenizer spells them, so that of a vocabulary of pieces the same
            letters may still come about in another way.
    """

    prefix: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("include", "exclude"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f"{name}: give a list of phrases, not one text: [{getattr(self, name)!r}]")
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def encode(self, tokenizer: Tokenizer, place: str) -> TokenConstraints:
        """The same in ids.

        A phrase to be left out that the vocabulary cannot spell is left out of itself.

        Args:
            tokenizer: the target's.
            place: what the line is called in messages.

        Raises:
            ConfigError: words are asked for that the vocabulary cannot spell, or that are left out as well.
        """
        prefix = _spelt(self.prefix, tokenizer, "prefix", place) if self.prefix.strip() else ()
        include = tuple(_spelt(phrase, tokenizer, "include", place) for phrase in self.include)
        exclude = tuple(tuple(tokenizer.encode(phrase)) for phrase in self.exclude if phrase.strip())
        spellable = tuple(phrase for phrase in exclude if UNK not in phrase)
        for wanted, ids in zip((self.prefix, *self.include), (prefix, *include), strict=True):
            for unwanted in spellable:
                if any(ids[k : k + len(unwanted)] == unwanted for k in range(len(ids))):
                    raise ConfigError(
                        f"{place}: {tokenizer.decode(unwanted)!r} is to be left out, and {wanted!r} holds it; drop one "
                        "of the two"
                    )
        return TokenConstraints(prefix=prefix, include=include, exclude=spellable)


def _spelt(text: str, tokenizer: Tokenizer, name: str, place: str) -> tuple[int, ...]:
    ids = tuple(tokenizer.encode(text))
    if not text.strip() or not ids:
        raise ConfigError(f"{place}: {name} {text!r}: a phrase without words; leave it out")
    if UNK in ids:
        words = text.split()
        places = tokenizer.words(ids)
        bad = next(place for i, place in zip(ids, places, strict=True) if i == UNK)
        told = repr(words[bad]) if bad is not None and bad < len(words) else "a part of it"
        raise ConfigError(
            f"{place}: {name} {text!r}: the target vocabulary cannot spell {told}; use words that the training data "
            "have, or replace unknown words afterwards (--replace-unknowns)"
        )
    return ids


def encode_constraints(
    constraints: Constraints | Sequence[Constraints], tokenizer: Tokenizer, places: Sequence[str]
) -> list[TokenConstraints]:
    """The constraints of some lines.

    Args:
        constraints: one for all lines, or one for each.
        tokenizer: the target's.
        places: what each line is called in messages.

    Raises:
        DataError: there are not as many constraints as lines.
        ConfigError: a constraints cannot be spelt.
    """
    each = [constraints] * len(places) if isinstance(constraints, Constraints) else list(constraints)
    if len(each) < len(places):
        raise DataError(
            f"{places[len(each)]}: there is no constraints for it; give one for each line, blank for none"
        )
    if len(each) > len(places):
        raise DataError(f"{len(each)} constraints for {len(places)} lines; give one for each line")
    spelt: dict[Constraints, TokenConstraints] = {}
    for own, place in zip(each, places, strict=True):
        if own not in spelt:
            spelt[own] = own.encode(tokenizer, place)
    return [replace(spelt[own], name=place) for own, place in zip(each, places, strict=True)]


def read_constraints(path: str | Path) -> Iterator[Constraints]:
    """Yield a constraints for each line of a file: a JSON object with any of prefix, include and exclude; blank for nothing.

    Raises:
        DataError: the file cannot be read, or a line is no such object.
    """
    known = tuple(Constraints.__dataclass_fields__)
    for number, line in enumerate(read_file(path), start=1):
        place = f"{shown(path)}:{number}"
        try:
            asked = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise DataError(f"{place}: not JSON ({error}); write an object such as {_EXAMPLE}") from None
        if not isinstance(asked, dict):
            raise DataError(f"{place}: {line[:60]!r} is no object; write one such as {_EXAMPLE}")
        for name, value in asked.items():
            if name not in known:
                raise DataError(f"{place}: no {name!r}; {nearest(name, known)}")
            texts = [value] if name == "prefix" else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                wanted = "a text" if name == "prefix" else "a list of texts"
                raise DataError(f"{place}: {name} must be {wanted}, not {value!r}; as in {_EXAMPLE}")
        yield Constraints(**asked)


_EXAMPLE = '{"prefix": "the", "include": ["red house"], "exclude": []}'


@dataclass(frozen=True)
class Intervention:
    """What is to be different, as it was put.

    Attributes:
        attend: target step, counted from 0 → the source token to look at: a word, or the position of a token.
        swap: a word of the line, or its place among the words, counted from 0 → what stands there instead.
        constraints: how the translation begins, what it says, and what it does not.

    Raises:
        ConfigError: nothing is asked for, or a step is negative.
    """

    attend: Mapping[int, str | int] = field(default_factory=dict)
    swap: Mapping[str | int, str] = field(default_factory=dict)
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        if not (self.attend or self.swap) and self.constraints == Constraints():
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

    def encode(
        self,
        line: str,
        source_ids: Sequence[int],
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
    ) -> TokenConstraints:
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
        return replace(self.constraints.encode(target_tokenizer, "what if"), attend=attend)


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
