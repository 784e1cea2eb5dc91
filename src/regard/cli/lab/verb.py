"""``regard lab``: list the experiments, run one, or run them all."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import command_line, print_json

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
    seed: Annotated[
        int, typer.Option(help="The first; equal seeds give equal numbers.", min=0, max=2**32 - 1)
    ] = 1,
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
    from regard.configuration import one_of
    from regard.lab import EXPERIMENTS, find_experiment
    from regard.lab.bench import Bench
    from regard.lab.bench.workers import cores

    if name is None:
        print_list([find_experiment(each) for each in EXPERIMENTS], json)
        return
    one_of("experiment", name, (*EXPERIMENTS, _ALL))
    chosen = [find_experiment(each) for each in (EXPERIMENTS if name == _ALL else (name,))]
    if text is not None:
        _check_text(text, chosen, [each for each in EXPERIMENTS if find_experiment(each).text])
    usual = Path("runs") / ("lab" if name == _ALL else f"lab-{name}")
    bench = Bench(_room(out, usual), full=full, seed=seed, jobs=jobs or cores(), text=text or "")
    if name == _ALL:
        _run_all(chosen, bench, json)
    else:
        _run_one(chosen[0], bench, command_line(context), json)


def _run_one(experiment: "Experiment", bench: "Bench", command: str, json: bool) -> None:
    from dataclasses import asdict, replace

    from regard.cli.lab.shown import print_result
    from regard.cli.lab.watch import watched
    from regard.lab.bench.run import run_experiment

    with watched(experiment.name, bench.jobs) as voice:
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
        try:
            results = run_all(experiments, bench, command, watch)
        finally:
            watch.tell_failures()
    if json:
        print_json({result.name: result.verdict for result in results})
    else:
        print_report(results, bench.folder)
    if watch.failed:
        raise typer.Exit(1)


def _check_text(text: str, chosen: "Sequence[Experiment]", takers: "Sequence[str]") -> None:
    """Raise where a text of the user's cannot be used.

    Raises:
        ConfigError: no experiment takes it, or there is nothing in it that can be written down.
    """
    from regard.errors import ConfigError

    if len(chosen) > 1 or not chosen[0].text:
        name = _ALL if len(chosen) > 1 else chosen[0].name
        raise ConfigError(f"{text[:60]!r}: {name} takes no text of yours; these do: {', '.join(takers)}")
    if not text.strip() or any(
        "\ud800" <= character <= "\udfff" for character in text
    ):  # bytes that are no UTF-8
        raise ConfigError(f"{text[:60]!r}: is no line of text; give {chosen[0].text}")


def _room(out: Path | None, usual: Path) -> Path:
    """Where to write: what the user named, if nothing is there yet, or the usual folder with a number behind it.

    Raises:
        ConfigError: the folder named by the user is taken.
    """
    from regard.errors import ConfigError
    from regard.whole_file import free_folder

    def taken(path: Path) -> bool:
        return path.exists() and (not path.is_dir() or any(path.iterdir()))

    if out is None:
        return free_folder(usual, taken)
    if taken(out):
        raise ConfigError(f"--out {out}: something is there already; choose another folder")
    return out
