"""``regard lab``: list the experiments, run one, or run them all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import command_line, notes, print_json

if TYPE_CHECKING:
    from regard.lab import Experiment
    from regard.lab.bench import Bench

_ALL = "all"


def lab(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Which experiment, or all of them; without a name they are listed.")
    ] = None,
    text: Annotated[
        str | None, typer.Argument(help="A text of your own, for the experiments that take one.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Run longer: more data, updates and seeds.")] = False,
    seed: Annotated[int, typer.Option(help="The first; equal seeds give equal numbers.", min=0)] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; by default runs/lab-NAME, or runs/lab for all.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="How many processes at once; by default one a core.", min=1)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """See what the lectures claim: each experiment trains, measures, draws, and lets a number decide.

    Writes a folder with result.json (every number), figures as PNG and SVG,
    and a page; for all experiments together one report. All of them take
    about twenty minutes on two cores.

    [bold]Examples[/]

      regard lab

      regard lab length

      regard lab reading "the agents near the bank are chasing a thief ."

      regard lab all --out runs/lab
    """
    from regard.cli.lab.shown import print_list
    from regard.errors import ConfigError
    from regard.lab import EXPERIMENTS, find_experiment
    from regard.lab.bench import Bench
    from regard.lab.bench.run import cores

    if name is None:
        print_list([find_experiment(each) for each in EXPERIMENTS], json)
        return
    chosen = [find_experiment(each) for each in (EXPERIMENTS if name == _ALL else (name,))]
    if text is not None and (name == _ALL or not chosen[0].text):
        takers = ", ".join(each for each in EXPERIMENTS if find_experiment(each).text)
        raise ConfigError(f"{text[:60]!r}: {name} takes no text of yours; these do: {takers}")
    usual = Path("runs") / ("lab" if name == _ALL else f"lab-{name}")
    bench = Bench(_free_folder(out or usual), full=full, seed=seed, jobs=jobs or cores(), text=text or "")
    if name == _ALL:
        _run_all(chosen, bench, json)
    else:
        _run_one(chosen[0], bench, command_line(context), json)


def _run_one(experiment: "Experiment", bench: "Bench", command: str, json: bool) -> None:
    from dataclasses import asdict, replace

    from regard.cli.lab.shown import print_result
    from regard.cli.lab.watch import watched
    from regard.lab.bench.run import run_experiment

    with watched(experiment.name) as voice:
        result = run_experiment(experiment, replace(bench, voice=voice), command)
    if json:
        print_json(asdict(result))
    else:
        print_result(result, bench.folder)


def _run_all(experiments: "list[Experiment]", bench: "Bench", json: bool) -> None:
    from regard.cli.lab.shown import print_report
    from regard.cli.lab.watch import Watch
    from regard.lab.bench.run import run_all

    def command(name: str) -> str:
        options = (" --full" if bench.full else "") + (f" --seed {bench.seed}" if bench.seed != 1 else "")
        return f"regard lab {name}{options}"

    with Watch([each.name for each in experiments]) as watch:
        results = run_all(experiments, bench, command, watch)
    if json:
        print_json({result.name: result.verdict for result in results})
    else:
        print_report(results, bench.folder)
    for failed, why in watch.failed.items():
        notes.print(f"[bold red]{failed} could not be done:[/]")
        notes.print(why, markup=False)
    if watch.failed:
        raise typer.Exit(1)


def _free_folder(path: Path) -> Path:
    """The path itself, or with a number behind it where a result is there already."""
    number, free = 2, path
    while (free / "result.json").exists() or (free / "report.html").exists() or (free / "models").exists():
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free
