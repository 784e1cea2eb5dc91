"""Pages put together and written: one for an experiment, one for all of them.

In: results and the folders their figures are in. Out: one HTML file that refers to nothing outside itself.
"""

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template

from regard.lab.bench.result import Result
from regard.lab.bench.verdict import HELD, IN_PART, NOT_SEEN
from regard.lab.page.sections import VERDICT_CLASS, experiment_section, minutes
from regard.output.pictures.page.markup import Markup, element, join
from regard.whole_file import write_whole

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
    room = files("regard.lab.page")
    template = Template(room.joinpath("lab.html").read_text(encoding="utf-8"))
    style = room.joinpath("lab.css").read_text(encoding="utf-8")
    page = template.substitute(title=escape(title), style=style, body=body)
    write_whole(path, lambda file: file.write(page.encode("utf-8", errors="replace")))
