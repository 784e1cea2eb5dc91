"""Shapes of recurrent networks (one to many, many to one, …): boxes of inputs, states and outputs for real examples.

In: shapes, each with the words of one example and its scores. Out: a matplotlib `Figure`, as many panels per row as
fit the page. Inputs are below, states in the middle, outputs above; a dashed arrow feeds an output to the next state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.errors import DataError
from regard.plots.colours import FAINT, INK, MUTED, weight_colour
from regard.plots.figures.canvas import new_figure, page_axes
from regard.plots.figures.fonts import Font, fill_rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN, _PAGE = 0.2, 9.4  # inches; the page's width without its margins
_SIZE = 9.0
_BOX, _STATE = 0.27, 0.21  # inches: heights of the boxes of words and of states
_RISE = 0.24  # inches from one layer of boxes to the next
_GAP = 0.17  # inches between two columns
_APART, _BELOW = 0.55, 0.42  # inches between panels, side by side and one below the other
_BAR = 1.5  # inches: a score of 100
_HEAD = 0.52  # inches: title and subtitle
_FOOT, _EXPECTED = 0.48, 0.16  # inches: scores, and the expected output
_INPUT, _HIDDEN, _OUTPUT = "#efece5", "#3d7568", weight_colour(0.4)


@dataclass(frozen=True)
class Shape:
    """A kind of network with one example.

    Attributes:
        title: such as "many to one".
        subtitle: its input and output.
        inputs: for each step its input word, or None.
        outputs: for each step its output word, or None.
        fed: whether an output is fed to the next state.
        score: on the test set, from 0 to 100.
        baseline: the same score without a network.
        measure: the name of the score, such as "accuracy".
        against: the name of the baseline.
        meant: the expected output, where it differs.
    """

    title: str
    subtitle: str
    inputs: Sequence[str | None]
    outputs: Sequence[str | None]
    fed: bool
    score: float
    baseline: float
    measure: str
    against: str
    meant: str = ""

    @property
    def lines(self) -> tuple[str, str]:
        """The two lines beside the score bar."""
        return f"{self.measure} {self.score:.1f}", f"{self.against}: {self.baseline:.1f}"


def draw_shapes(shapes: Sequence[Shape]) -> Figure:
    """Draw shapes row by row.

    Raises:
        DataError: no shapes, or one without as many inputs as outputs.
        MissingExtraError: matplotlib is not installed.
    """
    if not shapes:
        raise DataError("a figure of shapes needs at least one; pass one or more")
    for shape in shapes:
        if len(shape.inputs) != len(shape.outputs) or not shape.inputs:
            raise DataError(
                f"shape {shape.title!r}: {len(shape.inputs)} inputs and {len(shape.outputs)} outputs; give one of "
                "each for every step, None where there is nothing"
            )
    font = Font.covering([text for shape in shapes for text in _texts(shape)], _SIZE)
    panels = [_Panel(shape, font) for shape in shapes]
    rows: list[list[_Panel]] = []
    for panel in panels:
        taken = sum(each.width + _APART for each in rows[-1]) if rows else 0.0
        if rows and taken + panel.width <= _PAGE:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    width = max(sum(each.width for each in row) + (len(row) - 1) * _APART for row in rows)
    tall = [max(panel.height for panel in row) for row in rows]
    figure = new_figure(width + 2 * _MARGIN, sum(tall) + (len(rows) - 1) * _BELOW + 2 * _MARGIN)
    axes = page_axes(figure)
    top = _MARGIN
    for row, height in zip(rows, tall, strict=True):
        left = _MARGIN
        for panel in row:
            panel.draw(axes, left, top)
            left += panel.width + _APART
        top += height + _BELOW
    return figure


def _texts(shape: Shape) -> list[str]:
    words = [word for word in (*shape.inputs, *shape.outputs) if word is not None]
    return [shape.title, shape.subtitle, shape.meant, *shape.lines, *words]


@dataclass(frozen=True)
class _Panel:
    """A shape and the font it is written in; lengths in inches."""

    shape: Shape
    font: Font

    @property
    def columns(self) -> list[float]:
        """The width of each step: of its wider word."""
        pairs = zip(self.shape.inputs, self.shape.outputs, strict=True)
        return [max(self._box_width(word or "") for word in pair) for pair in pairs]

    def _box_width(self, word: str) -> float:
        """The width of a word's box, at least that of a state."""
        return max(self.font.width(word, bold=True) + 0.16, _STATE)

    @property
    def height(self) -> float:
        """Of the whole panel."""
        return _HEAD + 2 * _BOX + _STATE + 2 * _RISE + _FOOT + (_EXPECTED if self.shape.meant else 0.0)

    @property
    def width(self) -> float:
        """Of the whole panel."""
        small = self.font.smaller(0.9)
        boxes = sum(self.columns) + _GAP * (len(self.columns) - 1)
        written = max(small.width(text) for text in (self.shape.subtitle, self._meant, self.shape.lines[1]))
        return max(boxes, written, _BAR + 0.12 + small.width(self.shape.lines[0], bold=True))

    @property
    def _meant(self) -> str:
        return f"expected: {self.shape.meant}" if self.shape.meant else ""

    def draw(self, axes: Axes, left: float, top: float) -> None:
        """Draw the panel with this upper left corner."""
        shape, small = self.shape, self.font.smaller(0.9)
        self.font.write(axes, left, top + 0.14, shape.title, bold=True)
        small.write(axes, left, top + 0.31, shape.subtitle, colour=MUTED)
        upper = top + _HEAD
        middle = upper + _BOX + _RISE
        lower = middle + _STATE + _RISE
        x, before = left, None
        for wide, word, given in zip(self.columns, shape.inputs, shape.outputs, strict=True):
            centre = x + wide / 2
            self._state(axes, centre, middle)
            if before is not None:
                _arrow(
                    axes,
                    (before[0] + _STATE / 2, middle + _STATE / 2),
                    (centre - _STATE / 2, middle + _STATE / 2),
                )
                if shape.fed and before[1]:
                    self._feed_back(axes, before[0], centre, upper + _BOX, middle)
            if word is not None:
                self._box(axes, centre, lower, word, _INPUT)
                _arrow(axes, (centre, lower), (centre, middle + _STATE))
            if given is not None:
                self._box(axes, centre, upper, given, _OUTPUT, bold=True)
                _arrow(axes, (centre, middle), (centre, upper + _BOX))
            before = (centre, given is not None)
            x += wide + _GAP
        self._scores(axes, left, lower + _BOX + 0.2)

    def _state(self, axes: Axes, centre: float, top: float) -> None:
        fill_rectangle(axes, centre - _STATE / 2, top, _STATE, _STATE, _HIDDEN)

    def _box(
        self, axes: Axes, centre: float, top: float, word: str, colour: str, *, bold: bool = False
    ) -> None:
        width = self._box_width(word)
        left = centre - width / 2
        fill_rectangle(axes, left, top, width, _BOX, colour)
        _outline(axes, left, top, width, _BOX)
        self.font.write(axes, centre, top + 0.66 * _BOX, word, bold=bold, align="center")

    def _feed_back(self, axes: Axes, start: float, end: float, top: float, bottom: float) -> None:
        """Draw a dashed arrow from an output to the next state."""
        _arrow(axes, (start + 0.05, top), (end - _STATE / 2 + 0.03, bottom), dashed=True)

    def _scores(self, axes: Axes, left: float, top: float) -> None:
        """Draw a bar for the score with a tick at the baseline, and write both."""
        shape, small = self.shape, self.font.smaller(0.9)
        fill_rectangle(axes, left, top, _BAR, 0.09, FAINT)
        fill_rectangle(axes, left, top, _BAR * shape.score / 100, 0.09, _HIDDEN)
        fill_rectangle(axes, left + _BAR * shape.baseline / 100 - 0.012, top - 0.04, 0.024, 0.17, INK)
        small.write(axes, left + _BAR + 0.12, top + 0.09, shape.lines[0], bold=True)
        small.write(axes, left, top + 0.27, shape.lines[1], colour=MUTED)
        small.write(axes, left, top + 0.42, self._meant, colour=MUTED)


def _outline(axes: Axes, left: float, top: float, width: float, height: float) -> None:
    right, bottom = left + width, top + height
    axes.plot([left, right, right, left, left], [top, top, bottom, bottom, top], color=MUTED, linewidth=0.6)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, dashed: bool = False) -> None:
    style: dict[str, Any] = {"arrowstyle": "-|>,head_length=0.28,head_width=0.13", "shrinkA": 0, "shrinkB": 0}
    style |= {"color": MUTED if dashed else INK, "linewidth": 0.7 if dashed else 0.9}
    if dashed:
        style["linestyle"] = (0, (2.5, 2))
    axes.annotate("", end, start, arrowprops=style)
