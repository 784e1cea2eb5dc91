"""Sentence pairs: read from files, encoded as ids, and filtered for training.

In: paths, and two tokenizers. Out: `SentencePair`s and plain lines in the files' order, none left out, blank ones too;
`EncodedPair`s, one per pair, without special symbols (batches add them); the pairs fit to train on, with a
`FilterReport` of how many were removed, why, and where the first of each kind is. Lengths are counted in tokens.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.text.formats import read_file, read_parallel, read_tsv, shown
from regard.text.links import GoldLinks, Links
from regard.text.tokenizer import Tokenizer


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
        columns: of source and target in a tab-separated file, counted from 1; 1 and 2 if None.

    Raises:
        ConfigError: columns are named for parallel files, or are illegal.
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


_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A pair's ids, with the place it was read at and the gold links between its tokens, where they are known."""

    source_ids: list[int]
    target_ids: list[int]
    place: Place | None = None
    links: Links | None = None

    @property
    def length(self) -> int:
        """The tokens of the longer side, its end mark counted."""
        return max(len(self.source_ids), len(self.target_ids)) + 1


def encode_pairs(
    pairs: Iterable[SentencePair], source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Iterator[EncodedPair]:
    """Yield each pair's ids, tokenising a few thousand pairs at a time.

    Args:
        pairs: read when they are needed.
        source_tokenizer: for the source sides.
        target_tokenizer: for the target sides.
    """
    waiting = iter(pairs)
    while chunk := list(islice(waiting, _CHUNK)):
        sources = source_tokenizer.encode_batch([pair.source for pair in chunk])
        targets = target_tokenizer.encode_batch([pair.target for pair in chunk])
        for pair, source_ids, target_ids in zip(chunk, sources, targets, strict=True):
            links = None
            if pair.gold is not None:
                words = source_tokenizer.words(source_ids), target_tokenizer.words(target_ids)
                links = token_links(pair.gold.sure, *words)
            yield EncodedPair(source_ids, target_ids, pair.place, links)


def token_links(
    links: Links, source_words: Sequence[int | None], target_words: Sequence[int | None]
) -> Links:
    """Links between words → links between tokens: each token of a word is linked to each of the other's.

    Args:
        links: (source word, target word).
        source_words: the word each source token is part of, from `Tokenizer.words`.
        target_words: the word each target token is part of.
    """
    return frozenset(
        (j, i)
        for j, source_word in enumerate(source_words)
        for i, target_word in enumerate(target_words)
        if (source_word, target_word) in links
    )


@dataclass(frozen=True, slots=True)
class FilterReport:
    """How many pairs were kept, and how many were removed for each reason."""

    kept: int
    empty: int = 0
    too_long: int = 0
    odd_ratio: int = 0
    duplicates: int = 0
    first: Mapping[str, str] = field(default_factory=dict)
    """The place of the first pair removed, by the name of its count; without those of unknown place."""

    @property
    def removed(self) -> int:
        """The number of pairs removed."""
        return self.empty + self.too_long + self.odd_ratio + self.duplicates

    @property
    def total(self) -> int:
        """The number of pairs before filtering."""
        return self.kept + self.removed

    def sentences(self) -> list[str]:
        """What was kept, then a line per reason for which pairs were removed."""
        lines = [f"kept {self.kept} of {_pairs(self.total)}"]
        for name, reason in _REASONS.items():
            count = getattr(self, name)
            if count:
                first = f" (first at {self.first[name]})" if name in self.first else ""
                lines.append(f"removed {_pairs(count)} {reason}{first}")
        return lines

    def __str__(self) -> str:
        return "; ".join(self.sentences())


_REASONS = {
    "empty": "with an empty side",
    "too_long": "with a side above the length limit",
    "odd_ratio": "with sides of too unequal length",
    "duplicates": "that occurred before",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions a training pair must satisfy; a pair with an empty side never does.

    Attributes:
        max_length: the maximum number of tokens of a side.
        max_ratio: the maximum ratio of the longer side to the shorter; None for no limit.
        drop_duplicates: whether a pair that occurred before, source and target, is removed.
    """

    max_length: int = 100
    max_ratio: float | None = None
    drop_duplicates: bool = False

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise ConfigError(f"max_length is {self.max_length}; it must be 1 or more")
        if self.max_ratio is not None and not self.max_ratio >= 1:
            raise ConfigError(f"max_ratio is {self.max_ratio}; it must be 1 or more, or left out")

    def apply(self, pairs: Iterable[EncodedPair]) -> tuple[list[EncodedPair], FilterReport]:
        """Filter the pairs; each one that is removed counts once, under its first reason.

        Args:
            pairs: read once, in order.

        Returns:
            The pairs that are kept, in order, and the report.

        Raises:
            DataError: nothing is left.
        """
        kept: list[EncodedPair] = []
        counts = dict.fromkeys(_REASONS, 0)
        first: dict[str, str] = {}
        seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        for pair in pairs:
            reason = self._find_reason(pair)
            if reason is None and self.drop_duplicates:
                key = (tuple(pair.source_ids), tuple(pair.target_ids))
                reason = "duplicates" if key in seen else None
                seen.add(key)
            if reason is None:
                kept.append(pair)
                continue
            counts[reason] += 1
            if pair.place is not None:
                first.setdefault(reason, str(pair.place))
        report = FilterReport(len(kept), **counts, first=first)
        if not kept:
            raise DataError(self._nothing_left(report))
        return kept, report

    def _find_reason(self, pair: EncodedPair) -> str | None:
        """The first reason to remove a pair, as a name of `_REASONS`."""
        shorter, longer = sorted((len(pair.source_ids), len(pair.target_ids)))
        if shorter == 0:
            return "empty"
        if longer > self.max_length:
            return "too_long"
        if self.max_ratio is not None and longer > self.max_ratio * shorter:
            return "odd_ratio"
        return None

    def _nothing_left(self, report: FilterReport) -> str:
        if report.total == 0:
            return "an empty corpus: no pair was read; name a file with one sentence pair per line"
        remedies = [f"raise data.max_length (now {self.max_length})"] if report.too_long else []
        remedies += [f"raise data.max_ratio (now {self.max_ratio})"] if report.odd_ratio else []
        remedies += ["check that both sides hold text"] if report.empty else []
        return f"an empty corpus: {report}; {' or '.join(remedies)}"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"
