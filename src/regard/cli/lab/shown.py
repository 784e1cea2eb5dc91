"""What the lab prints: the list of experiments, one result, the verdicts on all."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from regard.cli.console import clock, print_json, results

if TYPE_CHECKING:
    from regard.lab import Experiment
    from regard.lab.bench.result import Result

COLOURS = {"held": "green", "held in part": "yellow", "not seen here": "red"}
_SIGNS = {"held": "●", "held in part": "◐", "not seen here": "○"}


def print_list(experiments: "Sequence[Experiment]", json: bool) -> None:
    """Every experiment with its claim and about how long it takes."""
    if json:
        print_json(
            [
                {key: value for key, value in asdict(each).items() if key not in ("run", "alone")}
                for each in experiments
            ]
        )
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_column(justify="right", style="dim", no_wrap=True)
    for each in experiments:
        table.add_row(each.name, escape(each.claim), clock(each.seconds))
    results.print(table, soft_wrap=False)
    total = sum(each.seconds for each in experiments)
    results.print(
        f"\n[dim]times are minutes of one core, {clock(total)} in all; run one with[/] regard lab NAME"
    )
    results.print("[dim]or all of them, and read the report, with[/] regard lab all")


def print_result(result: "Result", folder: Path) -> None:
    """One experiment: its claim, the verdict, what decided, and where everything is."""
    from regard.lab.page.sections import number_written

    results.print(f"[bold]{escape(result.title)}[/]")
    results.print(f"[dim]the lectures:[/] {escape(result.claim)}")
    results.print(f"[dim]seen here:[/]    {_word(result.verdict)}. {escape(result.verdict['because'])}\n")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for check in result.verdict["checks"]:
        sign = "[green]●[/]" if check["held"] else "[red]○[/]"
        note = " (control)" if check["control"] else ""
        table.add_row(
            f"{sign} {escape(check['what'])}",
            f"{number_written(check['value'])}{check['unit']}",
            f"{check['relation']} {number_written(check['bound'])}{check['unit']}{note}",
        )
    results.print(Padding(table, (0, 0, 0, 2), expand=False), soft_wrap=False)
    results.print("")
    for figure in result.figures:
        results.print(f"figure: {(folder / (figure['name'] + '.png')).resolve()}", markup=False)
    results.print(f"page:   {(folder / 'page.html').resolve()}", markup=False)


def print_report(found: "Sequence[Result]", folder: Path) -> None:
    """All verdicts, a line each, and where the report is."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(justify="right", style="dim", no_wrap=True)
    for result in found:
        table.add_row(
            result.name, _word(result.verdict), escape(result.verdict["because"]), clock(result.seconds)
        )
    results.print(table, soft_wrap=False)
    if found:
        results.print(f"\nreport: {(folder / 'report.html').resolve()}", markup=False)


def _word(verdict: Mapping[str, Any]) -> str:
    word = str(verdict["word"])
    return f"[{COLOURS[word]}]{_SIGNS[word]} {word}[/]"
