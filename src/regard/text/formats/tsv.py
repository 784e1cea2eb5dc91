"""Two columns of a tab-separated file as pairs of texts.

In: a path and the two columns' numbers. Out: (source, target), one for each line. There is no quoting: a
tab always parts two columns, and quotation marks are text.
"""

from collections.abc import Iterator
from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.text.formats.opened import read_file, shown

_SHOWN_CHARACTERS = 60


def read_tsv(path: str | Path, columns: tuple[int, int] = (1, 2)) -> Iterator[tuple[str, str]]:
    """Yield the pair on each line.

    Args:
        path: the file, as `read_file` takes it.
        columns: where source and target stand, counted from 1.

    Raises:
        ConfigError: a column number is below 1.
        DataError: the file cannot be read, or a line has too few columns.
    """
    source, target = columns
    if min(columns) < 1:
        raise ConfigError(
            f"columns are counted from 1, so {source} and {target} cannot be; write them as --columns 1 2 "
            "(data.columns = [1, 2])"
        )
    for number, line in enumerate(read_file(path), start=1):
        cells = line.split("\t")
        if len(cells) < max(columns):
            found = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            raise DataError(
                f"{shown(path)}:{number}: {found} where columns {source} and {target} are wanted, "
                f"parted by tabs: {_shortened(line)!r}; name those that hold the texts, as --columns 1 2 "
                "(data.columns = [1, 2])"
            )
        yield cells[source - 1], cells[target - 1]


def _shortened(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
