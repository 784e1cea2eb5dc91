"""Two files whose lines belong together one by one.

In: two paths. Out: (source, target), one for each line. The files are read side by side, neither held whole.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from regard.errors import ConfigError, DataError
from regard.text.formats.opened import STDIN, read_file, shown


def read_parallel(
    source: str | Path, target: str | Path, *, belonging: str = "a source and its translation"
) -> Iterator[tuple[str, str]]:
    """Yield the n-th line of one file with the n-th of the other.

    Args:
        source: the source side, as `read_file` takes it.
        target: the target side.
        belonging: what the lines are to each other, for errors.

    Raises:
        ConfigError: both sides are standard input.
        DataError: a file cannot be read, or one has more lines than the other.
    """
    if str(source) == str(target) == STDIN:
        raise ConfigError("source and target cannot both be standard input (-); name a file for one of them")
    common = 0
    rest = {source: 0, target: 0}
    for source_line, target_line in zip_longest(read_file(source), read_file(target)):
        if source_line is not None and target_line is not None:
            common += 1
            yield source_line, target_line
        else:
            rest[source if target_line is None else target] += 1
    if any(rest.values()):
        raise DataError(
            f"{shown(source)} has {common + rest[source]} lines and {shown(target)} has "
            f"{common + rest[target]}; {belonging} stand on lines of the same number"
        )
