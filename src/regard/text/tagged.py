"""Sentences with a tag for each word, from files, and as ids.

In: two files, two columns of one, or one word per line ("vertical", as CoNLL's). Out: `TaggedSentence`s, and
`EncodedTagged`s. Words are separated by blanks, and each word is one id: a tag belongs to a word, never to a piece.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.text.formats import (
    group_by_size,
    inspect_lines,
    look_ahead,
    read_columns,
    read_file,
    read_parallel,
    shown,
)
from regard.text.formats.columns import named
from regard.text.formats.layout import CONLLU_COLUMNS, Column, parse_column
from regard.text.labelled import Labels
from regard.text.pairs import Place
from regard.text.specials import UNK
from regard.text.tokenizer import Tokenizer

# in CoNLL-U: multiword tokens and empty nodes
_NOT_A_WORD = re.compile(r"\d+[-.]\d+")
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """Words and as many tags, with the place they were read at, if any."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class EncodedTagged:
    """One id for each word and one for its tag."""

    word_ids: list[int]
    tag_ids: list[int]

    @property
    def length(self) -> int:
        """The words, and EOS."""
        return len(self.word_ids) + 1


def read_tagged(
    words: str | Path, tags: str | Path | None = None, *, columns: tuple[Column, Column] | None = None
) -> Iterator[TaggedSentence]:
    """Yield the sentences of two parallel files, or of two columns of a tab-separated one; both blank-separated.

    A single file with one word per line and blank lines between sentences is recognised, see `read_vertical`.

    Args:
        words: a sentence on each line; without `tags`, a tab-separated file with both.
        tags: their tags, line by line as the words.
        columns: of words and tags in a tab-separated file, numbers from 1 or names of its header row; 1 and 2 if None.

    Raises:
        ConfigError: columns are named for parallel files, or are not allowed.
        DataError: a file cannot be read, or a line has no words, or not as many tags as words.
    """
    origin = shown(words)
    lines = None
    if tags is None:
        first, lines = look_ahead(read_file(words))
        if inspect_lines(first).is_vertical:
            yield from read_vertical(words, columns=columns, lines=lines)
            return
    for number, (line, its_tags) in _numbered(words, tags, columns, lines):
        sentence = TaggedSentence(tuple(line.split()), tuple(its_tags.split()), Place(origin, number))
        if len(sentence.words) != len(sentence.tags):
            raise DataError(
                f"{sentence.place}: {len(sentence.words)} words and {len(sentence.tags)} tags; each word has one "
                "tag, and spaces separate both"
            )
        if not sentence.words:
            raise DataError(f"{sentence.place}: a line without words; leave it out")
        yield sentence


def _numbered(
    words: str | Path,
    tags: str | Path | None,
    columns: tuple[Column, Column] | None,
    lines: Iterator[str] | None,
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Words and tags as in the file, with their line's number."""
    if tags is None:
        return read_columns(
            words,
            columns or (1, 2),
            lines=lines,
            exact=columns is None,
            remedy=lambda cells: (
                "name the tags' file second (--train words --train tags)"
                if len(cells) == 1
                else f"name the columns of words and tags, as {named((1, 2))}"
            ),
        )
    if columns is None:
        return enumerate(read_parallel(words, tags, belonging="words and their tags"), start=1)
    raise ConfigError(
        f"{named(columns)} belongs to one tab-separated file, and two files are named: {shown(words)} and "
        f"{shown(tags)}; leave out the columns or the second file"
    )


def read_vertical(
    path: str | Path,
    *,
    columns: tuple[Column, Column] | None = None,
    lines: Iterable[str] | None = None,
) -> Iterator[TaggedSentence]:
    """Yield the sentences of a file with one word per line and blank lines between sentences.

    A line's columns are separated by tabs, or by blanks where it has no tab. Lines that begin with ``# `` are
    comments, as is any line of one column that begins with ``#``. Where there are ten columns, as in CoNLL-U
    (word and universal part of speech: 2 and 4), the lines for ``3-4`` and ``5.1`` are not words and are skipped.

    Args:
        path: the file, as `read_file` takes it.
        columns: of word and tag, counted from 1; 1 and 2 if None, but CoNLL-U's ten have to be named.
        lines: of the file, if it is open already.

    Raises:
        ConfigError: a column number is below 1.
        DataError: the file cannot be read, a line has too few columns, or a word or a tag is blank or has a blank in
            it.
    """
    word_column, tag_column = map(parse_column, columns or (1, 2))
    if isinstance(word_column, str) or isinstance(tag_column, str):
        raise ConfigError(
            f"columns {word_column} and {tag_column}: a file with one word per line has no header row; give numbers, "
            f"as {named((2, 4))}"
        )
    wanted = (word_column, tag_column)
    if min(wanted) < 1:
        raise ConfigError(f"columns are counted from 1, so {wanted[0]} and {wanted[1]} are not allowed")
    origin = shown(path)
    words: list[str] = []
    tags: list[str] = []
    start = 1
    for number, line in enumerate(read_file(path) if lines is None else lines, start=1):
        if not line.strip():
            if words:
                yield TaggedSentence(tuple(words), tuple(tags), Place(origin, start))
            words, tags = [], []
            continue
        cells = line.split("\t") if "\t" in line else line.split()
        if line.startswith("# ") or (len(cells) == 1 and line.startswith("#")):
            continue
        if len(cells) == CONLLU_COLUMNS and _NOT_A_WORD.fullmatch(cells[0]):
            continue
        if len(cells) == CONLLU_COLUMNS and columns is None:
            raise DataError(
                f"{Place(origin, number)}: {len(cells)} columns, which looks like CoNLL-U: give {named((2, 4))}, of "
                "the word and its part of speech"
            )
        start = start if words else number
        word, tag = _word_and_tag(cells, wanted, Place(origin, number))
        words.append(word)
        tags.append(tag)
    if words:
        yield TaggedSentence(tuple(words), tuple(tags), Place(origin, start))


def _word_and_tag(cells: list[str], columns: tuple[int, int], place: Place) -> tuple[str, str]:
    if len(cells) < max(columns):
        raise DataError(
            f"{place}: {len(cells)} column{'s' if len(cells) > 1 else ''} where a word in column {columns[0]} and "
            f"its tag in column {columns[1]} are needed; name the right ones, as 2 and 4 in CoNLL-U"
        )
    word, tag = cells[columns[0] - 1], cells[columns[1] - 1]
    for name, text in (("word", word), ("tag", tag)):
        if len(text.split()) != 1:
            fault = f"{text!r} has a blank in it" if text.strip() else "is blank"
            raise DataError(f"{place}: the {name} {fault}; write it as one, or leave its sentence out")
    return word.strip(), tag.strip()


def encode_tagged(
    sentences: Iterable[TaggedSentence], tokenizer: Tokenizer, labels: Labels
) -> Iterator[EncodedTagged]:
    """Yield each sentence's ids, one for one, tokenising a few thousand at a time.

    Raises:
        DataError: a tag is not in `labels`.
    """
    for chunk in group_by_size(sentences, _CHUNK, lambda sentence: sum(map(len, sentence.words))):
        ids = iter(encode_words([word for sentence in chunk for word in sentence.words], tokenizer))
        for sentence in chunk:
            tag_ids = [labels.id_of(tag, sentence.place) for tag in sentence.tags]
            yield EncodedTagged(list(islice(ids, len(sentence.words))), tag_ids)


def encode_words(words: Iterable[str], tokenizer: Tokenizer) -> list[int]:
    """Return exactly one id for each word; a word that is not in the vocabulary is unknown.

    Args:
        words: without blanks in them.
        tokenizer: of the kind ``word``.

    Raises:
        ConfigError: the tokenizer is of another kind, which has no id for a word.
    """
    if tokenizer.kind != "word":
        raise ConfigError(
            f"a tokenizer of kind {tokenizer.kind!r} splits words into pieces, and a tag belongs to a word; use "
            "the kind 'word'"
        )
    return [ids[0] if len(ids) == 1 else UNK for ids in tokenizer.encode_batch(list(words))]
