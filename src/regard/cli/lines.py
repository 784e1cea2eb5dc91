"""A pass over lines as the terminal shows it."""

import sys
import time
from typing import TYPE_CHECKING

from regard.cli.bar import Bar
from regard.cli.console import notes

if TYPE_CHECKING:
    from regard.output.translation import Translation


class LinesDisplay(Bar):
    """Is called with each line's translation as it is made; use it as a context around the work.

    Args:
        doing: what is being done, such as "translating".
        total: how many lines there are, if that is known.
        aside: whether the results go elsewhere than to the terminal, so that a bar is not in their way.
    """

    def __init__(self, doing: str, total: int | None = None, *, aside: bool = True) -> None:
        super().__init__(doing, live=notes.is_terminal and (aside or not sys.stdout.isatty()))
        self._doing, self._total = doing, total
        self._lines = self._tokens = 0
        self._started = self._told = time.monotonic()

    def __call__(self, translation: "Translation") -> None:
        """Count a line."""
        self._lines += 1
        self._tokens += len(translation.tokens)
        gone = time.monotonic() - self._started
        facts = f"{self._lines:,} lines  {self._tokens / max(gone, 1e-9):,.0f} tokens/s"
        fraction = None if self._total is None else self._lines / self._total
        self._show(fraction, gone, facts, f"{self._doing}: {facts}")
