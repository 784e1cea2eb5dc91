"""Sentence pairs and lines from files, in order, none left out.

In: paths. Out: `SentencePair`s for training and scoring, plain lines for translating. Blank lines and blank
sides come through as they are: whether to train on them is for `filters`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import ConfigError
from regard.text.formats import read_file, read_parallel, read_tsv, shown
from regard.text.links import GoldLinks


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pair was read, written ``file:line``."""

    origin: str
    line: int

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}"


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence and its translation, with the place they were read at and their gold links, if any."""

    source: str
    target: str
    place: Place | None = None
    gold: GoldLinks | None = None


def read_pairs(
    source: str | Path, target: str | Path | None = None, *, columns: tuple[int, int] | None = None
) -> Iterator[SentencePair]:
    """Yield the pairs of two parallel files, or of one tab-separated file.

    Args:
        source: the source side; without a target, a tab-separated file with both.
        target: the target side, line by line as the source.
        columns: where source and target stand in a tab-separated file, counted from 1; 1 and 2 if None.

    Raises:
        ConfigError: columns are named for parallel files, or are no columns.
        DataError: a file cannot be read, or a line or the number of lines is wrong.
    """
    if target is None:
        texts = read_tsv(source, columns or (1, 2))
    elif columns is None:
        texts = read_parallel(source, target)
    else:
        raise ConfigError(
            f"--columns {columns[0]} {columns[1]} (data.columns = [{columns[0]}, {columns[1]}]) belongs to one "
            f"tab-separated file, and two files are named: {shown(source)} and {shown(target)}; leave out the "
            "columns or the second file"
        )
    origin = shown(source)
    for number, (source_text, target_text) in enumerate(texts, start=1):
        yield SentencePair(source_text, target_text, Place(origin, number))


def read_lines(paths: Iterable[str | Path]) -> Iterator[str]:
    """Yield every line of the files in turn, blank ones too.

    Args:
        paths: files as `read_file` takes them, ``-`` for standard input.

    Raises:
        DataError: a file cannot be read, or a line is not UTF-8.
    """
    for path in paths:
        yield from read_file(path)
