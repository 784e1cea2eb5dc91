"""A long job as the terminal shows it: one line, redrawn, or printed anew every ten seconds.

In: how much is done, for how long, and a few facts. Out: text on a `rich` console, in one format for every job::

    training  42 %  epoch 3.4  1:05 elapsed, 1:29 left  update 1,500  loss 2.346  12,346 tokens/s

A line is never cut: what a narrow terminal has no room for is left out from the end, the facts first. Knows nothing of
what is done.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

PLAIN_EVERY = 10.0
"""Seconds between two plain lines of progress, where there is no terminal for a live one."""

_GAP = "  "
_REDRAWN = 4  # times a second


def clock(seconds: float) -> str:
    """Minutes and seconds as 2:05, with hours as 1:02:05."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def can_redraw(console: Console) -> bool:
    """Whether a console can show a live line: a terminal, or a notebook with ipywidgets."""
    return console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)


def extrapolate(seconds: float, fraction: float | None) -> float | None:
    """How long the rest of an even job takes, of which a fraction took some seconds; None before anything is done."""
    return seconds * (1 - min(fraction, 1.0)) / fraction if fraction else None


@dataclass(frozen=True)
class Status:
    """How far a job is.

    Attributes:
        doing: what is being done, such as "training".
        place: where in its data it is, such as "epoch 3.4" or "12 lines".
        fraction: how much is done, 0 to 1; None where that is not known.
        seconds: how long that took.
        left: how long the rest will take; None where that is not known.
        facts: more to say, the most important first.
    """

    doing: str
    place: str
    fraction: float | None
    seconds: float
    left: float | None = None
    facts: Sequence[str] = ()

    def line(self, width: int | None = None, since: float = 0.0) -> str:
        """The status in one line.

        Args:
            width: in characters; facts that exceed it are left out.
            since: the seconds since the job was so far.
        """
        parts = [self.doing]
        times = f"{clock(self.seconds + since)} elapsed"
        if self.fraction is not None:
            parts.append(f"{int(100 * self.fraction)} %")
        if self.left is not None:
            times += f", {clock(max(self.left - since, 0.0))} left"
        line = _GAP.join([*parts, self.place, times])
        for fact in self.facts:
            if width is not None and len(line) + len(_GAP) + len(fact) > width:
                break
            line += _GAP + fact
        return line


class ProgressBar:
    """The progress of one job; use it as a context around the work. Subclasses decide what to show when.

    Args:
        doing: what is being done, such as "training".
        console: where it is shown.
        live: whether to redraw a line; otherwise a plain one is printed now and then.
    """

    def __init__(self, doing: str, console: Console, *, live: bool) -> None:
        self._live, self._console = live, console
        self._doing = doing
        self._status: Status | None = None
        self._shown = self._printed = (
            0.0  # when the status was shown, and when the last plain line was printed
        )
        self._display = Live(self, console=console, transient=True, refresh_per_second=_REDRAWN)

    def __enter__(self) -> Self:
        if self._live:
            self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = self._doing
        if self._status is not None:  # the clock runs on between two reports
            line = self._status.line(options.max_width, time.monotonic() - self._shown)
        text = Text(line, no_wrap=False, overflow="fold")  # whatever the console does with long lines
        text.stylize("bold", 0, len(self._doing))
        yield text

    def _show(
        self, place: str, fraction: float | None, seconds: float, left: float | None, facts: Sequence[str]
    ) -> None:
        """Redraw the line, or print one if the last was some time ago; arguments as of `Status`."""
        fraction = None if fraction is None else min(fraction, 1.0)
        self._status = Status(self._doing, place, fraction, seconds, left, facts)
        self._shown = time.monotonic()
        if not self._live and self._shown - self._printed >= PLAIN_EVERY:
            self._printed = self._shown
            self._console.print(self._status.line(), markup=False)
