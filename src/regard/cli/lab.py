"""``regard lab``: list the experiments, run one, or run all of them, with their progress in the terminal."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
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
from regard.cli.options import MAX_SEED
from regard.progress import PLAIN_EVERY, clock

if TYPE_CHECKING:
    from regard.lab import Experiment
    from regard.lab.runner import Bench
    from regard.lab.runner.bench import Reporter
    from regard.lab.runner.experiment import Result
    from regard.lab.runner.run import Status


_ALL = "all"
_COLOURS = {"held": "green", "held in part": "yellow", "not seen here": "red", "not decided": "dim"}
_SYMBOLS = {"held": "●", "held in part": "◐", "not seen here": "○", "not decided": "◌"}
_OUTCOMES = {"yes": "[green]●[/]", "no": "[red]○[/]", "not decided": "[dim]◌[/]"}
_LISTED = ("name", "title", "claim", "source", "method", "decides", "seconds", "text", "seed")


def lab(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="An experiment, or all; without a name they are listed.")
    ] = None,
    text: Annotated[
        str | None, typer.Argument(help="Your own text, for the experiments that take one.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the experiments and how long each takes, as without a name.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Run longer: more data, updates and seeds.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The first seed; equal seeds give equal numbers. By default the registered one, which decides.",
            min=0,
            max=MAX_SEED,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; by default runs/lab-NAME, or runs/lab for all.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of parallel processes; by default one per core.", min=1)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Test the claims of five lectures on attention: each experiment trains, measures, plots and computes a verdict.

    Writes a folder with result.json (every number), figures as PNG and SVG,
    and an HTML page. With the name all, it runs every experiment, in about
    an hour on two cores, and also writes one report; the same command
    continues a run that was interrupted.

    Seeds, sizes and bounds are registered in a file beside each experiment.
    A run with other ones (--seed) is shown as not registered.

    [bold]Examples[/]

      regard lab

      regard lab length

      regard lab reading "the agents near the bank are chasing a thief ."

      regard lab all --out runs/lab
    """
    from regard.config import one_of
    from regard.lab import EXPERIMENTS, find_experiment
    from regard.lab.runner import Bench
    from regard.worker_pool import num_cores

    if name is None or listed:
        _print_list([find_experiment(each) for each in EXPERIMENTS], json)
        return
    one_of("experiment", name, (*EXPERIMENTS, _ALL))
    chosen = [find_experiment(each) for each in (EXPERIMENTS if name == _ALL else (name,))]
    if text is not None:
        _check_text(text, chosen, [each for each in EXPERIMENTS if find_experiment(each).text])
    default = Path("runs") / ("lab" if name == _ALL else f"lab-{name}")
    bench = Bench(default, full=full, jobs=jobs or num_cores(), text=text or "")
    if name == _ALL:
        _run_all(chosen, replace(bench, folder=_folder_for_all(out, default, chosen, full, seed)), seed, json)
    else:
        own = replace(
            bench, folder=_choose_folder(out, default), seed=chosen[0].seed if seed is None else seed
        )
        _run_one(chosen[0], own, command_line(context), json)


def _print_list(experiments: "Sequence[Experiment[Any]]", json: bool) -> None:
    """Every experiment with its claim and about how long it takes."""
    if json:
        print_json([{field: getattr(each, field) for field in _LISTED} for each in experiments])
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
        f"\n[dim]times are minutes of one free core, {clock(total)} in all, {clock(total / 2)} on two; run one with[/] "
        "regard lab NAME"
    )
    results.print("[dim]or all of them, and read the report, with[/] regard lab all")


def _say_how_long(experiments: "Sequence[Experiment[Any]]", bench: "Bench") -> None:
    """About how long these will take on this many cores; nothing of the longer run, whose time is not known."""
    if not bench.full:
        seconds = sum(each.seconds for each in experiments) / bench.jobs
        names = experiments[0].name if len(experiments) == 1 else f"{len(experiments)} experiments"
        about = f"about {max(1, round(seconds / 60))} min" if seconds >= 30 else "less than a minute"
        notes.print(f"{names}: {about} on {bench.jobs} free core{'s' if bench.jobs > 1 else ''}")


def _run_one(experiment: "Experiment[Any]", bench: "Bench", command: str, json: bool) -> None:
    from regard.lab.runner.run import run_experiment

    _say_how_long([experiment], bench)

    with _progress(experiment.name, bench.jobs) as report:
        result = run_experiment(experiment, replace(bench, report=report), command)
    if json:
        print_json(asdict(result))
    else:
        _print_result(result, bench.folder)


def _print_result(result: "Result", folder: Path) -> None:
    """One experiment: its claim, the verdict, the checks, and where the files are."""
    from regard.lab.runner.experiment import format_number

    results.print(f"[bold]{escape(result.title)}[/]")
    results.print(f"[dim]the lectures:[/] {escape(result.claim)}")
    results.print(f"[dim]measured:[/]     {_verdict_word(result)}. {escape(result.verdict['because'])}")
    for reason in result.verdict["undecided"]:
        results.print(f"[dim]not decided:[/]  {escape(reason)}")
    if result.unregistered:
        results.print(f"[dim]not registered:[/] {escape(result.unregistered)}; this run decides nothing")
    results.print("")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim")
    for check in result.verdict["checks"]:
        note = " (control)" if check["control"] else ""
        interval = "" if check["interval"] is None else " … ".join(map(format_number, check["interval"]))
        table.add_row(
            f"{_OUTCOMES[check['outcome']]} {escape(check['what'])}",
            f"{format_number(check['value'])}{check['unit']}",
            interval,
            f"{check['relation']} {format_number(check['bound'])}{check['unit']}{note}",
        )
    results.print(Padding(table, (0, 0, 0, 2), expand=False), soft_wrap=False)
    results.print("")
    for figure in result.figures:
        results.print(f"figure: {(folder / (figure['name'] + '.png')).resolve()}", markup=False)
    results.print(f"page:   {(folder / 'page.html').resolve()}", markup=False)


def _verdict_word(result: "Result") -> str:
    word = str(result.verdict["word"])
    if result.unregistered:
        return f"[dim]◌ not registered ({word})[/]"
    return f"[{_COLOURS[word]}]{_SYMBOLS[word]} {word}[/]"


def _run_all(experiments: "list[Experiment[Any]]", bench: "Bench", seed: int | None, json: bool) -> None:
    from regard.lab.runner.run import run_all

    def command(name: str) -> str:
        options = (" --full" if bench.full else "") + ("" if seed is None else f" --seed {seed}")
        return f"regard lab {name}{options}"

    _say_how_long(
        [each for each in experiments if not (bench.folder / each.name / "result.json").exists()], bench
    )
    with _ProgressTable([each.name for each in experiments]) as progress:
        try:
            finished = run_all(experiments, bench, command, progress, seed=seed)
        finally:
            for name, reason in progress.failed.items():
                notes.print(f"[bold red]{name} failed:[/]")
                notes.print(reason, markup=False)
    if json:
        print_json({result.name: result.verdict for result in finished})
    else:
        _print_report(finished, bench.folder)
    if progress.failed:
        raise typer.Exit(1)


def _print_report(finished: "Sequence[Result]", folder: Path) -> None:
    """All verdicts, a line each, and where the report is."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(justify="right", style="dim", no_wrap=True)
    for result in finished:
        because = escape(result.verdict["because"])
        table.add_row(result.name, _verdict_word(result), because, clock(result.seconds))
    results.print(table, soft_wrap=False)
    if finished:
        results.print(f"\nreport: {(folder / 'report.html').resolve()}", markup=False)


class _ProgressTable:
    """Shows the progress of several experiments: a live row each, or plain lines; a listener for `run_all`.

    Attributes:
        failed: by name, why an experiment failed.

    Args:
        names: of the experiments, in the order they are shown in.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.failed: dict[str, str] = {}
        self._messages = dict.fromkeys(names, "")
        self._started: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self._live = Live(console=notes, get_renderable=self._render, refresh_per_second=4, transient=True)
        self._printed = time.monotonic()

    def __enter__(self) -> Self:
        if notes.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, status: "Status") -> None:
        """Take in a message of an experiment."""
        name = status.name
        self._started.setdefault(name, time.monotonic())
        self._messages[name] = status.message
        if status.failed:
            self.failed[name] = status.failed
            self._seconds[name] = time.monotonic() - self._started[name]
        if status.result is not None:
            self._seconds[name] = status.result.seconds
        if notes.is_terminal:
            return
        if name in self._seconds:
            notes.print(f"{name}: {status.message}, {clock(self._seconds[name])}", markup=False)
        elif time.monotonic() - self._printed >= PLAIN_EVERY:
            self._printed = time.monotonic()
            running = [
                f"{each}: {self._messages[each]}" for each in self._started if each not in self._seconds
            ]
            notes.print("; ".join(running), markup=False)

    def _render(self) -> Table:
        table = Table(box=None, pad_edge=False, show_header=False)
        for name, message in self._messages.items():
            started, seconds = self._started.get(name), self._seconds.get(name)
            if started is None:
                table.add_row(f"[dim]{name}[/]", "", "")
            elif seconds is None:
                table.add_row(f"[bold]{name}[/]", escape(message), clock(time.monotonic() - started))
            else:
                colour = _COLOURS.get(message, "red")
                table.add_row(name, f"[{colour}]{escape(message)}[/]", clock(seconds))
        return table


@contextmanager
def _progress(name: str, jobs: int) -> "Iterator[Reporter]":
    """Show the messages of one experiment, from whichever process they come.

    Args:
        name: of the experiment.
        jobs: processes it may use; one is this one.
    """
    from regard.lab.runner.run import QueueReporter

    with ExitStack() as stack:
        messages: Any = Queue()
        if jobs > 1:
            messages = stack.enter_context(get_context("spawn").Manager()).Queue()
        table = stack.enter_context(_ProgressTable([name]))
        printer = Thread(target=_show_messages, args=(messages, table), daemon=True)
        printer.start()
        try:
            yield QueueReporter(messages, name)
        finally:
            with suppress(OSError, EOFError):  # if the manager is gone, its error is reported elsewhere
                messages.put(None)
                printer.join()


def _show_messages(messages: Any, table: _ProgressTable) -> None:
    """Show messages until None arrives."""
    from regard.lab.runner.run import Status

    with suppress(OSError, EOFError):
        while (message := messages.get()) is not None:
            table(Status(*message))


def _check_text(text: str, chosen: "Sequence[Experiment[Any]]", takers: "Sequence[str]") -> None:
    """Refuse a text that cannot be used.

    Raises:
        ConfigError: the experiment takes no text, or it is blank or not valid UTF-8.
    """
    from regard.errors import ConfigError

    if len(chosen) > 1 or not chosen[0].text:
        name = _ALL if len(chosen) > 1 else chosen[0].name
        raise ConfigError(f"{text[:60]!r}: {name} takes no text; these do: {', '.join(takers)}")
    if not text.strip() or any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(f"{text[:60]!r}: is not a line of text; give {chosen[0].text}")


def _folder_for_all(
    out: Path | None, default: Path, experiments: "Sequence[Experiment[Any]]", full: bool, seed: int | None
) -> Path:
    """The folder the user named, or the default one: new, or with a run of the same settings to be continued.

    Raises:
        ConfigError: the folder named by the user has something else in it.
    """
    from regard.errors import ConfigError, DataError
    from regard.io import free_folder
    from regard.lab.runner.run import finished

    def taken(path: Path) -> bool:
        if not path.is_dir():
            return path.exists()
        if {each.name for each in path.iterdir()} - {each.name for each in experiments} - {"report.html"}:
            return True
        try:
            for each in experiments:
                finished(path / each.name, each, full=full, seed=each.seed if seed is None else seed)
        except DataError:
            return True
        return False

    if out is None:
        return free_folder(default, taken)
    if taken(out):
        raise ConfigError(
            f"--out {out}: something else is there already, or results of other settings; choose another folder"
        )
    return out


def _choose_folder(out: Path | None, default: Path) -> Path:
    """The folder the user named, if it is empty or new, or the default folder, with a number if it is taken.

    Raises:
        ConfigError: the folder named by the user is taken.
    """
    from regard.errors import ConfigError
    from regard.io import free_folder

    def taken(path: Path) -> bool:
        return path.exists() and (not path.is_dir() or any(path.iterdir()))

    if out is None:
        return free_folder(default, taken)
    if taken(out):
        raise ConfigError(f"--out {out}: something is there already; choose another folder")
    return out
