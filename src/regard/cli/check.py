"""``regard check``: check exercise files, list the exercises, or copy them into a folder."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from regard.cli.console import print_json, results
from regard.cli.options import MAX_SEED

if TYPE_CHECKING:
    from regard.exercises.catalogue import Exercise, Verdict
    from regard.exercises.runner import Checked

_SYMBOLS = {"right": "[green]●[/]", "follows": "[yellow]◐[/]", "to do": "[dim]○[/]", "wrong": "[red]✗[/]"}
_STATUS_OF_EXIT = {"right": 0, "wrong": 1, "to do": 3}


def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Exercise files, or folders of them; without any, the exercises are listed."),
    ] = None,
    copy: Annotated[
        Path | None, typer.Option(help="Copy the exercise files and the notebooks into this folder.")
    ] = None,
    exercise: Annotated[
        str | None, typer.Option(help="Which exercise the file is, if its name does not say so.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="The time limit of each call of a function.", min=0.1, max=3600)
    ] = 10.0,
    seed: Annotated[int, typer.Option(help="The seed of the random inputs.", min=0, max=MAX_SEED)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Check exercises for the lectures: functions to fill in, compared equation by equation with the naive ops.

    Each function is called with random inputs in float64. For each equation
    the check says whether it is right, by how much it differs, and, if it is
    a typical mistake, which one. What is not filled in is still to do.

    Your file runs as a program of yours, in a process with a time limit.

    The status is 0 if all is right, 1 if something is wrong, 3 if nothing is
    wrong and something is to do, and 2 if a file cannot be checked at all.

    [bold]Examples[/]

      regard check

      regard check --copy exercises

      regard check exercises/lstm.py

      regard check exercises --json
    """
    from regard.exercises.catalogue import EXERCISES, copy_files, read_exercise

    if copy is not None:
        copies = copy_files(copy)
        if json:
            print_json([str(path) for path in copies])
        else:
            results.print(f"{len(copies)} files in {copy}; fill in {copies[0].name} and run", markup=False)
            results.print(f"regard check {copies[0]}", markup=False)
        return
    if not files:
        _print_list([read_exercise(name) for name in EXERCISES], json)
        return
    from regard.exercises.runner import check as check_file

    checked = []
    for path in _expand(files):
        checked.append(check_file(path, exercise, seed=seed, seconds=seconds))
        if not json:
            _print_checked(checked[-1])
    if json:
        print_json([{**asdict(each), "status": each.status} for each in checked])
    statuses = {each.status for each in checked}
    worst = next(status for status in ("wrong", "to do", "right") if status in statuses)
    raise typer.Exit(_STATUS_OF_EXIT[worst])


def _expand(files: Sequence[Path]) -> list[Path]:
    """The files, and those of the folders that are named as exercises.

    Raises:
        ConfigError: a folder has none.
    """
    from regard.errors import ConfigError
    from regard.exercises.catalogue import EXERCISES

    paths = []
    for file in files:
        inside = [file / f"{name}.py" for name in EXERCISES] if file.is_dir() else [file]
        inside = [path for path in inside if path.exists() or path == file]
        if not inside:
            raise ConfigError(f"{file}: no exercise is in this folder; put some there with --copy {file}")
        paths += inside
    return paths


def _print_list(exercises: "Sequence[Exercise]", json: bool) -> None:
    """Every exercise with its title and its functions."""
    if json:
        print_json([asdict(each) for each in exercises])
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_column(justify="right", style="dim", no_wrap=True)
    for each in exercises:
        number = sum(map(len, each.functions.values()))
        table.add_row(f"{each.name}.py", escape(each.title), f"{number} equations")
    results.print(table, soft_wrap=False)
    results.print(
        "\n[dim]put them into a folder, with one notebook per lecture:[/] regard check --copy exercises"
    )
    results.print("[dim]and check what you have filled in:[/] regard check exercises/rnn.py")


def _print_checked(checked: "Checked") -> None:
    """One file: its functions, and a verdict per equation."""
    results.print(f"[bold]{escape(checked.path)}[/]  [dim]{escape(checked.title)}[/]")
    if checked.failure:
        results.print(f"  {_SYMBOLS['wrong']} {escape(checked.failure)}")
    for function, verdicts in groupby(checked.verdicts, key=lambda each: each.function):
        results.print(f"  {function}")
        for verdict in verdicts:
            _print_verdict(verdict)
    counts = {
        "right": checked.count("right", "follows"),
        "wrong": checked.count("wrong"),
        "to do": checked.count("to do"),
    }
    if checked.verdicts:
        words = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        results.print(f"  {words}, of {len(checked.verdicts)} equations")


def _print_verdict(verdict: "Verdict") -> None:
    head = f"    {_SYMBOLS[verdict.status]} ({verdict.number}) {escape(verdict.quantity)}"
    match verdict.status:
        case "right":
            results.print(head)
        case "follows":
            results.print(f"{head} [dim]is right for your values above, which are not[/]")
        case "to do":
            results.print(f"{head}[dim]: to do{escape(verdict.message and ', ' + verdict.message)}[/]")
        case _:
            results.print(f"{head} {escape(verdict.message)}")
            results.print(f"          [dim]the equation:[/] {escape(verdict.equation)}")
            if verdict.hint:
                results.print(
                    f"          [dim]your numbers are those of a typical mistake:[/] {escape(verdict.hint)}"
                )
