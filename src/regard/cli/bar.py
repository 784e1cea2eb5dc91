"""A long job as the terminal shows it: a live bar with facts and the time left, or a plain line now and then."""

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from regard.cli.console import PLAIN_EVERY, clock, notes

UNKNOWN = "–:––"


class Bar:
    """The bar of one job; use it as a context around the work. What is shown when, subclasses know.

    Args:
        doing: what is being done, such as "training".
        live: whether there is a terminal to draw on.
    """

    def __init__(self, doing: str, *, live: bool) -> None:
        self._live = live
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn(f"[bold]{doing}[/]"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("[dim]left[/] {task.fields[left]}"),
            console=notes,
            disable=not live,
            transient=True,
        )
        self._task = self._bar.add_task(doing, total=None, facts="", left=UNKNOWN)
        self._told = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _show(self, fraction: float | None, seconds: float, facts: str, plain: str) -> None:
        """Draw the bar, or print a line if the last was some time ago.

        Args:
            fraction: how much is done, 0 to 1; None where that is not known.
            seconds: how long it took.
            facts: for beside the bar.
            plain: the beginning of a plain line.
        """
        left = clock(seconds * (1 - fraction) / fraction) if fraction else UNKNOWN
        if self._live:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, total=total, completed=fraction or 0.0, facts=facts, left=left)
        elif time.monotonic() - self._told >= PLAIN_EVERY:
            self._told = time.monotonic()
            notes.print(f"{plain}  {clock(seconds)} gone, {left} left")
