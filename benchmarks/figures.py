"""What ``python -m benchmarks.gpu --out FOLDER/gpu-figures.json`` wrote, as a section of the report.

In: a JSON file of lists, each of rows of figures by name, and beside them words on the machine. Out: a `Section` with a
table for each list; a column for every name that any of its rows has. Knows nothing of what the figures mean.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.section import Section, Table
from regard.errors import DataError

FIGURES = "gpu-figures.json"


def gpu_section(path: Path) -> Section:
    """Read a GPU's figures.

    Raises:
        DataError: they are not there, or not figures.
    """
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
        tables = [table_of(name, rows) for name, rows in figures.items() if isinstance(rows, list) and rows]
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path}: holds no figures ({error}); measure again: python -m benchmarks.gpu"
        ) from error
    told = {name: str(value) for name, value in figures.items() if not isinstance(value, list)}
    words = ["Agreement first, then time; a ratio’s two times come from one run."]
    return Section("gpu", "On a GPU", words, tables, (), figures, told, {"date": written})


def table_of(caption: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of figures by name as a table; what a row does not have stays empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_written(row.get(name, "")) for name in columns] for row in rows]
    return Table(f"{caption.capitalize()}.", [name.replace("_", " ") for name in columns], cells)


def _written(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
