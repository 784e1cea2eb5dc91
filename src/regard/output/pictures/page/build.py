"""The page put together and written.

In: a `Report`. Out: one HTML file with its style and its few lines of script inside; it refers to nothing
outside itself.
"""

from html import escape
from importlib.resources import files
from os import PathLike
from string import Template

from regard.output.pictures.page import sections
from regard.output.pictures.page.markup import join
from regard.output.pictures.page.report import Report
from regard.whole_file import write_whole


def render_report(report: Report) -> str:
    """Make the page.

    Args:
        report: what it tells.
    """
    folder = files("regard.output.pictures.page")
    template = Template(folder.joinpath("page.html").read_text(encoding="utf-8"))
    parts = [
        *sections.scores(report),
        *sections.further_tests(report),
        *sections.training(report),
        *sections.by_length(report),
        *sections.translations(report),
        *sections.facts(report),
    ]
    return template.substitute(
        title=escape(report.title),
        subtitle=escape(report.subtitle),
        style=folder.joinpath("page.css").read_text(encoding="utf-8"),
        body=join(parts),
    )


def write_report(path: str | PathLike[str], report: Report) -> None:
    """Write the page, whole or not at all.

    Args:
        path: the HTML file.
        report: what it tells.

    Raises:
        DataError: the file cannot be written.
    """
    page = render_report(report).encode("utf-8", errors="replace")
    write_whole(path, lambda file: file.write(page))
