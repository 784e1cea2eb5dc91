"""What the lab prints: the list of experiments, one result, the verdicts on all.

Experiments as the terminal shows them while they run: a live line each, or plain lines now and then.

``regard lab``: list the experiments, run one, or run them all.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from regard.cli.console import command_line, notes, print_json, results
from regard.lab.runner.bench import Voice
from regard.lab.runner.run import Heard, QueueVoice
from regard.progress import PLAIN_EVERY, clock

if TYPE_CHECKING:
    from regard.lab import Experiment
    from regard.lab.runner import Bench
    from regard.lab.runner.experiment import Result


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
    from regard.lab.page import number_written

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


_END = None
"""Said last into a queue of messages."""


class Watch:
    """Shows how several experiments go; an ear for `regard.lab.runner.run.run_all`.

    Attributes:
        failed: by name, why an experiment could not be done.

    Args:
        names: of the experiments, in the order they are shown in.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.failed: dict[str, str] = {}
        self._said = dict.fromkeys(names, "")
        self._begun: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._live = Live(console=notes, get_renderable=self._drawn, refresh_per_second=4, transient=True)
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        if notes.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, heard: Heard) -> None:
        """Take in what an experiment says."""
        name = heard.name
        self._begun.setdefault(name, time.monotonic())
        self._said[name] = heard.message
        if heard.failed:
            self.failed[name] = heard.failed
            self._took[name] = time.monotonic() - self._begun[name]
        if heard.result is not None:
            self._took[name] = heard.result.seconds
        if notes.is_terminal:
            return
        if name in self._took:
            notes.print(f"{name}: {heard.message}, {clock(self._took[name])}", markup=False)
        elif time.monotonic() - self._told >= PLAIN_EVERY:
            self._told = time.monotonic()
            working = [f"{each}: {self._said[each]}" for each in self._begun if each not in self._took]
            notes.print("; ".join(working), markup=False)

    def tell_failures(self) -> None:
        """Print why some could not be done."""
        for name, why in self.failed.items():
            notes.print(f"[bold red]{name} could not be done:[/]")
            notes.print(why, markup=False)

    def _drawn(self) -> Table:
        table = Table(box=None, pad_edge=False, show_header=False)
        for name, said in self._said.items():
            begun, took = self._begun.get(name), self._took.get(name)
            if begun is None:
                table.add_row(f"[dim]{name}[/]", "", "")
            elif took is None:
                table.add_row(f"[bold]{name}[/]", escape(said), clock(time.monotonic() - begun))
            else:
                colour = COLOURS.get(said, "red")
                table.add_row(name, f"[{colour}]{escape(said)}[/]", clock(took))
        return table


@contextmanager
def watched(name: str, jobs: int) -> Iterator[Voice]:
    """Show what one experiment says, from whichever process it says it.

    Args:
        name: of the experiment.
        jobs: how many processes it may use; one is this one.
    """
    with ExitStack() as stack:
        said: Any = Queue()
        if jobs > 1:
            said = stack.enter_context(get_context("spawn").Manager()).Queue()
        shower = Thread(target=_show, args=(name, said), daemon=True)
        shower.start()
        try:
            yield QueueVoice(said, name)
        finally:
            with suppress(OSError, EOFError):  # where the manager is gone, what went wrong is told elsewhere
                said.put(_END)
                shower.join()


def _show(name: str, said: Any) -> None:
    """Show what is said until the end of it."""
    started = told = time.monotonic()
    with notes.status(f"[bold]{name}[/]") as status, suppress(OSError, EOFError):
        while (heard := said.get()) is not _END:
            gone = time.monotonic() - started
            status.update(f"[bold]{name}[/] {escape(heard[1])} [dim]{clock(gone)}[/]")
            if not notes.is_terminal and time.monotonic() - told >= PLAIN_EVERY:
                told = time.monotonic()
                notes.print(f"{name}: {heard[1]}  {clock(gone)} gone", markup=False)


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
    from regard.config import one_of
    from regard.lab import EXPERIMENTS, find_experiment
    from regard.lab.runner import Bench
    from regard.lab.runner.bench import cores

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

    from regard.lab.runner.run import run_experiment

    with watched(experiment.name, bench.jobs) as voice:
        result = run_experiment(experiment, replace(bench, voice=voice), command)
    if json:
        print_json(asdict(result))
    else:
        print_result(result, bench.folder)


def _run_all(experiments: "list[Experiment]", bench: "Bench", json: bool) -> None:
    from regard.lab.runner.run import run_all

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
    from regard.io import free_folder

    def taken(path: Path) -> bool:
        return path.exists() and (not path.is_dir() or any(path.iterdir()))

    if out is None:
        return free_folder(usual, taken)
    if taken(out):
        raise ConfigError(f"--out {out}: something is there already; choose another folder")
    return out
