"""All sections of a results' folder as one report: ``results.json``, ``report.md`` and ``report.html``.

In: a folder with a JSON file for each section that was measured, on whatever machine, and a GPU's figures where there
are some. Out: the three files. A section
nobody measured is left out; one this module does not know comes last.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.figures import FIGURES, gpu_section
from benchmarks.section import Section, Table, kept
from regard.io import write_whole_text
from regard.lab.runner.page import standalone_page
from regard.plots.html import Markup, element, join

ORDER = ("training", "decoding", "quality", "gpu", "floor", "stages", "changes", "growth")
"""The order of sections; those of quality and of a GPU are measured by commands of their own."""
RESULTS = "results.json"
_TITLE = "How fast Regard is"


def write_report(folder: Path) -> list[Section]:
    """Put a folder's sections together.

    Returns:
        The sections, in order.

    Raises:
        DataError: a file is no section, or one cannot be written.
    """
    sections = [kept(path) for path in sorted(folder.glob("*.json")) if path.name not in (RESULTS, FIGURES)]
    if (folder / FIGURES).exists():
        sections.append(gpu_section(folder / FIGURES))
    sections.sort(key=lambda section: (_place(section.key), section.key))
    everything = {section.key: asdict(section) for section in sections}
    write_whole_text(folder / RESULTS, json.dumps(everything, indent=2, ensure_ascii=False) + "\n")
    write_whole_text(folder / "report.md", as_markdown(sections))
    write_whole_text(folder / "report.html", as_html(sections, folder))
    return sections


def _place(key: str) -> int:
    return ORDER.index(key) if key in ORDER else len(ORDER)


def _made(section: Section) -> str:
    """The machine and the versions, in a line."""
    where = ", ".join(f"{name} {value}" for name, value in section.machine.items())
    made = ", ".join(f"{name} {value}" for name, value in section.made.items() if name not in section.machine)
    return f"Machine: {where}. Made: {made}."


def as_markdown(sections: Sequence[Section]) -> str:
    """The report as Markdown; pictures lie beside it."""
    lines = [f"# {_TITLE}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.words:
            lines += [paragraph, ""]
        for table in section.tables:
            lines += [table.caption, "", *markdown_table(table), ""]
        for picture in section.pictures:
            lines += [f"![{picture.caption}]({picture.name}.svg)", ""]
        lines += [_made(section), ""]
    return "\n".join(lines)


def markdown_table(table: Table) -> list[str]:
    """A table's lines; all columns but the first stand to the right."""
    rules = [":--", *["--:"] * (len(table.columns) - 1)]
    cells = [table.columns, rules, *table.rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def as_html(sections: Sequence[Section], folder: Path) -> str:
    """The report as one page that refers to nothing outside itself."""
    body = join(
        [element("header", element("h1", _TITLE)), *(_section(section, folder) for section in sections)]
    )
    return standalone_page(_TITLE, body)


def _section(section: Section, folder: Path) -> Markup:
    return element(
        "section",
        element("h2", section.title),
        *(element("p", paragraph) for paragraph in section.words),
        *(_table(table) for table in section.tables),
        *(_picture(folder / f"{picture.name}.png", picture.caption) for picture in section.pictures),
        element("p", _made(section), class_="run"),
        id=section.key,
        class_="experiment",
    )


def _table(table: Table) -> Markup:
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


def _picture(path: Path, caption: str) -> Markup:
    data = b64encode(path.read_bytes()).decode("ascii")
    image = element("img", src=f"data:image/png;base64,{data}", alt=caption)
    return element("figure", Markup(image.removesuffix("</img>")), element("figcaption", caption))
