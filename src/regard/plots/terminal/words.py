"""Words with weights or tags in a terminal: classifications, readings, taggings.

In: words with a weight each, or a tagging. Out: rich renderables, wrapped to the terminal. With colour each word is on
the colour of its weight, on white whatever the terminal's background; without, blocks below it show the weight, and
the newest word is in brackets. A tag less probable than one half is followed by a question mark.
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

from regard.plots.colours import (
    ASCII_BLOCKS,
    BLOCKS,
    HIGHLIGHT,
    INK,
    highlight_is_legible,
    tag_colours,
    weight_block,
    weight_colour,
)
from regard.plots.figures.words import check_square, leading_labels, pooling_scale_end
from regard.plots.terminal.heatmap import cut_to_width, shade_key, shows_shades
from regard.plots.text import wrap

if TYPE_CHECKING:
    from regard.tasks.classify.result import Classification
    from regard.tasks.tag.result import Tagging


@dataclass(frozen=True)
class WeightedWords:
    """Writes words with their weights.

    Attributes:
        width: columns of a line.
        colour: whether weights are shown as colours.
        blocks: the characters used instead.
    """

    width: int
    colour: bool
    blocks: str

    @classmethod
    def on(cls, console: Console, options: ConsoleOptions) -> "WeightedWords":
        """Use what a console supports."""
        return cls(
            width=options.max_width,
            colour=shows_shades(console),
            blocks=ASCII_BLOCKS if options.ascii_only else BLOCKS,
        )

    def paragraph(
        self, words: Sequence[str], weights: Sequence[float], *, newest: int | None = None, gutter: str = ""
    ) -> Iterator[Text]:
        """Write words in wrapped lines.

        Args:
            words: in their order.
            weights: one per word, from 0 to 1.
            newest: the index of the word to highlight.
            gutter: text before the first line; the others are indented by its width.
        """
        room = max(self.width - cell_len(gutter), 3)
        shown = [cut_to_width(word, room - 2) for word in words]
        if self.colour:
            forms = [f" {word} " for word in shown]
        else:
            forms = [f"[{word}]" if number == newest else word for number, word in enumerate(shown)]
        lines = wrap([cell_len(form) for form in forms], room, 0 if self.colour else 1).lines()
        for number, line in enumerate(lines):
            start = gutter if number == 0 else " " * cell_len(gutter)
            if self.colour:
                yield self._coloured_line(start, [(forms[k], weights[k], k == newest) for k in line])
            else:
                yield from self._block_lines(start, [(forms[k], weights[k]) for k in line])

    def key(self, name: str, *, indent: int = 0, end: float = 1.0) -> Text:
        """Say what the shades mean, as `shade_key` does; a word without one has the lightest."""
        colour = weight_colour if self.colour else None
        blocks = self.blocks if self.colour else f" {self.blocks[1:]}"
        return shade_key(name, colour, blocks, width=self.width, indent=indent, end=end)

    def _coloured_line(self, start: str, words: Sequence[tuple[str, float, bool]]) -> Text:
        text = Text(start, "dim", no_wrap=True)
        for form, weight, newest in words:
            style = Style(
                color=HIGHLIGHT if newest and highlight_is_legible(weight) else INK,
                bgcolor=weight_colour(weight),
                bold=newest,
                underline=newest,
                dim=False,
            )
            text.append(form, style)
        return text

    def _block_lines(self, start: str, words: Sequence[tuple[str, float]]) -> Iterator[Text]:
        text, beneath = Text(start, no_wrap=True), " " * cell_len(start)
        for form, weight in words:
            mark = weight_block(weight, self.blocks)
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
        classifications: to print them one by one, make one renderable of each.
        end: the weight of the darkest colour; by default `pooling_scale_end` of these.
    """

    classifications: "Sequence[Classification]"
    end: float | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw one below the other, a blank line between them."""
        writer = WeightedWords.on(console, options)
        end = self.end or pooling_scale_end(self.classifications) or 1.0
        for number, one in enumerate(self.classifications):
            if number:
                yield Text("")
            yield _heading(one, options.max_width)
            for k, units in enumerate(one.units):
                weights = one.word_alpha[k] / end if one.word_alpha else [0.0] * len(units.labels)
                yield from writer.paragraph(units.labels, list(weights), gutter="  ")
        if any(one.word_alpha for one in self.classifications):
            yield writer.key("pooling weight", indent=2, end=end)


def _heading(one: "Classification", width: int) -> Text:
    """The predicted label, then as many others as one line holds."""
    text = Text(cut_to_width(f"{one.label}: {100 * one.probability:.0f} %", width), "bold", no_wrap=True)
    for label, probability in leading_labels(one):
        rest = cut_to_width(f"   {label}: {100 * probability:.0f} %", width)
        if label != one.label and text.cell_len + cell_len(rest) <= width:
            text.append(rest, "not bold dim")
    return text


@dataclass(frozen=True, eq=False)
class TerminalReading:
    """A reading for `rich`; print it with ``Console().print(...)``.

    Attributes:
        labels: U words in their order.
        alpha: (U, U) from 0 to 1: row t is the attention of word t.
    """

    labels: Sequence[str]
    alpha: NDArray[np.floating]

    def __post_init__(self) -> None:
        check_square(self.labels, self.alpha)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw one row per word, each of as many lines as it needs."""
        writer = WeightedWords.on(console, options)
        digits = len(str(len(self.labels)))
        for step, row in enumerate(self.alpha.tolist()):
            yield from writer.paragraph(
                self.labels[: step + 1], row[: step + 1], newest=step, gutter=f"{step + 1:>{digits}}  "
            )
        if self.labels:
            yield writer.key("attention", indent=digits + 2)


_DOUBTFUL = 0.5


@dataclass(frozen=True)
class TerminalTagging:
    """A tagged sentence for `rich`; print it with ``Console().print(...)``.

    Attributes:
        tagging: the tagged sentence.
        colours: of the tags, from `tag_colours` for several sentences; by default for this one.
    """

    tagging: "Tagging"
    colours: Mapping[str, str] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many words side by side as fit, each above its tag, the rest below."""
        one = self.tagging
        colours = self.colours or tag_colours(one.tags)
        words = [cut_to_width(word, options.max_width) for word in one.words]
        tags = [
            cut_to_width(tag if probability >= _DOUBTFUL else f"{tag}?", options.max_width)
            for tag, probability in zip(one.tags, one.probabilities, strict=True)
        ]
        widths = [max(cell_len(word), cell_len(tag)) for word, tag in zip(words, tags, strict=True)]
        for number, line in enumerate(wrap(widths, options.max_width, 1).lines()):
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
