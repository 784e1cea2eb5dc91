"""Constraints on a translation, and interventions in it, as text; encoded into what search understands.

`Constraints`: forced prefix, required and excluded phrases; from text, or from a file with a JSON object per line.
`Intervention`: these, and swapped source words and forced attention, for a what-if. Out: `TokenConstraints`, and the
line with its words swapped. A word that occurs more than once, or spans several tokens, has to be named by its
position; the message says where it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regard.errors import ConfigError, DataError, nearest
from regard.evaluation.alignment.words import name_words
from regard.io import parse_json
from regard.search.constraints import TokenConstraints, contains
from regard.text import UNK, Tokenizer
from regard.text.formats import read_file, shown
from regard.text.specials import EOS


@dataclass(frozen=True)
class Constraints:
    """Constraints on one translation.

    Attributes:
        prefix: its forced first words.
        include: phrases that must appear, as the tokenizer spells them: the last piece may continue as a longer word.
        exclude: phrases that may not appear, as the tokenizer spells them; from a vocabulary of pieces the same
            letters can still be spelled in another way.
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

        An excluded phrase that the vocabulary cannot spell cannot appear, and is dropped.

        Args:
            tokenizer: the target's.
            place: what the line is called in messages.

        Raises:
            ConfigError: the vocabulary cannot spell a required word, or a required phrase is excluded as well.
        """
        prefix = _spell(self.prefix, tokenizer, "prefix", place) if self.prefix.strip() else ()
        include = tuple(_spell(phrase, tokenizer, "include", place) for phrase in self.include)
        exclude = tuple(tuple(tokenizer.encode(phrase)) for phrase in self.exclude if phrase.strip())
        spellable = tuple(phrase for phrase in exclude if UNK not in phrase)
        for required, ids in zip((self.prefix, *self.include), (prefix, *include), strict=True):
            for excluded in spellable:
                if contains(ids, excluded):
                    raise ConfigError(
                        f"{place}: {tokenizer.decode(excluded)!r} is excluded, and {required!r} contains it; drop one "
                        "of the two"
                    )
        return TokenConstraints(prefix=prefix, include=include, exclude=spellable)


def _spell(text: str, tokenizer: Tokenizer, name: str, place: str) -> tuple[int, ...]:
    ids = tuple(tokenizer.encode(text))
    if not text.strip() or not ids:
        raise ConfigError(f"{place}: {name} {text!r}: a phrase without words; leave it out")
    if UNK in ids:
        words = text.split()
        places = tokenizer.words(ids)
        unknown = next(place for i, place in zip(ids, places, strict=True) if i == UNK)
        shown_word = repr(words[unknown]) if unknown is not None and unknown < len(words) else "a part of it"
        raise ConfigError(
            f"{place}: {name} {text!r}: the target vocabulary cannot spell {shown_word}; use words of the training "
            "data, or replace unknown words afterwards (--replace-unknowns)"
        )
    return ids


def encode_constraints(
    constraints: Constraints | Sequence[Constraints], tokenizer: Tokenizer, places: Sequence[str]
) -> list[TokenConstraints]:
    """Encode the constraints of some lines.

    Args:
        constraints: the same for all lines, or one object for each.
        tokenizer: the target's.
        places: what each line is called in messages.

    Raises:
        DataError: the number of constraints is not the number of lines.
        ConfigError: the vocabulary cannot spell a required word.
    """
    each = [constraints] * len(places) if isinstance(constraints, Constraints) else list(constraints)
    if len(each) < len(places):
        raise DataError(
            f"{places[len(each)]}: it has no constraints; give one object for each line, blank for none"
        )
    if len(each) > len(places):
        raise DataError(f"{len(each)} constraints for {len(places)} lines; give one for each line")
    encoded: dict[Constraints, TokenConstraints] = {}
    for of_line, place in zip(each, places, strict=True):
        if of_line not in encoded:
            encoded[of_line] = of_line.encode(tokenizer, place)
    return [replace(encoded[of_line], name=place) for of_line, place in zip(each, places, strict=True)]


def read_constraints(path: str | Path) -> Iterator[Constraints]:
    """Yield the constraints on each line of a file: a JSON object with any of prefix, include and exclude, or blank.

    Raises:
        DataError: the file cannot be read, or a line is no such object.
    """
    known = tuple(Constraints.__dataclass_fields__)
    for number, line in enumerate(read_file(path), start=1):
        place = f"{shown(path)}:{number}"
        try:
            fields = parse_json(line) if line.strip() else {}
        except ValueError as error:
            raise DataError(f"{place}: not JSON ({error}); write an object such as {_EXAMPLE}") from None
        if not isinstance(fields, dict):
            raise DataError(f"{place}: {line[:60]!r} is no object; write one such as {_EXAMPLE}")
        for name, value in fields.items():
            if name not in known:
                raise DataError(f"{place}: no {name!r}; {nearest(name, known)}")
            texts = [value] if name == "prefix" else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                kind = "a text" if name == "prefix" else "a list of texts"
                raise DataError(f"{place}: {name} must be {kind}, not {value!r}; as in {_EXAMPLE}")
        yield Constraints(**fields)


_EXAMPLE = '{"prefix": "the", "include": ["red house"], "exclude": []}'


@dataclass(frozen=True)
class Intervention:
    """What differs in the second translation of a what-if.

    Attributes:
        attend: target step, counted from 0 → the source token that gets all attention: a word, or a token's position.
        swap: a word of the line, or its position among the words, counted from 0 → the word that replaces it.
        constraints: forced prefix, required and excluded phrases.

    Raises:
        ConfigError: there is no intervention, or a step is negative.
    """

    attend: Mapping[int, str | int] = field(default_factory=dict)
    swap: Mapping[str | int, str] = field(default_factory=dict)
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        if not (self.attend or self.swap) and self.constraints == Constraints():
            raise ConfigError("what if: no intervention; give attend, swap, prefix, include or exclude")
        for step in self.attend:
            if step < 0:
                raise ConfigError(f"attend: step {step}; steps of the translation are counted from 0")

    def swaps_by_position(self, line: str) -> dict[int, str]:
        """The replaced words, by their positions among the words of the line.

        Raises:
            ConfigError: a word is not in the line, or more than once, or is swapped twice.
        """
        words = line.split()
        swaps: dict[int, str] = {}
        for word, new_word in self.swap.items():
            position = _position(word, words, "swap", "words")
            if position in swaps:
                raise ConfigError(f"swap: word {position}, {words[position]!r}, is swapped twice; keep one")
            swaps[position] = new_word
        return swaps

    def encode(
        self,
        line: str,
        source_ids: Sequence[int],
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
    ) -> TokenConstraints:
        """The constraints on the search.

        Args:
            line: with its words swapped.
            source_ids: of that line, without EOS.
            source_tokenizer: that encoded it.
            target_tokenizer: that encodes the prefix and the phrases.

        Raises:
            ConfigError: a word or position is not in the source, or a word is in it more than once; or the target's
                vocabulary cannot spell a required word.
        """
        whole = [*source_ids, EOS]
        tokens, words = source_tokenizer.tokens(whole), source_tokenizer.words(whole)
        labels = name_words(line, tokens, words)
        attend = {}
        for step, target in self.attend.items():
            name = f"attend, step {step}"
            if target in labels:
                attend[step] = _only_token(str(target), labels, words, tokens, name)
            else:
                attend[step] = _position(target, tokens, name, "tokens")
        return replace(self.constraints.encode(target_tokenizer, "what if"), attend=attend)


def swap_words(line: str, swaps: Mapping[int, str]) -> str:
    """A line with some of its words replaced; the white space between them is kept.

    Args:
        line: as given.
        swaps: position among the words → the word that replaces it.

    Raises:
        ConfigError: nothing is left.
    """
    positions = iter(range(len(line)))
    new = re.sub(r"\S+", lambda match: swaps.get(next(positions), match.group()), line)
    if not new.strip():
        raise ConfigError(f"swap: nothing is left of {line!r}; leave it a word")
    return new


def _position(word: str | int, known: Sequence[str], name: str, units: str) -> int:
    """The one position of a word; a position is returned as it is."""
    if isinstance(word, int):
        if not 0 <= word < len(known):
            listed = " ".join(f"{position}:{each}" for position, each in enumerate(known))
            raise ConfigError(f"{name}: no position {word}; the {units} are {listed}")
        return word
    positions = [position for position, each in enumerate(known) if each == word]
    if not positions:
        raise ConfigError(f"{name}: {word!r} is not in the source; {nearest(word, set(known))}")
    if len(positions) > 1:
        raise _ambiguous(name, word, positions)
    return positions[0]


def _only_token(
    label: str, labels: Sequence[str], words: Sequence[int | None], tokens: Sequence[str], name: str
) -> int:
    """The position of the only token of the only word with this label."""
    numbers = {number for number, each in enumerate(labels) if each == label}
    positions = [position for position, word in enumerate(words) if word in numbers]
    if len(positions) == 1:
        return positions[0]
    if len(positions) == len(numbers):
        raise _ambiguous(name, label, positions)
    pieces = ", ".join(f"{tokens[position]!r} at {position}" for position in positions)
    raise ConfigError(
        f"{name}: {label!r} has several tokens ({pieces}); give the position of one instead of the word"
    )


def _ambiguous(name: str, word: str, positions: Sequence[int]) -> ConfigError:
    listed = f"{', '.join(map(str, positions[:-1]))} and {positions[-1]}"
    return ConfigError(f"{name}: {word!r} is at positions {listed}; give the position instead of the word")
