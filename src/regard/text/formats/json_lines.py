"""JSON lines: one object per line, plain or compressed.

In: a path whose name says so, and the names of texts. Out: the texts of each line. Knows nothing of pairs.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.io import parse_json
from regard.text.formats.files import COMPRESSED, read_file, shown

_SUFFIXES = (".jsonl", ".ndjson")


def is_json_lines(path: str | Path) -> bool:
    """Whether a file's name says that it has JSON lines: ``.jsonl`` or ``.ndjson``, and perhaps a compression."""
    name = Path(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower() in _SUFFIXES


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
        missing = [n for n in names if not isinstance(value, dict) or not isinstance(value.get(n), str)]
        if missing:
            raise DataError(
                f"{shown(path)}:{number}: no text named {' or '.join(map(repr, missing))}; give one object per line, "
                f"as {example}"
            )
        yield number, value
