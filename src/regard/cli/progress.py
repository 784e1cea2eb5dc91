"""A long job as the terminal shows it: a live bar with facts and the time left, or a plain line now and then.

A pass over lines as the terminal shows it.

A training run as the terminal shows it.
"""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from regard.cli.console import PLAIN_EVERY, clock, notes
from regard.evaluation.metrics import display_name, format_score
from regard.training.events import Event, Note, Progress, Validated

UNKNOWN = "–:––"


class Bar:
    """The bar of one job; use it as a context around the work. What is shown when, subclasses know.

    Args:
        doing: what is being done, such as "training".
        live: whether there is a terminal to draw on.
    """

    def __init__(self, doing: str, *, live: bool) -> None:
        self._live = live
        self._bar = ProgressBar(
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


class Written(Protocol):
    """A translation, a description, or whatever else has tokens to be counted."""

    @property
    def tokens(self) -> Sequence[str]:
        """Their display forms."""
        ...


class LinesDisplay(Bar):
    """Is called with what is made of each line, as it is made; use it as a context around the work.

    Args:
        doing: what is being done, such as "translating".
        total: how many lines there are, if that is known.
        aside: whether the results go elsewhere than to the terminal, so that a bar is not in their way.
        plain: whether a line is printed now and then where there is no terminal to draw on.
    """

    def __init__(
        self, doing: str, total: int | None = None, *, aside: bool = True, plain: bool = True
    ) -> None:
        super().__init__(doing, live=notes.is_terminal and (aside or not sys.stdout.isatty()))
        self._doing, self._total, self._plain = doing, total, plain
        self._lines = self._tokens = 0
        self._started = self._told = time.monotonic()

    def __call__(self, written: Written) -> None:
        """Count a line."""
        self.count(len(written.tokens))

    def count(self, num_tokens: int) -> None:
        """Count a line of so many tokens."""
        self._lines += 1
        self._tokens += num_tokens
        if not (self._live or self._plain):
            return
        gone = time.monotonic() - self._started
        facts = f"{self._lines:,} lines  {self._tokens / max(gone, 1e-9):,.0f} tokens/s"
        fraction = None if self._total is None else self._lines / self._total
        self._show(fraction, gone, facts, f"{self._doing}: {facts}")


class TrainingDisplay(Bar):
    """A listener for `regard.training`; use it as a context around the run."""

    def __init__(self) -> None:
        super().__init__("training", live=notes.is_terminal)

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Note():
                notes.print(event.text, style="dim", markup=False)
            case Validated():
                self._validated(event)
            case Progress():
                self._progressed(event)

    def _progressed(self, event: Progress) -> None:
        share = "" if event.fraction is None else f" ({100 * event.fraction:.0f} %)"
        speed = f"{event.tokens_per_second:,.0f} tokens/s"
        self._show(
            event.fraction,
            event.seconds,
            f"update {event.update:,}  loss {event.loss:.3f}  {speed}",
            f"update {event.update:,}{share}  loss {event.loss:.3f}  rate {event.learning_rate:.2g}  {speed}",
        )

    def _validated(self, event: Validated) -> None:
        numbers = {name: value for name, value in event.validation.to_json().items() if name != "loss"}
        told = ", ".join(
            f"{display_name(name)} {format_score(name, value)}" for name, value in numbers.items()
        )
        mark = "; [green]best so far[/]" if event.best else ""
        notes.print(f"validation at update {event.update:,}: {told}{mark}")
