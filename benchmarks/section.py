"""What a benchmark found, in one form for all: numbers, tables and figures, kept as a JSON file of its own.

In: findings. Out: ``KEY.json`` in the results' folder, with the machine, the versions and the date; the report is made
from these files alone, so that each can come from a run, or a machine, of its own.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.io import make_folder, write_whole_text
from regard.lab.runner.experiment import versions

_PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Table:
    """A table in words.

    Attributes:
        caption: what it says.
        columns: their names.
        rows: cells as they are printed.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A figure that lies beside the report as ``NAME.png`` and ``NAME.svg``."""

    name: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes:
        key: its file's name and its place in the report.
        title: its heading.
        words: how it was measured, a paragraph each.
        tables: what was found.
        pictures: likewise.
        numbers: all that was measured, for who wants to compute with it.
        machine: what it ran on.
        made: when, and with which versions.
    """

    key: str
    title: str
    words: Sequence[str]
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=lambda: machine())
    made: Mapping[str, str] = field(default_factory=lambda: {"date": today(), **versions()})


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def machine() -> dict[str, str]:
    """The processor, its cores, and the memory."""
    name = platform.processor() or platform.machine()
    if _PROCESSORS.exists():
        lines = _PROCESSORS.read_text().splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": name, "cores": str(os.cpu_count() or 1), "memory": f"{memory:.0f} GiB"}


def keep(section: Section, folder: Path) -> None:
    """Write a section's file.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    text = json.dumps(asdict(section), indent=2, ensure_ascii=False)
    write_whole_text(folder / f"{section.key}.json", text + "\n")


def kept(path: Path) -> Section:
    """Read a section's file.

    Raises:
        DataError: it is not one.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        tables = [Table(**each) for each in data.pop("tables")]
        pictures = [Picture(**each) for each in data.pop("pictures")]
        return Section(**data, tables=tables, pictures=pictures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: is no section of a report ({error}); measure again, or remove it"
        ) from error
