"""Experiments as the terminal shows them while they run: a live line each, or plain lines now and then."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import Any, Self

from rich.live import Live
from rich.markup import escape
from rich.table import Table

from regard.cli.console import PLAIN_EVERY, clock, notes
from regard.cli.lab.shown import COLOURS
from regard.lab.bench.bench import Voice
from regard.lab.bench.run import Heard, QueueVoice

_END = None
"""Said last into a queue of messages."""


class Watch:
    """Shows how several experiments go; an ear for `regard.lab.bench.run.run_all`.

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
