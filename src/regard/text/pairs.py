"""Sentence pairs: read from files, encoded as ids, and filtered for training.

In: paths, and two tokenizers. A tab-separated file has a source and its target, and perhaps features of the source
(lemma, features, form): their columns are given, by number or by name, or recognised by a header row or by their form.
Out: `SentencePair`s and plain lines in the files' order, none left out, blank ones too; `EncodedPair`s, one per pair,
without special symbols (batches add them); the pairs fit to train on, with a `FilterReport` of how many were removed,
why, and where the first of each kind is. Lengths are counted in tokens.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard.config import toml_value
from regard.errors import ConfigError, DataError, nearest
from regard.text.formats import (
    group_by_size,
    inspect_lines,
    is_json_lines,
    look_ahead,
    name_members,
    read_columns,
    read_file,
    read_json_lines,
    read_parallel,
    shown,
)
from regard.text.formats.columns import named
from regard.text.formats.comma_separated import is_comma_separated
from regard.text.formats.files import COMPRESSED
from regard.text.formats.layout import (
    Column,
    Layout,
    number_columns,
    parse_column,
    read_plain,
    split_features,
    vertical_error,
)
from regard.text.links import GoldLinks, Links
from regard.text.sources import FeaturedText, Source, check_features, list_features, refuse_blank
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
    """A sentence and its translation, with the place they were read at and their gold links, if any.

    `features` are the source's morphological features; None for a source without.
    """

    source: str
    target: str
    place: Place | None = None
    gold: GoldLinks | None = None
    features: tuple[str, ...] | None = None

    @property
    def input(self) -> Source:
        """What the model reads: the source, with its features where it has some."""
        return self.source if self.features is None else FeaturedText(self.source, self.features)


def read_pairs(
    source: str | Path,
    target: str | Path | None = None,
    *,
    columns: tuple[Column, Column] | None = None,
    features: Column | None = None,
    known: Collection[str] | None = None,
    listener: Callable[[str], None] = lambda note: None,
) -> Iterator[SentencePair]:
    """Yield the pairs of two parallel files, or of one tab-separated file.

    Args:
        source: the source side; without a target, a tab-separated file with both, or JSON lines.
        target: the target side, line by line as the source.
        columns: of source and target in a tab-separated file, numbers from 1 or names of its header row; see
            `find_pair_columns` if None.
        features: the column of the source's features in a tab-separated file, in the same way.
        known: the features of the model that is to read the pairs, none for a model of plain text; None to train one.
        listener: is called with what was recognised, a sentence for the user.

    Raises:
        ConfigError: columns are named for parallel files, or are not allowed.
        DataError: a file cannot be read or has other columns, or a line or the number of lines is wrong.
    """
    origin = shown(source)
    if target is None and is_json_lines(source):
        yield from _read_json_pairs(source, columns, features)
        return
    if target is None:
        first, lines = look_ahead(read_file(source))
        found = find_pair_columns(source, first, columns, features, known)
        if found.note:
            listener(found.note)
        with_features = len(found.read) == 3
        rows = read_columns(
            source,
            found.read,
            header=found.header,
            blank=with_features,  # UniMorph has blank lines between its lemmas
            exact=columns is None and not (found.header and found.note),
            remedy=_remedy,
            lines=lines,
        )
        for number, (source_text, target_text, *rest) in rows:
            if with_features and not any((source_text, target_text, *rest)):
                continue
            names = split_features(rest[0]) if rest else None
            yield SentencePair(source_text, target_text, Place(origin, number), features=names)
        return
    flags = [] if columns is None else [named(columns)]
    if features is not None:
        flags.append(f"--features {features} (data.features = {toml_value(parse_column(features))})")
    if flags:
        raise ConfigError(
            f"{' and '.join(flags)} belongs to one tab-separated file, and two files are named: {origin} and "
            f"{shown(target)}; leave out the columns or the second file"
        )
    if known:
        raise DataError(f"{origin} and {shown(target)}: two files of plain text{_needs_features(known)}")
    for number, (source_text, target_text) in enumerate(read_parallel(source, target), start=1):
        yield SentencePair(source_text, target_text, Place(origin, number))


def _read_json_pairs(
    path: str | Path, columns: Sequence[Column] | None, features_name: Column | None
) -> Iterator[SentencePair]:
    """The pairs of JSON lines, with features as a list of names or as one text."""
    source, target = name_members(path, columns, ("source", "target"))
    for number, value in read_json_lines(path, (source, target)):
        named_so = "features" if features_name is None else str(features_name)
        if features_name is not None and named_so not in value:
            raise DataError(
                f"{shown(path)}:{number}: no features named {named_so!r}; {nearest(named_so, value)}"
            )
        features = value.get(named_so)
        names = (
            None if features is None else split_features(features) if isinstance(features, str) else features
        )
        if names is not None and not all(isinstance(name, str) for name in names):
            raise DataError(f'{shown(path)}:{number}: "features" are not names; write them as ["V", "PST"]')
        place = Place(shown(path), number)
        yield SentencePair(
            value[source], value[target], place, features=None if names is None else tuple(names)
        )


@dataclass(frozen=True)
class PairColumns:
    """Where the pairs of a tab-separated file are.

    Attributes:
        read: the columns of source, target and perhaps features, counted from 1.
        header: whether the first line names the columns.
        note: what was recognised, for the user; empty where it was said.
    """

    read: tuple[int, ...]
    header: bool = False
    note: str = ""


def find_pair_columns(
    path: str | Path,
    first: Sequence[str],
    columns: tuple[Column, Column] | None = None,
    features: Column | None = None,
    known: Collection[str] | None = None,
) -> PairColumns:
    """Find the columns of source, target and features in a tab-separated file.

    What is given is used. Otherwise a header row that names all three decides (lemma, features, form). Otherwise two
    columns are source and target; and of three, one may be recognised as features, the others being source and target
    in this order: lemma, features, form in SIGMORPHON 2016's files, lemma, form, features in UniMorph's.

    Args:
        path: for messages.
        first: the file's first lines.
        columns: of source and target, where they were given: numbers from 1, or names of the header row.
        features: the column of the features, where it was given, in the same way.
        known: the features of the model that is to read the pairs; none for plain text; None to train one.

    Raises:
        ConfigError: columns are below 1 or the same, or features are given for a model of plain text.
        DataError: the file has other columns than the pairs need, or one of them is blank, or its first line does not
            have a name.
    """
    if features is not None and known is not None and not known:
        raise ConfigError(f"--features {features}: this model was trained without features; leave it out")
    given = [*(columns or ()), *([] if features is None else [features])]
    chosen, by_name = number_columns(path, given, first)
    if chosen and (min(chosen) < 1 or len(set(chosen)) < len(chosen)):
        wrong = " and ".join(map(str, given))
        raise ConfigError(
            f"columns are counted from 1 and differ, so {wrong} are not allowed; write them as {_EXAMPLE}"
        )
    layout = inspect_lines(first, header=by_name)
    found = _choose_columns(
        path,
        layout,
        (chosen[0], chosen[1]) if columns else None,
        None if features is None else chosen[-1],
        known,
    )
    if layout.is_vertical and columns is None and len(found.read) == 2:
        raise vertical_error(path)
    refuse_blank(path, layout, found.read[:2])
    if len(found.read) > 2:
        check_features(path, layout, found.read[2], known or ())
    return found


_EXAMPLE = "--columns 1 2 (data.columns = [1, 2])"
_FEATURES_EXAMPLE = "--features 2 (data.features = 2)"


def _choose_columns(
    path: str | Path,
    layout: Layout,
    columns: tuple[int, int] | None,
    features: int | None,
    known: Collection[str] | None,
) -> PairColumns:
    header, origin = layout.header, shown(path)
    plain = known is not None and not known
    found = features
    if found is None and not plain and (columns is None or known):
        found = _find_features(layout, columns or (), known or ())
    if found is None:
        if known:
            raise DataError(f"{origin}: no column of features recognised{_needs_features(known)}")
        if columns is not None or not layout.has_header:
            return PairColumns(columns or (1, 2), layout.has_header)
        chosen = (header["source"], header["target"]) if {"source", "target"} <= header.keys() else (1, 2)
        return PairColumns(
            chosen,
            True,
            f"{origin}: the first line names the columns, and is left out; source in column {chosen[0]}, target in "
            f"column {chosen[1]}",
        )
    others = [c for c in range(1, layout.num_columns + 1) if c != found]
    in_header = [header[role] for role in ("source", "target") if header.get(role, found) != found]
    if columns is None and len(in_header) < 2 and len(others) != 2:
        raise DataError(
            f"{origin}: {layout.num_columns} columns; beside features in column {found}, name those of source and "
            f"target: {named((1, 3))}"
        )
    source, target = columns or (in_header if len(in_header) == 2 else others)
    note = ""
    if features is None or (layout.has_header and columns is None):
        why = " (below a header row)" if layout.has_header else _ORDERS.get((source, target, found), "")
        note = (
            f"{origin}: source in column {source}, target in column {target}, features in column {found}{why}"
        )
    return PairColumns((source, target, found), layout.has_header, note)


def _find_features(layout: Layout, columns: Sequence[int], known: Collection[str]) -> int | None:
    """The column of the features: the one that the header names, or the only one that looks like features."""
    if "features" in layout.header:
        return layout.header["features"]
    if layout.num_columns != 3 and not known:
        return None
    candidates = [c for c in layout.feature_columns(known) if c not in columns]
    return candidates[0] if len(candidates) == 1 else None


_ORDERS = {
    (1, 3, 2): " (lemma, features, form, as in SIGMORPHON 2016)",
    (1, 2, 3): " (lemma, form, features, as in UniMorph)",
}


def _needs_features(known: Collection[str]) -> str:
    return (
        f", and this model was trained with features ({list_features(known)}); name one tab-separated file and the "
        "column of the features, as --features 2"
    )


def _remedy(cells: Sequence[str]) -> str:
    """The remedy for a line of a file of pairs with too few or too many columns."""
    if len(cells) == 1:
        return (
            "give both sides, in a second file or after a tab; text alone is for a language model (regard train --task "
            "language_model)"
        )
    if len(cells) == 2:
        return f"name the columns of the texts, as {_EXAMPLE}"
    return f"name the two to read, as {_EXAMPLE}; a column of features (lemma, features, form) is {_FEATURES_EXAMPLE}"


def read_lines(paths: Iterable[str | Path]) -> Iterator[str]:
    """Yield every line of some files of plain text in turn, blank ones too.

    Args:
        paths: files as `read_file` takes them, ``-`` for standard input.

    Raises:
        DataError: a file cannot be read or has columns, or a line is not UTF-8.
    """
    for path in paths:
        if is_json_lines(path):
            yield from (value["text"] for _, value in read_json_lines(path, ("text",)))
            continue
        cut = "" if is_comma_separated(path, COMPRESSED) else f": cut -f 1 {path}"
        yield from read_plain(path, f"give one text per line, such as one column{cut}")


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
        """The tokens of the longer side, its EOS counted."""
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
    for chunk in group_by_size(pairs, _CHUNK, lambda pair: len(pair.source) + len(pair.target)):
        sources = source_tokenizer.encode_batch([pair.input for pair in chunk])
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
            reason = self.find_reason(pair)
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

    def find_reason(self, pair: EncodedPair) -> str | None:
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
