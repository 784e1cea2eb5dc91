"""What a translator reads: a text, or a text with morphological features (a lemma and the form that is wanted).

In: lines of files, or what a user of the library passes. Out: `Source`s, a plain text or a `FeaturedText`, whose
features are symbols of their own beside the text's tokens; for files to translate, in groups, each with its line.
Knows nothing of vocabularies but the names of a model's features.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import ConfigError, DataError
from regard.text.formats import read_groups, shown
from regard.text.formats.layout import (
    LOOKED_AT,
    Column,
    Layout,
    inspect_lines,
    number_columns,
    refuse_columns,
    refuse_json_lines,
    split_features,
)

_SHOWN_FEATURES = 5
_TRANSLATED_COLUMN = "name the column to translate: --column 1; with --add the others are kept"
_MIN_CELLS = 20  # before their symbols are counted
_MAX_DIFFERENT = 0.8  # symbols per line, above which a column has text rather than features,
_MAX_NEW = 1 / 3  # if this share of all its symbols is different, too: a few lines have many features each


@dataclass(frozen=True, slots=True)
class FeaturedText:
    """A text and its features, such as ``laufen`` and ``V``, ``PST``, ``3``, ``SG``."""

    text: str
    features: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([self.text, *self.features])


Source = str | FeaturedText
"""A text, or a text with features."""


def parse_source(given: Any) -> Source:
    """A text as it is, and a pair (text, features) as a `FeaturedText`; features are ``"V;PST"`` or ``["V", "PST"]``.

    Raises:
        DataError: it is neither.
    """
    if isinstance(given, str | FeaturedText):
        return given
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        text, features = given
        names = split_features(features) if isinstance(features, str) else tuple(features)
        return FeaturedText(text, names)
    raise DataError(
        f'a source is a text, or a text with its features, as ("run", "V;PST"), and not {given!r}'
    )


def source_text(source: Source) -> str:
    """The text of a source, without features."""
    return source if isinstance(source, str) else source.text


def list_features(names: Collection[str]) -> str:
    """The first of a model's features, for messages."""
    listed = list(names)
    more = ", …" if len(listed) > _SHOWN_FEATURES else ""
    return ", ".join(listed[:_SHOWN_FEATURES]) + more


def refuse_blank(path: str | Path, layout: Layout, columns: Sequence[int]) -> None:
    """Raise where a column that is to be read is blank in all of the first lines."""
    for number in columns:
        if layout.is_blank(number):
            raise DataError(
                f"{shown(path)}: column {number} is blank in the first {len(layout.rows)} lines; name another column"
            )


def check_features(path: str | Path, layout: Layout, column: int, known: Collection[str] = ()) -> None:
    """Raise where a column that was named as features holds something else.

    Args:
        path: for messages.
        layout: of the first lines.
        column: of the features, counted from 1.
        known: the features of a model; none to train.

    Raises:
        DataError: the column is blank; none of its symbols is known; or, to train, nearly all of them are different.
    """
    refuse_blank(path, layout, [column])
    cells = layout.column(column)
    symbols = [name for cell in cells for name in split_features(cell)]
    if known and symbols and not any(name in known for name in symbols):
        raise DataError(
            f"{shown(path)}: column {column} has none of the model's features ({list_features(known)}) but "
            f"{list_features(dict.fromkeys(symbols))}; name their column with --features"
        )
    different = len(set(symbols))
    if (
        not known
        and len(cells) >= _MIN_CELLS
        and different > max(_MAX_DIFFERENT * len(cells), _MAX_NEW * len(symbols))
    ):
        raise DataError(
            f"{shown(path)}: column {column} has {different} different symbols in {len(cells)} lines, so it has text "
            "rather than features; name the column of the features with --features (data.features)"
        )


@dataclass(frozen=True)
class SourceColumns:
    """Where the sources of a file are.

    Attributes:
        text: the column of the text, counted from 1; 0 for the whole line.
        features: the column of the features; 0 for none.
        header: whether the first line names the columns.
        note: what was recognised, for the user; empty where it was said.
    """

    text: int = 0
    features: int = 0
    header: bool = False
    note: str = ""

    @property
    def last(self) -> int:
        """The last column that is read."""
        return max(self.text, self.features)

    def source(self, line: str) -> Source:
        """The source on a line, which has all columns; a blank line has a blank text."""
        if self.text == 0 or not line.strip():
            return line
        cells = line.split("\t")
        text = cells[self.text - 1]
        return FeaturedText(text, split_features(cells[self.features - 1])) if self.features else text


def find_source_columns(
    path: str | Path,
    first: Sequence[str],
    *,
    column: Column | None = None,
    features: Column | None = None,
    known: Collection[str] = (),
) -> SourceColumns:
    """Find the columns of a file to translate.

    Args:
        path: for messages.
        first: its first lines.
        column: of the text, where it was given: a number from 1, or a name of the header row.
        features: of the features, where it was given, in the same way.
        known: the features of the model; none for a model of plain text.

    Raises:
        ConfigError: a column is below 1, both are the same, or features are given for a model of plain text.
        DataError: the file has columns and none was given; or no features, and the model needs them; or its first line
            does not have a name.
    """
    refuse_json_lines(path, column if isinstance(column, str) and not column.isdecimal() else "source")
    given = {
        flag: each for flag, each in (("--column", column), ("--features", features)) if each is not None
    }
    numbers, by_name = number_columns(path, list(given.values()), first)
    for (flag, each), number in zip(given.items(), numbers, strict=True):
        if number < 1:
            raise ConfigError(f"{flag} {each}: columns are counted from 1")
    if len(set(numbers)) < len(numbers):
        raise ConfigError(f"--column {column} and --features {features}: one column cannot have both")
    chosen = dict(zip(given, numbers, strict=True))
    layout = inspect_lines(first, header=by_name)
    if not known:
        if features is not None:
            raise ConfigError(f"--features {features}: this model was trained without features; leave it out")
        if column is None:
            refuse_columns(path, first, _TRANSLATED_COLUMN)
            return SourceColumns()
        refuse_blank(path, layout, numbers)
        header = layout.has_header and layout.is_table
        note = "" if by_name or not header else f"{shown(path)}: the first line names the columns"
        return SourceColumns(numbers[0], header=header or by_name, note=note)
    found = (
        chosen.get("--features")
        or layout.header.get("features")
        or _recognise(path, layout, chosen.get("--column"), known)
    )
    text = chosen.get("--column") or layout.header.get("source") or (2 if found == 1 else 1)
    refuse_blank(path, layout, [text])
    check_features(path, layout, found, known)
    said = features is not None or not layout.rows
    note = "" if said else f"{shown(path)}: text in column {text}, features in column {found}"
    return SourceColumns(text, found, layout.has_header, note)


def _recognise(path: str | Path, layout: Layout, column: int | None, known: Collection[str]) -> int:
    """The column of a model's features; 2 where there is no line to look at."""
    if not layout.rows:
        return 2
    columns = [number for number in layout.feature_columns(known) if number != column]
    if layout.num_columns > 1 and columns:
        return columns[0]
    fault = "no features" if layout.num_columns > 1 else "plain text, without features"
    raise DataError(
        f"{shown(path)}: {fault}, and this model was trained with features ({list_features(known)}); give them in a "
        "column of their own, as --column 1 --features 2"
    )


def read_source_groups(
    path: str | Path,
    most: int,
    *,
    column: Column | None = None,
    features: Column | None = None,
    known: Collection[str] = (),
    listener: Callable[[str], None] = lambda note: None,
) -> Iterator[list[tuple[str, Source]]]:
    """Yield the lines of a file to translate with their sources, in groups; see `read_groups`.

    Args:
        path: the file, as `read_file` takes it.
        most: the maximum number of lines in a group.
        column: see `find_source_columns`, as for the next two.
        features: the same.
        known: the same.
        listener: is called with what was recognised.

    Yields:
        (line, source) of each line; a header has a blank source, so that N lines in are N out.

    Raises:
        ConfigError: see `find_source_columns`.
        DataError: the file cannot be read, its columns cannot be used, or a line has too few of them.
    """
    columns: SourceColumns | None = None
    number = 1
    seen: list[str] = []  # what has arrived, until there is enough of it
    for group in read_groups(path, most):
        header = 0
        if len(seen) < LOOKED_AT:
            seen += group
            if columns is not None and columns.text == 0:
                refuse_columns(path, seen, _TRANSLATED_COLUMN)
        if columns is None:
            columns = find_source_columns(path, group, column=column, features=features, known=known)
            header = int(columns.header)
            if columns.note:
                listener(columns.note)
        short = next((k for k, line in enumerate(group) if _is_short(line, columns)), None)
        sources: list[tuple[str, Source]] = [(line, "") for line in group[:header]]
        yield sources + [(line, columns.source(line)) for line in group[header:short]]
        if short is not None:
            count = group[short].count("\t") + 1
            raise DataError(
                f"{shown(path)}:{number + short}: {count} column{'s' if count > 1 else ''} where column "
                f"{columns.last} is read, separated by tabs: {group[short][:60]!r}; name the right column with "
                f"{'--column and --features' if columns.features else '--column'}"
            )
        number += len(group)


def _is_short(line: str, columns: SourceColumns) -> bool:
    return bool(line.strip()) and line.count("\t") + 1 < columns.last
