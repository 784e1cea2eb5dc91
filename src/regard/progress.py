"""A long job as the terminal shows it: a live bar with facts and the time left, or a plain line now and then.

In: how much is done, for how long, and a few facts. Out: text on a `rich` console. Knows nothing of what is done.
"""

import time
from importlib.util import find_spec
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PLAIN_EVERY = 10.0
"""Seconds between two plain lines of progress, where there is no terminal for a live bar."""

_UNKNOWN = "–:––"


def clock(seconds: float) -> str:
    """Minutes and seconds, as 2:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def can_redraw(console: Console) -> bool:
    """Whether a console can show a live bar: a terminal, or a notebook with ipywidgets."""
    return console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)


class ProgressBar:
    """The bar of one job; use it as a context around the work. Subclasses decide what to show when.

    Args:
        doing: what is being done, such as "training".
        console: where it is shown.
        live: whether to redraw a bar; otherwise a plain line is printed now and then.
    """

    def __init__(self, doing: str, console: Console, *, live: bool) -> None:
        self._live, self._console = live, console
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn(f"[bold]{doing}[/]"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("[dim]left[/] {task.fields[left]}"),
            console=console,
            disable=not live,
            transient=True,
        )
        self._task = self._bar.add_task(doing, total=None, facts="", left=_UNKNOWN)
        self._printed = 0.0  # when the last plain line was

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _show(self, fraction: float | None, seconds: float, facts: str, plain: str) -> None:
        """Redraw the bar, or print a line if the last one was some time ago.

        Args:
            fraction: how much is done, 0 to 1; None where that is not known.
            seconds: how long it took.
            facts: shown beside the bar.
            plain: the beginning of a plain line.
        """
        left = clock(seconds * (1 - fraction) / fraction) if fraction else _UNKNOWN
        if self._live:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, total=total, completed=fraction or 0.0, facts=facts, left=left)
        elif time.monotonic() - self._printed >= PLAIN_EVERY:
            self._printed = time.monotonic()
            self._console.print(f"{plain}  {clock(seconds)} elapsed, {left} left")
