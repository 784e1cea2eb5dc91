"""Results of benchmarks and the report on them.

In: `Section`s: numbers, tables and figures, each saved as a JSON file with the machine, the versions and the date; and
``gpu-figures.json``, which ``python -m benchmarks.gpu`` writes. Out: ``results.json``, ``report.md`` and
``report.html`` on all sections of a folder, so that each can come from its own run or machine. Sections that were not
measured are left out; unknown ones come last.
"""

import json
import os
import platform
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.io import make_folder, write_whole_text
from regard.lab.runner.experiment import versions
from regard.lab.runner.page import standalone_page
from regard.plots.html import Markup, element, join

ORDER = (
    "training",
    "search",
    "versus",
    "neighbours",
    "quality",
    "gpu",
    "lower-bound",
    "breakdown",
    "ablation",
    "scaling",
)
"""The order of sections; quality and gpu have their own commands."""
RESULTS = "results.json"
GPU_FIGURES = "gpu-figures.json"
_TITLE = "How fast Regard is"
_PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        caption: what the table shows.
        columns: their names.
        rows: cells as they are printed.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Figure:
    """A figure stored beside the report as ``NAME.png`` and ``NAME.svg``."""

    name: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes:
        key: the name of its file, and its place in the report.
        title: its heading.
        paragraphs: how it was measured.
        tables: the results.
        figures: the results as plots.
        numbers: all that was measured, for further computation.
        machine: the hardware.
        versions: the date and the versions of the software.
    """

    key: str
    title: str
    paragraphs: Sequence[str]
    tables: Sequence[Table]
    figures: Sequence[Figure] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=lambda: machine())
    versions: Mapping[str, str] = field(default_factory=lambda: {"date": today(), **versions()})


def today() -> str:
    """The date and time in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def machine() -> dict[str, str]:
    """The processor, its cores, and the memory."""
    name = platform.processor() or platform.machine()
    if _PROCESSORS.exists():
        lines = _PROCESSORS.read_text().splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": name, "cores": str(os.cpu_count() or 1), "memory": f"{memory:.0f} GiB"}


def save_section(section: Section, folder: Path) -> None:
    """Write a section's file.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    text = json.dumps(asdict(section), indent=2, ensure_ascii=False)
    write_whole_text(folder / f"{section.key}.json", text + "\n")


def load_section(path: Path) -> Section:
    """Read a section's file.

    Raises:
        DataError: it is not a section.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        tables = [Table(**table) for table in data.pop("tables")]
        figures = [Figure(**figure) for figure in data.pop("figures")]
        return Section(**data, tables=tables, figures=figures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: not a section of a report ({error}); measure again, or remove the file"
        ) from error


def gpu_section(path: Path) -> Section:
    """Read the figures of a GPU: lists of rows of numbers by name, and strings that identify the machine.

    Raises:
        DataError: the file does not exist or has another form.
    """
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
        tables = [
            _number_table(name, rows) for name, rows in figures.items() if isinstance(rows, list) and rows
        ]
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path}: holds no GPU figures ({error}); measure again: python -m benchmarks.gpu"
        ) from error
    gpu = {name: str(value) for name, value in figures.items() if not isinstance(value, list)}
    paragraphs = ["Agreement first, then time; the two times of a ratio come from one run."]
    return Section("gpu", "On a GPU", paragraphs, tables, (), figures, gpu, {"date": written})


def _number_table(caption: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of numbers by name as a table with a column for every name; missing numbers are empty cells."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_format(row.get(name, "")) for name in columns] for row in rows]
    return Table(f"{caption.capitalize()}.", [name.replace("_", " ") for name in columns], cells)


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_report(folder: Path) -> list[Section]:
    """Write the report on all sections of a folder.

    Returns:
        The sections, in order.

    Raises:
        DataError: a file is not a section, or the folder cannot be written.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if path.name not in (RESULTS, GPU_FIGURES)]
    sections = [load_section(path) for path in paths]
    if (folder / GPU_FIGURES).exists():
        sections.append(gpu_section(folder / GPU_FIGURES))
    sections.sort(key=lambda section: (_rank(section.key), section.key))
    results = {section.key: asdict(section) for section in sections}
    write_whole_text(folder / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    write_whole_text(folder / "report.md", to_markdown(sections))
    write_whole_text(folder / "report.html", to_html(sections, folder))
    return sections


def _rank(key: str) -> int:
    return ORDER.index(key) if key in ORDER else len(ORDER)


def _provenance(section: Section) -> str:
    """The machine and the versions in one line."""
    hardware = ", ".join(f"{name} {value}" for name, value in section.machine.items())
    software = ", ".join(
        f"{name} {value}" for name, value in section.versions.items() if name not in section.machine
    )
    return f"Machine: {hardware}. Versions: {software}."


def to_markdown(sections: Sequence[Section]) -> str:
    """The report as Markdown, with links to the figures beside it."""
    lines = [f"# {_TITLE}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.paragraphs:
            lines += [paragraph, ""]
        for table in section.tables:
            lines += [table.caption, "", *markdown_table(table), ""]
        for figure in section.figures:
            lines += [f"![{figure.caption}]({figure.name}.svg)", ""]
        lines += [_provenance(section), ""]
    return "\n".join(lines)


def markdown_table(table: Table) -> list[str]:
    """The lines of a table; all columns except the first are right-aligned."""
    rules = [":--", *["--:"] * (len(table.columns) - 1)]
    cells = [table.columns, rules, *table.rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def to_html(sections: Sequence[Section], folder: Path) -> str:
    """The report as one self-contained page."""
    body = join(
        [element("header", element("h1", _TITLE)), *(_section_html(section, folder) for section in sections)]
    )
    return standalone_page(_TITLE, body)


def _section_html(section: Section, folder: Path) -> Markup:
    return element(
        "section",
        element("h2", section.title),
        *(element("p", paragraph) for paragraph in section.paragraphs),
        *(_table_html(table) for table in section.tables),
        *(_figure_html(folder / f"{figure.name}.png", figure.caption) for figure in section.figures),
        element("p", _provenance(section), class_="run"),
        id=section.key,
        class_="experiment",
    )


def _table_html(table: Table) -> Markup:
    heads = [
        element("th", name, scope="col", class_="figure" if k else None)
        for k, name in enumerate(table.columns)
    ]
    rows = [
        element("tr", *(element("td", cell, class_="figure" if k else None) for k, cell in enumerate(row)))
        for row in table.rows
    ]
    parts = [
        element("caption", table.caption),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
    ]
    return element("div", element("table", *parts, class_="numbers"), class_="scroll")


def _figure_html(path: Path, caption: str) -> Markup:
    data = b64encode(path.read_bytes()).decode("ascii")
    image = element("img", src=f"data:image/png;base64,{data}", alt=caption)
    return element("figure", Markup(image.removesuffix("</img>")), element("figcaption", caption))
