"""The pages: one per experiment, and the report on several.

In: results and the folders their figures are in. Out: HTML files, each complete in itself: the figures are embedded and
nothing outside is referred to.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.io import write_whole
from regard.lab.runner.experiment import (
    HELD,
    IN_PART,
    NO,
    NOT_DECIDED,
    NOT_SEEN,
    OPEN,
    YES,
    Result,
    format_number,
)
from regard.plots.equations import split_equation
from regard.plots.html import Markup, element, join

_TITLE = "What the lectures claim, and what was measured"
VERDICT_CLASS = {HELD: "held", IN_PART: "part", NOT_SEEN: "unseen", NOT_DECIDED: "open"}
_OUTCOME_CLASS = {YES: "held", NO: "unseen", OPEN: "open"}
_UNIT = 3
"""The most letters in a unit."""
_DOTS = 2
"""Pixels of a figure's file per pixel of the page, so that figures are sharp on a high-resolution screen."""
_PNG_WIDTH_OFFSET = 16
"""Where a PNG file has its width, four bytes."""
_META = (
    'charset="utf-8"',
    'name="viewport" content="width=device-width, initial-scale=1"',
    'name="color-scheme" content="light dark"',
    "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"",
)


def write_page(path: str | PathLike[str], result: Result, folder: Path) -> None:
    """Write the page of one experiment, whole or not at all.

    Args:
        path: the HTML file.
        result: of the experiment.
        folder: where the figures are.

    Raises:
        DataError: a figure cannot be read, or the file cannot be written.
    """
    _write(path, result.title, _experiment_section(result, folder))


def write_overview(
    path: str | PathLike[str], results: Sequence[Result], folder: Path, *, seconds: float, jobs: int
) -> None:
    """Write the report on several experiments, whole or not at all.

    Args:
        path: the HTML file.
        results: in the order of the report.
        folder: holds a folder of figures per experiment, by its name.
        seconds: how long all of them took together.
        jobs: the number of processes that ran in parallel.

    Raises:
        DataError: a figure cannot be read, or the file cannot be written.
    """
    sections = [
        _experiment_section(result, folder / result.name, number=number)
        for number, result in enumerate(results, start=1)
    ]
    body = join([_introduction(results, seconds, jobs), _contents(results), *sections])
    _write(path, _TITLE, body)


def standalone_page(title: str, body: Markup) -> str:
    """A whole HTML page around a body, with the style of the lab's pages inside."""
    style = files("regard.lab.runner").joinpath("page.css").read_text(encoding="utf-8")
    meta = (Markup(f"<meta {attributes}>") for attributes in _META)
    head = element("head", *meta, element("title", title), element("style", Markup(style)))
    return "<!doctype html>\n" + element("html", head, element("body", element("main", body)), lang="en")


def _write(path: str | PathLike[str], title: str, body: Markup) -> None:
    page = standalone_page(title, body)
    write_whole(path, lambda file: file.write(page.encode("utf-8", errors="replace")))


def _introduction(results: Sequence[Result], seconds: float, jobs: int) -> Markup:
    counts = Counter(result.verdict["word"] for result in results)
    verdicts = ", ".join(f"{counts[word]} {word}" for word in VERDICT_CLASS if counts[word])
    unregistered = sum(bool(result.unregistered) for result in results)
    if unregistered:
        verdicts += f" ({unregistered} of them not registered)"
    return element(
        "header",
        element("h1", _TITLE),
        element(
            "p",
            f"{len(results)} experiments in {minutes(seconds)}, {jobs} at a time on a core each: {verdicts}. Each one "
            "trains small recurrent networks on generated sentences, measures what a lecture says of them, and lets "
            "a number decide.",
            class_="standfirst",
        ),
    )


def _contents(results: Sequence[Result]) -> Markup:
    """A table of all experiments, with links to their sections."""
    rows = [
        element(
            "tr",
            element("td", str(number), class_="number"),
            element(
                "td",
                element("a", result.title, href=f"#{result.name}"),
                element("div", _prose(result.claim), class_="claim"),
            ),
            element("td", _verdict_word(result)),
            element("td", minutes(result.seconds)),
        )
        for number, result in enumerate(results, start=1)
    ]
    return element("table", element("tbody", *rows), class_="contents")


def _verdict_word(result: Result) -> Markup:
    verdict = result.verdict["word"]
    if result.unregistered:
        return element("span", f"not registered ({verdict})", class_="word open")
    return element("span", verdict, class_=f"word {VERDICT_CLASS[verdict]}")


def _experiment_section(result: Result, folder: Path, *, number: int | None = None) -> Markup:
    """Claim, verdict, figures, method, tables, remarks, checks and command of one experiment.

    Args:
        result: of the experiment.
        folder: where its figures are.
        number: its place in the report; None on its own page.
    """
    verdict = "open" if result.unregistered else VERDICT_CLASS[result.verdict["word"]]
    said = [result.verdict["because"], *(f"Not decided: {reason}." for reason in result.verdict["undecided"])]
    if result.unregistered:
        said.append(f"Not registered: {result.unregistered}, so this decides nothing.")
    figures = [_figure(figure, folder) for figure in result.figures]
    return element(
        "section",
        element("p", f"Experiment {number}" if number else "An experiment of the lab", class_="eyebrow"),
        element("h2" if number else "h1", result.title),
        element("blockquote", _prose(result.claim), element("footer", _prose(result.source))),
        element(
            "div",
            _verdict_word(result),
            join(element("p", _prose(each)) for each in said),
            class_=f"verdict {verdict}",
        ),
        join(figures[:1]),
        element("h3", "Method"),
        element("p", _prose(result.method)),
        join(figures[1:]),
        join(_table(table["columns"], table["rows"], table["caption"]) for table in result.tables),
        *([element("h3", "Remarks")] if result.remarks else []),
        join(element("p", _prose(remark)) for remark in result.remarks),
        element("h3", "What decides"),
        element("p", _prose(result.decides)),
        _checks(result.verdict["checks"]),
        element("pre", result.command),
        element("p", _run_details(result), class_="run"),
        id=result.name,
        class_="experiment" if number else "experiment only",
    )


def _prose(text: str) -> Markup:
    """Text with its sub- and superscripts set, and no line break between a number and its percent sign."""
    runs = split_equation(text.replace(" %", "\N{NO-BREAK SPACE}%"))
    names = {-1: "sub", 1: "sup"}
    return join(element(names[run.level], run.text) if run.level else run.text for run in runs)


def minutes(seconds: float) -> str:
    """A duration in seconds, or in minutes from 90 seconds on."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _figure(figure: Mapping[str, str], folder: Path) -> Markup:
    path = folder / f"{figure['name']}.png"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error}); run the experiment again to plot it"
        ) from error
    width = int.from_bytes(data[_PNG_WIDTH_OFFSET : _PNG_WIDTH_OFFSET + 4]) // _DOTS
    source = f"data:image/png;base64,{b64encode(data).decode('ascii')}"
    image = Markup(element("img", src=source, alt=figure["caption"], width=width).removesuffix("</img>"))
    return element("figure", image, element("figcaption", _prose(figure["caption"])))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> Markup:
    """A table; columns whose cells are all numbers are aligned to the right."""
    classes = ["figure" if all(_is_number(row[k]) for row in rows) else None for k in range(len(columns))]
    head = [
        element("th", name, scope="col", class_=each) for name, each in zip(columns, classes, strict=True)
    ]
    body = [
        element("tr", *(element("td", cell, class_=each) for cell, each in zip(row, classes, strict=True)))
        for row in rows
    ]
    table = element(
        "table",
        *([element("caption", _prose(caption))] if caption else []),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="numbers",
    )
    return element("div", table, class_="scroll")


def _is_number(cell: str) -> bool:
    """Whether a cell holds a number with at most a unit, or a dash for none."""
    return cell.strip() in ("", "–") or (
        any(c.isdigit() for c in cell) and sum(c.isalpha() for c in cell) <= _UNIT
    )


def _checks(checks: Sequence[Mapping[str, Any]]) -> Markup:
    head = [
        element("th", name, scope="col", class_=each)
        for name, each in (
            ("", None),
            ("measured", "figure"),
            ("90 % interval", "figure"),
            ("required", "figure"),
            ("", None),
        )
    ]
    rows = []
    for check in checks:
        what = [check["what"], *([element("span", " (control)", class_="run")] if check["control"] else [])]
        bound = f"{check['relation']} {format_number(check['bound'])}{check['unit']}"
        interval = "" if check["interval"] is None else " … ".join(map(format_number, check["interval"]))
        outcome = element("span", check["outcome"], class_=f"word {_OUTCOME_CLASS[check['outcome']]}")
        rows.append(
            element(
                "tr",
                element("td", *what),
                element("td", f"{format_number(check['value'])}{check['unit']}", class_="figure"),
                element("td", interval, class_="figure"),
                element("td", bound, class_="figure"),
                element("td", outcome),
            )
        )
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="numbers"
    )
    return element("div", table, class_="scroll")


def _run_details(result: Result) -> str:
    size = "the longer run" if result.full else "the usual run"
    versions = ", ".join(f"{name} {value}" for name, value in result.versions.items())
    settings = f"; settings {result.settings[:12]}" if result.settings else ""
    return (
        f"{minutes(result.seconds)} for {size} from seed {result.seed}{settings}; {versions}. Every number is in "
        "result.json."
    )
