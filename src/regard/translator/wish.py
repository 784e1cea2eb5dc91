"""What a user asks of one line's translation, in text: how it begins, what it says, what it does not say.

In: text, or a file with a JSON object a line. Out: `Wish`es, and with a tokenizer the `Request`s that search knows.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.errors import ConfigError, DataError, nearest
from regard.search import Request
from regard.text import UNK, Tokenizer
from regard.text.formats import read_file, shown


@dataclass(frozen=True)
class Wish:
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

    def request(self, tokenizer: Tokenizer, place: str) -> Request:
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
        return Request(prefix=prefix, include=include, exclude=spellable)


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


def requests_of(wishes: Wish | Sequence[Wish], tokenizer: Tokenizer, places: Sequence[str]) -> list[Request]:
    """The requests of some lines.

    Args:
        wishes: one for all lines, or one for each.
        tokenizer: the target's.
        places: what each line is called in messages.

    Raises:
        DataError: there are not as many wishes as lines.
        ConfigError: a wish cannot be spelt.
    """
    each = [wishes] * len(places) if isinstance(wishes, Wish) else list(wishes)
    if len(each) < len(places):
        raise DataError(
            f"{places[len(each)]}: there is no wish for it; give one for each line, blank for none"
        )
    if len(each) > len(places):
        raise DataError(f"{len(each)} wishes for {len(places)} lines; give one for each line")
    spelt: dict[Wish, Request] = {}
    for wish, place in zip(each, places, strict=True):
        if wish not in spelt:
            spelt[wish] = wish.request(tokenizer, place)
    return [replace(spelt[wish], name=place) for wish, place in zip(each, places, strict=True)]


def read_wishes(path: str | Path) -> Iterator[Wish]:
    """Yield a wish for each line of a file: a JSON object with any of prefix, include and exclude; blank for nothing.

    Raises:
        DataError: the file cannot be read, or a line is no such object.
    """
    known = tuple(Wish.__dataclass_fields__)
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
        yield Wish(**asked)


_EXAMPLE = '{"prefix": "the", "include": ["red house"], "exclude": []}'
