"""Classifications in a terminal: labels with their probabilities, then the words on the shade of their weight.

In: classifications. Out: a rich renderable, to one scale for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from regard.output.classification import Classification
from regard.output.pictures.pooling import end_of_scale, leading_labels
from regard.output.pictures.terminal import fitted
from regard.output.pictures.terminal_words import WordPainter


@dataclass(frozen=True, eq=False)
class TerminalPooling:
    """Classifications for `rich`; print it with ``Console().print(...)``.

    Attributes:
        classifications: any number; to print them as they come, make one of each.
        end: the weight that has the full shade; by default as `end_of_scale` has it for these.
    """

    classifications: Sequence[Classification]
    end: float | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw one below the other, a blank line between them."""
        painter = WordPainter.on(console, options)
        end = self.end or end_of_scale(self.classifications) or 1.0
        for number, one in enumerate(self.classifications):
            if number:
                yield Text("")
            yield _heading(one, options.max_width)
            for k, units in enumerate(one.units):
                weights = one.word_alpha[k] / end if one.word_alpha else [0.0] * len(units.labels)
                yield from painter.paragraph(units.labels, list(weights), gutter="  ")


def _heading(one: Classification, width: int) -> Text:
    """The label chosen, then the others shown; as many as one line holds."""
    text = Text(fitted(f"{one.label} {100 * one.probability:.0f} %", width), "bold", no_wrap=True)
    for label, probability in leading_labels(one):
        rest = fitted(f"   {label} {100 * probability:.0f} %", width)
        if label != one.label and text.cell_len + cell_len(rest) <= width:
            text.append(rest, "not bold dim")
    return text
