"""CSV (RFC 4180): columns separated by commas, semicolons or tabs, texts in quotation marks where they need them.

In: the lines of a file whose name ends in ``.csv``. Out: the same rows with tabs between their cells, as every reader
of columns takes them; a blank stands for a tab or line feed inside a cell. Knows nothing of what the columns are.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from regard.errors import DataError

DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
"""The marks that separate columns, those that are rarest in text first."""
_LOOKED_AT = 100
_SHARE = 0.9  # of the rows that must agree
_MAX_CELL = 1 << 20


def is_comma_separated(path: str | Path, compressed: Iterable[str]) -> bool:
    """Whether a file's name says that it has comma-separated columns: ``.csv``, and perhaps a compression."""
    name = Path(path)
    if name.suffix.lower() in compressed:
        name = name.with_suffix("")
    return name.suffix.lower() == ".csv"


def separate_by_tabs(lines: Iterator[str], path: str | Path) -> Iterator[str]:
    """Yield the rows of a CSV file as tab-separated lines; a file of one column without quotation marks stays as it is.

    Blanks after a delimiter are no part of a cell.

    Args:
        lines: of the file.
        path: for messages.

    Raises:
        DataError: rows have different numbers of columns, or a quotation mark is not closed.
    """
    first = list(islice(lines, _LOOKED_AT))
    delimiter = find_delimiter(first, min_rows=1)
    whole = chain(first, lines)
    if delimiter is None and _is_quoted_column(first):
        delimiter = ","
    if delimiter is None:
        if any(mark in line for line in first for mark in ",;"):
            raise DataError(
                f"{path}: neither commas, semicolons nor tabs separate the same number of columns on each line; put "
                'texts with such marks between "quotation marks", or, for plain text, name the file .txt'
            )
        yield from whole
        return
    if delimiter == "\t" and not any('"' in line for line in first):
        yield from whole
        return
    csv.field_size_limit(_MAX_CELL)
    rows = csv.reader(
        (f"{line}\n" for line in whole), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    begun = 1  # the line at which a row begins: a quotation mark that is not closed takes all lines after it
    try:
        for row in rows:
            begun = rows.line_num + 1
            yield "\t".join(" ".join(cell.split("\n")).replace("\t", " ").rstrip() for cell in row)
    except csv.Error as error:
        raise DataError(
            f"{path}:{begun}: not CSV ({error}); a quotation mark inside a text is written twice, and the text "
            "between two; or separate the columns by tabs and name the file .tsv"
        ) from error


def find_delimiter(lines: Sequence[str], *, min_rows: int) -> str | None:
    """The mark that separates the same number of columns on nine of ten rows; the one of most columns, then the rarest.

    Args:
        lines: the first ones; the last row may be cut off.
        min_rows: how many there must be.
    """
    best, most = None, 1
    for delimiter in DELIMITERS:
        try:
            counts = _widths(lines, delimiter)
        except csv.Error:
            continue
        ((columns, times),) = Counter(counts).most_common(1) or [(0, 0)]
        if columns > most and times >= max(min_rows, _SHARE * len(counts)):
            best, most = delimiter, columns
    return best


def _is_quoted_column(lines: Sequence[str]) -> bool:
    """Whether there is one column, with texts in quotation marks."""
    try:
        return any(line.startswith('"') for line in lines) and set(_widths(lines, ",", strict=True)) == {1}
    except csv.Error:
        return False


def _widths(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> list[int]:
    """The number of columns of each row that is not blank."""
    rows = (f"{line}\n" for line in lines)
    return [
        len(row) for row in csv.reader(rows, delimiter=delimiter, strict=strict, skipinitialspace=True) if row
    ]
