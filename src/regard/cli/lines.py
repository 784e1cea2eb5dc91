"""A pass over lines as the terminal shows it."""

import sys
import time
from collections.abc import Sequence
from typing import Protocol

from regard.cli.bar import Bar
from regard.cli.console import notes


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
