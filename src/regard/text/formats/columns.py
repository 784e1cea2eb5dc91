"""Files of columns, and parallel files, as tuples of texts.

In: paths, and columns, by number or by their names in a header row. Out: the cells of each line, or the n-th lines of
two files together, read side by side, neither held whole. There is no quoting: a separator always separates columns,
and quotation marks are text; only a file named .csv has both its own way (`comma_separated`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from regard.config import one_of, toml_value
from regard.errors import ConfigError, DataError
from regard.text.formats.files import STDIN, read_file, shown
from regard.text.formats.layout import (
    Column,
    inspect_lines,
    look_ahead,
    number_columns,
    parse_column,
    vertical_error,
)

SEPARATORS = ("tab", "space")
"""tab: columns separated by tabs. space: two columns, separated by the line's first run of blanks."""

_SHOWN_CHARACTERS = 60


def read_columns(
    path: str | Path,
    columns: Sequence[Column],
    *,
    separator: str = "tab",
    header: bool = False,
    blank: bool = False,
    exact: bool = False,
    remedy: Callable[[Sequence[str]], str] | None = None,
    lines: Iterable[str] | None = None,
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the chosen cells of each line; blank lines at the end of the file are skipped, unless `blank` is set.

    Args:
        path: the file, as `read_file` takes it.
        columns: the columns to read, in the order of the result: numbers from 1, or names of the header row.
        separator: one of `SEPARATORS`.
        header: whether the first line has the columns' names, and is skipped; it is where a column is named.
        blank: whether a blank line has blank cells; otherwise it is an error.
        exact: whether further columns are an error.
        remedy: the cells of a line with too few or too many → the end of the message; by default, to name the columns.
        lines: the file's lines, where some were looked at before; None reads the file.

    Yields:
        The line's number, counted from 1, and its cells.

    Raises:
        ConfigError: a column number is below 1, or there is no such separator.
        DataError: the file cannot be read, the header row lacks a column that is named, or a line is blank or has too
            few columns or too many.
    """
    one_of("separator", separator, SEPARATORS)
    first, lines = look_ahead(iter(read_file(path) if lines is None else lines))
    numbers, by_name = number_columns(path, columns, first)
    if min(numbers) < 1:
        raise ConfigError(
            f"columns are counted from 1, so {listed(numbers)} are not allowed; write them as {_example(numbers)}"
        )
    empty = 0  # the first blank line since one with text
    for number, line in enumerate(lines, start=1):
        if (header or by_name) and number == 1:
            continue
        if blank and not line.strip():
            yield number, ("",) * len(numbers)
            continue
        if not line.strip() and "\t" not in line:
            empty = empty or number
            continue
        if empty:
            raise DataError(f"{shown(path)}:{empty}: a blank line; remove it")
        cells = line.split("\t") if separator == "tab" else line.split(maxsplit=1)
        fault = _too_few(cells, numbers, separator, line) or (_too_many(cells, numbers) if exact else "")
        if fault:
            advice = remedy(cells) if remedy else f"name the columns of the texts, as {_example(numbers)}"
            raise DataError(f"{shown(path)}:{number}: {fault}; {advice}")
        yield number, tuple(cells[column - 1] for column in numbers)


def listed(columns: Sequence[int]) -> str:
    """Columns in a sentence: ``1``, ``1 and 2``, ``1, 2 and 3``."""
    *most, last = map(str, columns)
    return f"{', '.join(most)} and {last}" if most else last


def named(columns: Sequence[Column]) -> str:
    """How columns are written on the command line and in a configuration."""
    assigned = f"data.columns = {toml_value([parse_column(column) for column in columns])}"
    if len(columns) == 3:
        first, second, third = columns
        return f"--columns {first} {second} --second-column {third} (to train, {assigned})"
    return f"--columns {' '.join(map(str, columns))} ({assigned})"


def _example(columns: Sequence[int]) -> str:
    return named(range(1, len(columns) + 1))


def _too_few(cells: Sequence[str], columns: Sequence[int], separator: str, line: str) -> str:
    if len(cells) >= max(columns):
        return ""
    count = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    separators = "tabs" if separator == "tab" else "a space"
    shortened = line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
    return f"{count} where {_counted(columns)} needed, separated by {separators}: {shortened!r}"


def _too_many(cells: Sequence[str], columns: Sequence[int]) -> str:
    if len(cells) <= max(columns):
        return ""
    return f"{len(cells)} columns, and only {_counted(columns)} read"


def _counted(columns: Sequence[int]) -> str:
    return f"column{'s' if len(columns) > 1 else ''} {listed(columns)} {'are' if len(columns) > 1 else 'is'}"


def read_parallel(
    source: str | Path, target: str | Path, *, belonging: str = "a source and its translation"
) -> Iterator[tuple[str, str]]:
    """Yield the n-th line of one file with the n-th of the other.

    Args:
        source: the source side, as `read_file` takes it.
        target: the target side.
        belonging: what two lines are to each other, for messages.

    Raises:
        ConfigError: both sides are standard input.
        DataError: a file cannot be read or has columns, or one has more lines than the other.
    """
    if str(source) == str(target) == STDIN:
        raise ConfigError("source and target cannot both be standard input (-); name a file for one of them")
    common = 0
    rest = {source: 0, target: 0}
    for source_line, target_line in zip_longest(_read_side(source), _read_side(target)):
        if source_line is not None and target_line is not None:
            common += 1
            yield source_line, target_line
        else:
            rest[source if target_line is None else target] += 1
    if any(rest.values()):
        raise DataError(
            f"{shown(source)} has {common + rest[source]} lines and {shown(target)} has "
            f"{common + rest[target]}; {belonging} are on lines with the same number"
        )


def _read_side(path: str | Path) -> Iterator[str]:
    """The lines of one of two parallel files."""
    first, lines = look_ahead(read_file(path))
    layout = inspect_lines(first)
    if layout.is_vertical:
        raise vertical_error(path)
    if layout.is_table:
        raise DataError(
            f"{shown(path)}: {layout.described(path)}, and two files are named, which have one "
            f"text per line; name this file alone, with its columns: {named((1, 2))}"
        )
    yield from lines
