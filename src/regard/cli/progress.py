"""The progress of a command that works through lines, such as translating, tagging or scoring."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from regard.cli.console import notes
from regard.progress import ProgressBar, can_redraw, extrapolate

if TYPE_CHECKING:
    from regard.training.prepare import PrepareProgress


class HasTokens(Protocol):
    """A translation, a caption, or anything else whose tokens can be counted."""

    @property
    def tokens(self) -> Sequence[str]:
        """As they are displayed."""
        ...


class LinesDisplay(ProgressBar):
    """Counts results as they are made; use it as a context around the work.

    Args:
        doing: what is being done, such as "translating".
        total: the number of lines, if that is known.
        files: where the lines are read, to count them; standard input cannot be counted.
        to_file: whether the results go to a file: a bar on the terminal does not disturb them.
        plain: whether a line is printed now and then where there is no terminal for a bar.
    """

    def __init__(
        self,
        doing: str,
        total: int | None = None,
        *,
        files: Sequence[str | Path] = (),
        to_file: bool = True,
        plain: bool = True,
    ) -> None:
        live = notes.is_terminal and (to_file or not sys.stdout.isatty())
        super().__init__(doing, notes, live=live)
        self._total, self._plain = total, plain
        if files and (live or plain):
            from regard.text.formats import count_lines

            self._total = count_lines(files)
        self._lines = self._tokens = 0
        self._started = self._printed = time.monotonic()

    def __call__(self, result: HasTokens) -> None:
        """Count a result."""
        self.count(len(result.tokens))

    def count(self, num_tokens: int) -> None:
        """Count a line of some tokens."""
        self._lines += 1
        self._tokens += num_tokens
        if not (self._live or self._plain):
            return
        seconds = time.monotonic() - self._started
        fraction = None if not self._total else self._lines / self._total
        counted = f"{self._lines:,} line{'' if self._lines == 1 else 's'}"
        left = extrapolate(seconds, fraction)
        self._show(counted, fraction, seconds, left, (f"{self._tokens / max(seconds, 1e-9):,.0f} tokens/s",))


class PrepareDisplay(ProgressBar):
    """Counts examples as they are encoded; nothing is shown before the first."""

    def __init__(self) -> None:
        super().__init__("preparing", notes, live=can_redraw(notes))
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def report(self, done: "PrepareProgress") -> None:
        """Show how far preparing is."""
        if self._live:
            self._display.start()
        seconds = time.monotonic() - self._started
        speed = done.num_read / max(seconds, 1e-9)
        fraction = done.num_read / done.total
        left = extrapolate(seconds, fraction)
        self._show(f"{done.num_read:,} examples", fraction, seconds, left, (f"{speed:,.0f} examples/s",))
