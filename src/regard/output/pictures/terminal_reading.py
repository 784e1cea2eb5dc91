"""The growing sentence in a terminal.

In: words and attention of each over those before it. Out: a rich renderable with a row a step, the newest word marked
and the words it looked at shaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderResult

from regard.output.pictures.reading import check_square
from regard.output.pictures.terminal_words import WordPainter


@dataclass(frozen=True, eq=False)
class TerminalReading:
    """A reading for `rich`; print it with ``Console().print(...)``.

    Attributes:
        labels: U words in their order.
        alpha: (U, U) from 0 to 1: row t is where word t looked.
    """

    labels: Sequence[str]
    alpha: NDArray[np.floating]

    def __post_init__(self) -> None:
        check_square(self.labels, self.alpha)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a row a word, each of as many lines as it needs."""
        painter = WordPainter.on(console, options)
        digits = len(str(len(self.labels)))
        for step, row in enumerate(self.alpha.tolist()):
            yield from painter.paragraph(
                self.labels[: step + 1], row[: step + 1], newest=step, gutter=f"{step + 1:>{digits}}  "
            )
