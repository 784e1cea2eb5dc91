"""A pass over lines as the terminal shows it: a live bar, or a plain line now and then in a pipe."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from regard.cli.console import PLAIN_EVERY, clock, notes

if TYPE_CHECKING:
    from regard.output.translation import Translation


class LinesDisplay:
    """Is called with each line's translation as it is made; use it as a context around the work.

    Args:
        doing: what is being done, such as "translating".
        total: how many lines there are, if that is known.
        aside: whether the results go elsewhere than to the terminal, so that a bar is not in their way.
    """

    def __init__(self, doing: str, total: int | None = None, *, aside: bool = True) -> None:
        self._doing, self._total = doing, total
        self._live = notes.is_terminal and (aside or not sys.stdout.isatty())
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn(f"[bold]{doing}[/]"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("[dim]left[/] {task.fields[left]}"),
            console=notes,
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task(doing, total=total, facts="", left="–:––")
        self._lines = self._tokens = 0
        self._started = self._told = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, translation: "Translation") -> None:
        """Count a line."""
        self._lines += 1
        self._tokens += len(translation.tokens)
        gone = time.monotonic() - self._started
        facts = f"{self._lines:,} lines  {self._tokens / max(gone, 1e-9):,.0f} tokens/s"
        left = "–:––" if self._total is None else clock(gone * (self._total / self._lines - 1))
        if self._live:
            self._bar.update(self._task, completed=self._lines, facts=facts, left=left)
        elif time.monotonic() - self._told >= PLAIN_EVERY:
            self._told = time.monotonic()
            notes.print(f"{self._doing}: {facts}  {clock(gone)} gone, {left} left")
