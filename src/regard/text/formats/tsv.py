"""Two columns of a tab-separated file as pairs of texts.

In: a path and the two columns' numbers. Out: (source, target), one for each line. How lines are cut is `columns`.
"""

from collections.abc import Iterator
from pathlib import Path

from regard.text.formats.columns import read_columns


def read_tsv(path: str | Path, columns: tuple[int, int] = (1, 2)) -> Iterator[tuple[str, str]]:
    """Yield the pair on each line.

    Args:
        path: the file, as `read_file` takes it.
        columns: where source and target stand, counted from 1.

    Raises:
        ConfigError: a column number is below 1.
        DataError: the file cannot be read, or a line has too few columns.
    """
    for _, (source, target) in read_columns(path, columns):
        yield source, target
