"""Attention in a terminal: a heat map, and two side by side for an intervention.

In: alpha (rows, columns) and its labels, or a `WhatIf`. Out: rich renderables. Source words step down to their
columns, target words are at the left, a key is below. With colour the cells are greys, white for 0 and black for 1 on
dark terminals as on light ones; without, in a pipe or a log, they are blocks, a dot for 0 and full for 1. A what-if
adds a table of the steps: token, log-probability, most attended source token; differing steps are bold, forced ones
have an arrow.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.errors import DataError
from regard.evaluation.metrics import hundredths
from regard.plots.colours import ASCII_BLOCKS, BLOCKS, cell_colour, weight_block
from regard.plots.text import in_place, printable

if TYPE_CHECKING:
    from regard.tasks.translate.result import Translation
    from regard.tasks.translate.what_if import WhatIf


_WIDEST_LABEL = 18
_LAST_WORD = 8  # columns kept free at the right for the last source word


@dataclass(frozen=True, eq=False)
class TerminalAlignment:
    """A heat map for `rich`; print it with ``Console().print(...)``.

    Attributes:
        alpha: (rows, columns) from 0 to 1.
        source_labels: one per column.
        target_labels: one per row.
        key: whether a line below says what the shades mean.
    """

    alpha: NDArray[np.floating]
    source_labels: Sequence[str]
    target_labels: Sequence[str]
    key: bool = True

    def __post_init__(self) -> None:
        labels = (len(self.target_labels), len(self.source_labels))
        if self.alpha.shape != labels:
            raise DataError(
                f"alignment: alpha has shape {self.alpha.shape}, the labels {labels}; give one label per row and column"
            )

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The width of the map with all columns in one row."""
        label = self._label_width()
        widest = max((3 * j + cell_len(word) for j, word in enumerate(self.source_labels)), default=0)
        if self.key and widest:
            widest = max(widest, _MapLines.on(console, options).key().cell_len)
        return Measurement(min(label + 2 + _LAST_WORD, options.max_width), label + 1 + widest)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many columns side by side as fit, the rest below."""
        lines = _MapLines.on(console, options, self._label_width())
        room = max(1, options.max_width - lines.label - _LAST_WORD)
        num_source = len(self.source_labels)
        step = next((step for step in (3, 2) if step * num_source <= room), 2)
        side_by_side = max(1, room // step)
        for start in range(0, num_source, side_by_side):
            part = slice(start, start + side_by_side)
            if start:
                yield Text("")
            yield from lines.header(self.source_labels[part], step)
            for word, row in zip(self.target_labels, self.alpha[:, part], strict=True):
                yield lines.row(word, row, step)
        if self.key and num_source:
            yield Text("")
            yield lines.key()

    def _label_width(self) -> int:
        return min(max(map(cell_len, self.target_labels), default=0), _WIDEST_LABEL) + 1


@dataclass(frozen=True)
class _MapLines:
    """How one map is drawn."""

    label: int
    width: int
    colour: bool
    blocks: str
    stem: str

    @classmethod
    def on(cls, console: Console, options: ConsoleOptions, label: int = 0) -> "_MapLines":
        """Use what a console supports."""
        return cls(
            label=label,
            width=options.max_width,
            colour=shows_shades(console),
            blocks=ASCII_BLOCKS if options.ascii_only else BLOCKS,
            stem="|" if options.ascii_only else "│",
        )

    def key(self) -> Text:
        """Say what the shades mean."""
        colour = cell_colour if self.colour else None
        return shade_key("attention", colour, self.blocks, width=self.width, indent=self.label)

    def header(self, words: Sequence[str], step: int) -> Iterator[Text]:
        """Write each source word at its column, above the words it would overlap, with a stem below it."""
        shown = [cut_to_width(word, self.width - self.label - step * j) for j, word in enumerate(words)]
        heights = [0] * len(words)
        for j in reversed(range(len(words))):
            covers = -(-(cell_len(shown[j]) + 1) // step)  # columns, with a blank after the word
            heights[j] = 1 + max(heights[j + 1 : j + covers], default=0)
        for height in range(max(heights, default=0), 0, -1):
            line = Text(" " * self.label, no_wrap=True)
            for j, word in enumerate(shown):
                if heights[j] >= height:
                    line.append(" " * (self.label + step * j - line.cell_len))
                    line.append(*((in_place(word), "") if heights[j] == height else (self.stem, "dim")))
            yield line

    def row(self, word: str, weights: NDArray[np.floating], step: int) -> Text:
        """Write a target word and its cells."""
        name = cut_to_width(word, self.label - 1)
        line = Text(" " * (self.label - 1 - cell_len(name)) + in_place(name) + " ", no_wrap=True)
        for weight in weights.tolist():
            line.append(*self._cell(weight, step))
        if not self.colour:
            line.rstrip()
        return line

    def _cell(self, weight: float, width: int) -> tuple[str, Style]:
        """A cell and its style."""
        if self.colour:
            return " " * width, Style(bgcolor=cell_colour(weight))
        block = weight_block(weight, self.blocks)
        empty = block == self.blocks[0]
        return (block if empty else 2 * block).ljust(width), Style(dim=empty or None)


_COLOUR_SYSTEMS = ("256", "truecolor", "windows")  # with 16 colours there are no gradations


def shows_shades(console: Console) -> bool:
    """Whether a console has colours enough to shade a weight; otherwise blocks are printed."""
    return console.color_system in _COLOUR_SYSTEMS and not console.no_color


def shade_key(
    name: str,
    colour: Callable[[float], str] | None,
    blocks: str,
    *,
    width: int,
    indent: int = 0,
    end: float = 1.0,
) -> Text:
    """Say what shades mean: a name, 0, a cell for each shade, and the weight of the darkest.

    Args:
        name: of the weight; left out where it does not fit.
        colour: of a place between the lightest and the darkest, from 0 to 1; None for blocks.
        blocks: from the lightest to the darkest.
        width: of the console, in columns.
        indent: columns to its left, where they fit.
        end: the weight of the darkest.
    """
    number = f" {end:g}"
    forms = ((indent, f"{name} 0 ", 2), (0, f"{name} 0 ", 2), (0, "0 ", 2), (0, "0 ", 1))
    before, words, cell = next(
        (form for form in forms if form[0] + len(form[1]) + form[2] * len(blocks) + len(number) <= width),
        forms[-1],
    )
    line = Text(" " * before, no_wrap=True).append(words, "dim")
    for number_of_shade, block in enumerate(blocks):
        if colour is None:
            line.append(block * cell)
        else:
            line.append(" " * cell, Style(bgcolor=colour(number_of_shade / (len(blocks) - 1))))
    return line.append(number, "dim")


def cut_to_width(word: str, width: int) -> str:
    """Make a word printable and cut it to a number of terminal columns, the cut marked with an ellipsis.

    Args:
        word: of any length.
        width: in columns.
    """
    shown = printable(word)
    return shown if cell_len(shown) <= width else set_cell_size(shown, max(width - 1, 0)) + "…" * (width > 0)


_GAP = 4  # columns between two heat maps
_WIDEST = 18  # columns of a word


@dataclass(frozen=True, eq=False)
class TerminalWhatIf:
    """A what-if for `rich`; print it with ``Console().print(...)``.

    Attributes:
        what_if: the two translations.
    """

    what_if: "WhatIf"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the translations, the steps and the heat maps."""
        arrow, minus = ("<", "-") if options.ascii_only else ("◂", "\N{MINUS SIGN}")
        for name, one in (("before", self.what_if.before), ("after", self.what_if.after)):
            line = Text(f"{name:<8}", "dim", no_wrap=True)
            line.append(printable(one.text), "not dim bold")
            yield line.append(f"  {hundredths(one.score, minus)}")
        yield Text("")
        yield self._steps(arrow, minus)
        maps = [_map(one) for one in (self.what_if.before, self.what_if.after) if one.alpha is not None]
        if not maps:
            return
        yield Text("")
        widths = [Measurement.get(console, options, one).maximum for one in maps]
        if sum(widths) + _GAP <= options.max_width:
            side_by_side = Table.grid(padding=(0, _GAP, 0, 0))
            for width in widths:
                side_by_side.add_column(width=width)
            side_by_side.add_row(*maps)
            yield side_by_side
        else:
            yield from maps
        yield Text("")
        yield _MapLines.on(console, options).key()

    def _steps(self, arrow: str, minus: str) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("step", justify="right", style="dim")
        for name in ("before", "after"):
            table.add_column(name, no_wrap=True)
            table.add_column("log p", justify="right")
            table.add_column("attended", no_wrap=True)
        both = zip_longest(_rows(self.what_if.before, minus), _rows(self.what_if.after, minus))
        for step, (before, after) in enumerate(both):
            forced = f" {arrow}" if step in self.what_if.attend and after is not None else ""
            one, other = before or ("", "", ""), after or ("", "", "")
            style = "bold" if one[0] != other[0] else ""
            table.add_row(str(step), *one, *other[:2], other[2] + forced, style=style)
        return table


def _rows(translation: "Translation", minus: str) -> Sequence[tuple[str, str, str]]:
    """Each step's token, its log-probability, and its most attended source token."""
    attended = [""] * len(translation.tokens)
    if translation.alpha is not None:
        attended = [
            f"{cut_to_width(translation.source_tokens[int(row.argmax())], _WIDEST)} {row.max():.2f}"
            for row in translation.alpha
        ]
    words = [cut_to_width(token, _WIDEST) for token in translation.tokens]
    numbers = [hundredths(value, minus) for value in translation.token_log_probs]
    return list(zip(words, numbers, attended, strict=True))


def _map(translation: "Translation") -> TerminalAlignment:
    assert translation.alpha is not None, "only called with attention"
    return TerminalAlignment(translation.alpha, translation.source_tokens, translation.tokens, key=False)
