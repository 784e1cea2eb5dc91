"""One experiment as a section of a page: claim, verdict, figures, method, command.

In: a `Result` and the folder its figures are in. Out: `Markup`, with the figures inside it.

Pages put together and written: one for an experiment, one for all of them.

In: results and the folders their figures are in. Out: one HTML file that refers to nothing outside itself.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from regard.errors import DataError
from regard.evaluation.metrics import power_of_ten
from regard.io import write_whole
from regard.lab.runner.experiment import HELD, IN_PART, NOT_SEEN, Result
from regard.plots.html import Markup, element, join

VERDICT_CLASS = {HELD: "held", IN_PART: "part", NOT_SEEN: "unseen"}
_LARGE, _SMALL = 10_000, 1e-4
_ROUND = 100
"""From here on a number has no fraction that matters."""
_UNIT = 3
"""The most letters a unit has."""
_DOTS = 2
"""Pixels of a file to one of the page, so that figures are sharp on a fine screen."""
_SIZE_AT = 16
"""Where a PNG file says its width, four bytes, and then its height."""


def experiment_section(result: Result, folder: Path, *, number: int | None = None) -> Markup:
    """All there is to see of an experiment.

    Args:
        result: as it was written.
        folder: where its figures are.
        number: its place in the report; None where it stands alone.
    """
    heading = element("h2" if number else "h1", result.title)
    over = f"Experiment {number}" if number else "An experiment of the lab"
    word = VERDICT_CLASS[result.verdict["word"]]
    figures = [_figure(each, folder) for each in result.figures]
    return element(
        "section",
        element("p", over, class_="eyebrow"),
        heading,
        element("blockquote", result.claim, element("footer", result.source)),
        element(
            "div",
            element("span", result.verdict["word"], class_=f"word {word}"),
            element("p", _together(result.verdict["because"])),
            class_=f"verdict {word}",
        ),
        join(figures[:1]),
        element("h3", "How it was tried"),
        element("p", result.method),
        join(figures[1:]),
        join(_grid(each) for each in result.grids),
        *([element("h3", "What else was seen")] if result.remarks else []),
        join(element("p", _together(remark)) for remark in result.remarks),
        element("h3", "What decided"),
        element("p", result.decides),
        _checks(result.verdict["checks"]),
        element("pre", result.command),
        element("p", _run(result), class_="run"),
        id=result.name,
        class_="experiment" if number else "experiment only",
    )


def _together(text: str) -> str:
    """The same with no line broken between a number and its sign of percent."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def minutes(seconds: float) -> str:
    """A time as it is said."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _figure(figure: Mapping[str, str], folder: Path) -> Markup:
    path = folder / f"{figure['name']}.png"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error}); run the experiment again to draw it"
        ) from error
    width = int.from_bytes(data[_SIZE_AT : _SIZE_AT + 4]) // _DOTS
    source = f"data:image/png;base64,{b64encode(data).decode('ascii')}"
    picture = Markup(element("img", src=source, alt=figure["caption"], width=width).removesuffix("</img>"))
    return element("figure", picture, element("figcaption", figure["caption"]))


def _grid(grid: Mapping[str, Any]) -> Markup:
    """A table; columns whose cells are all numbers stand to the right."""
    rows: Sequence[Sequence[str]] = grid["rows"]
    right = [
        "figure" if all(_is_figure(row[k]) for row in rows) else None for k in range(len(grid["columns"]))
    ]
    heads = [
        element("th", name, scope="col", class_=side)
        for name, side in zip(grid["columns"], right, strict=True)
    ]
    body = [
        element("tr", *(element("td", cell, class_=side) for cell, side in zip(row, right, strict=True)))
        for row in rows
    ]
    table = element(
        "table",
        element("caption", grid["caption"]),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="numbers",
    )
    return element("div", table, class_="scroll")


def _is_figure(cell: str) -> bool:
    """Whether a cell holds a number and no more than its unit, or a dash for none."""
    return cell.strip() in ("", "–") or (
        any(c.isdigit() for c in cell) and sum(c.isalpha() for c in cell) <= _UNIT
    )


def _checks(checks: Sequence[Mapping[str, Any]]) -> Markup:
    rows = []
    for check in checks:
        seen = f"{number_written(check['value'])}{check['unit']}"
        bound = f"{check['relation']} {number_written(check['bound'])}{check['unit']}"
        what = [check["what"], *([element("span", " (control)", class_="run")] if check["control"] else [])]
        word = HELD if check["held"] else NOT_SEEN
        mark = element("span", "yes" if check["held"] else "no", class_=f"word {VERDICT_CLASS[word]}")
        rows.append(
            element(
                "tr",
                element("td", *what),
                element("td", seen, class_="figure"),
                element("td", bound, class_="figure"),
                element("td", mark),
            )
        )
    head = [
        element("th", name, scope="col", class_=side)
        for name, side in (("", None), ("seen", "figure"), ("asked", "figure"), ("", None))
    ]
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="numbers"
    )
    return element("div", table, class_="scroll")


def number_written(value: float | str | None) -> str:
    """A number in as few digits as say enough; a dash where there is none, infinity as it stands."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value and not _SMALL <= abs(value) < _LARGE:
        return power_of_ten(value, digits=1)
    return (f"{value:.3g}" if abs(value) < _ROUND else f"{value:,.0f}").replace("-", "−")


def _run(result: Result) -> str:
    length = "the longer run" if result.full else "the usual run"
    of = ", ".join(f"{name} {value}" for name, value in result.versions.items())
    return f"{minutes(result.seconds)} for {length} from seed {result.seed}; {of}. Every number is in result.json."


_TITLE = "What the lectures claim, and what was seen"


def write_page(path: str | PathLike[str], result: Result, folder: Path) -> None:
    """Write an experiment's own page, whole or not at all.

    Args:
        path: the HTML file.
        result: what it tells.
        folder: where the figures are.

    Raises:
        DataError: a figure cannot be read, or the file not written.
    """
    _write(path, result.title, experiment_section(result, folder))


def write_report(
    path: str | PathLike[str], results: Sequence[Result], folder: Path, *, seconds: float, jobs: int
) -> None:
    """Write the report on several experiments, whole or not at all.

    Args:
        path: the HTML file.
        results: in the order they are told in.
        folder: holds a folder of figures for each, by its name.
        seconds: how long all of them took together.
        jobs: how many processes worked side by side.

    Raises:
        DataError: a figure cannot be read, or the file not written.
    """
    sections = [
        experiment_section(result, folder / result.name, number=number)
        for number, result in enumerate(results, start=1)
    ]
    body = join([_opening(results, seconds, jobs), _contents(results), *sections])
    _write(path, _TITLE, body)


def _opening(results: Sequence[Result], seconds: float, jobs: int) -> Markup:
    counts = Counter(result.verdict["word"] for result in results)
    told = ", ".join(f"{counts[word]} {word}" for word in (HELD, IN_PART, NOT_SEEN) if counts[word])
    return element(
        "header",
        element("h1", _TITLE),
        element(
            "p",
            f"{len(results)} experiments in {minutes(seconds)}, {jobs} at a time on a core each: {told}. Each one "
            "trains small recurrent networks on generated sentences, measures what a lecture says of them, and lets "
            "a number decide.",
            class_="standfirst",
        ),
    )


def _contents(results: Sequence[Result]) -> Markup:
    """All experiments at a glance, with links to their sections."""
    rows = []
    for number, result in enumerate(results, start=1):
        word = result.verdict["word"]
        rows.append(
            element(
                "tr",
                element("td", str(number), class_="number"),
                element(
                    "td",
                    element("a", result.title, href=f"#{result.name}"),
                    element("div", result.claim, class_="claim"),
                ),
                element("td", element("span", word, class_=f"word {VERDICT_CLASS[word]}")),
                element("td", minutes(result.seconds)),
            )
        )
    return element("table", element("tbody", *rows), class_="contents")


def _write(path: str | PathLike[str], title: str, body: Markup) -> None:
    room = files("regard.lab")
    template = Template(room.joinpath("lab.html").read_text(encoding="utf-8"))
    style = room.joinpath("lab.css").read_text(encoding="utf-8")
    page = template.substitute(title=escape(title), style=style, body=body)
    write_whole(path, lambda file: file.write(page.encode("utf-8", errors="replace")))
