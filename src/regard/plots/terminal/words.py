"""Words with their weights, in a terminal.

In: words, a weight each, perhaps one that is the newest. Out: lines for `rich`, wrapped to the width there is. With
colour each word stands on the shade of its weight, on white paper whatever the terminal's own ground; without, in a
pipe or a log, blocks beneath it say the same, and the newest stands in brackets.

Classifications in a terminal: labels with their probabilities, then the words on the shade of their weight.

In: classifications. Out: a rich renderable, to one scale for all.

The growing sentence in a terminal.

In: words and attention of each over those before it. Out: a rich renderable with a row a step, the newest word marked
and the words it looked at shaded.

A tagged sentence in a terminal: two rows, words above and tags below, that wrap together.

In: a tagging. Out: a rich renderable. With colour a tag stands on its own tint; in any case one that is less probable
than not is followed by a question mark.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from regard.plots.figures.pooling import end_of_scale, leading_labels
from regard.plots.figures.reading import check_square
from regard.plots.figures.tags import tints
from regard.plots.style import ASCII_BLOCKS, BLOCKS, INK, NEWEST, block, flow, red_is_legible, shade
from regard.plots.terminal.heatmap import fitted

if TYPE_CHECKING:
    from regard.tasks.classify.result import Classification
    from regard.tasks.tag.result import Tagging


_SHADED = ("256", "truecolor", "windows")  # with 16 colours there are no shades


@dataclass(frozen=True)
class WordPainter:
    """How words are painted.

    Attributes:
        width: columns of a line.
        colour: whether shades can be shown.
        blocks: what stands for them where they cannot.
    """

    width: int
    colour: bool
    blocks: str

    @classmethod
    def on(cls, console: Console, options: ConsoleOptions) -> "WordPainter":
        """Paint for a console as it is."""
        return cls(
            width=options.max_width,
            colour=console.color_system in _SHADED and not console.no_color,
            blocks=ASCII_BLOCKS if options.ascii_only else BLOCKS,
        )

    def paragraph(
        self, words: Sequence[str], weights: Sequence[float], *, newest: int | None = None, gutter: str = ""
    ) -> Iterator[Text]:
        """Write words in lines.

        Args:
            words: in their order.
            weights: one each, from 0 to 1.
            newest: the number of the word to be told apart.
            gutter: what stands before the first line; the others are indented by it.
        """
        room = max(self.width - cell_len(gutter), 3)
        shown = [fitted(word, room - 2) for word in words]
        if self.colour:
            forms = [f" {word} " for word in shown]
        else:
            forms = [f"[{word}]" if number == newest else word for number, word in enumerate(shown)]
        lines = flow([cell_len(form) for form in forms], room, 0 if self.colour else 1).lines()
        for number, line in enumerate(lines):
            start = gutter if number == 0 else " " * cell_len(gutter)
            if self.colour:
                yield self._on_shades(start, [(forms[k], weights[k], k == newest) for k in line])
            else:
                yield from self._over_blocks(start, [(forms[k], weights[k]) for k in line])

    def _on_shades(self, start: str, words: Sequence[tuple[str, float, bool]]) -> Text:
        text = Text(start, "dim", no_wrap=True)
        for form, weight, newest in words:
            style = Style(
                color=NEWEST if newest and red_is_legible(weight) else INK,
                bgcolor=shade(weight),
                bold=newest,
                underline=newest,
                dim=False,
            )
            text.append(form, style)
        return text

    def _over_blocks(self, start: str, words: Sequence[tuple[str, float]]) -> Iterator[Text]:
        text, beneath = Text(start, no_wrap=True), " " * cell_len(start)
        for form, weight in words:
            mark = block(weight, self.blocks)
            text.append(f"{form} ")
            beneath += (" " if mark == self.blocks[0] else mark) * cell_len(form) + " "
        text.rstrip()
        yield text
        if beneath.strip():
            yield Text(beneath.rstrip(), no_wrap=True)


@dataclass(frozen=True, eq=False)
class TerminalPooling:
    """Classifications for `rich`; print it with ``Console().print(...)``.

    Attributes:
        classifications: any number; to print them as they come, make one of each.
        end: the weight that has the full shade; by default as `end_of_scale` has it for these.
    """

    classifications: "Sequence[Classification]"
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


def _heading(one: "Classification", width: int) -> Text:
    """The label chosen, then the others shown; as many as one line holds."""
    text = Text(fitted(f"{one.label} {100 * one.probability:.0f} %", width), "bold", no_wrap=True)
    for label, probability in leading_labels(one):
        rest = fitted(f"   {label} {100 * probability:.0f} %", width)
        if label != one.label and text.cell_len + cell_len(rest) <= width:
            text.append(rest, "not bold dim")
    return text


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


_DOUBTFUL = 0.5


@dataclass(frozen=True)
class TerminalTagging:
    """A tagged sentence for `rich`; print it with ``Console().print(...)``.

    Attributes:
        tagging: what to show.
        colours: of the tags, as `tints` gives them for several sentences; by default for this one.
    """

    tagging: "Tagging"
    colours: Mapping[str, str] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many words side by side as there is room for, each over its tag, the rest below."""
        one = self.tagging
        colours = self.colours or tints([one])
        words = [fitted(word, options.max_width) for word in one.words]
        tags = [
            fitted(tag if probability >= _DOUBTFUL else f"{tag}?", options.max_width)
            for tag, probability in zip(one.tags, one.probabilities, strict=True)
        ]
        widths = [max(cell_len(word), cell_len(tag)) for word, tag in zip(words, tags, strict=True)]
        for number, line in enumerate(flow(widths, options.max_width, 1).lines()):
            if number:
                yield Text("")
            above, below = Text(no_wrap=True), Text(no_wrap=True)
            for k in line:
                style = Style(color=INK, bgcolor=colours.get(one.tags[k]), bold=True)
                above.append(words[k] + " " * (widths[k] - cell_len(words[k]) + 1))
                below.append(tags[k], style)
                below.append(" " * (widths[k] - cell_len(tags[k]) + 1))
            above.rstrip()
            below.rstrip()
            yield above
            yield below
