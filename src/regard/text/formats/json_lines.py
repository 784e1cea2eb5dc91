"""JSON lines: one object per line, plain or compressed.

In: a path whose name says so, and the names of texts. Out: the texts of each line. Knows nothing of pairs.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.errors import ConfigError, DataError
from regard.io import parse_json
from regard.text.formats.files import COMPRESSED, read_file, shown

_SHOWN = 60  # characters of a line
_SUFFIXES = (".jsonl", ".ndjson")


def is_json_lines(path: str | Path) -> bool:
    """Whether a file's name says that it has JSON lines: ``.jsonl`` or ``.ndjson``, and perhaps a compression."""
    name = Path(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower() in _SUFFIXES


def name_members(
    path: str | Path, columns: Sequence[int | str] | None, default: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of an object's members that are to be read: those given as columns, or the default ones.

    Raises:
        ConfigError: a column is given by number.
    """
    if columns is None:
        return default
    names = tuple(map(str, columns))
    if any(name.lstrip("-").isdecimal() for name in names):
        raise ConfigError(
            f"{shown(path)}: JSON lines have names and no numbers; give those of its texts, as --columns "
            f"{' '.join(default)}"
        )
    return names


def read_json_lines(path: str | Path, names: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file; blank lines are skipped.

    Args:
        path: as `read_file` takes it.
        names: of the texts that every object has.

    Yields:
        The line's number, counted from 1, and its object.

    Raises:
        DataError: the file cannot be read, or a line is not such an object.
    """
    example = "{" + ", ".join(f'"{name}": "…"' for name in names or ("text",)) + "}"
    for number, line in enumerate(read_file(path), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            raise DataError(
                f"{shown(path)}:{number}: not JSON ({error}); give one object per line, as {example}"
            ) from error
        if not isinstance(value, dict):
            raise DataError(
                f"{shown(path)}:{number}: no object but {line.strip()[:_SHOWN]!r}; give one per line, as {example}"
            )
        missing = [name for name in names if not isinstance(value.get(name), str)]
        if missing:
            raise DataError(
                f"{shown(path)}:{number}: no text named {' or '.join(map(repr, missing))}; give one object per line, "
                f"as {example}{', or name its texts with --columns' if len(names) > 1 else ''}"
            )
        yield number, value
