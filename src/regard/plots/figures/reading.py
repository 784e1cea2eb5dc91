"""Attention of a language model over its own past, like Figure 1 of Cheng, Dong & Lapata (2016).

In: words, and the attention of each over the words before it. Out: a matplotlib `Figure` with one row per step: the
sentence so far, its newest word red, bold and underlined, the attended words on blue, darker for more weight, on the
same scale from 0 to 1 in every figure. Long sentences get smaller text, then rows of several lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.plots.colours import HIGHLIGHT, INK, MUTED, highlight_is_legible, weight_colour
from regard.plots.figures.canvas import new_figure, page_axes, require_matplotlib
from regard.plots.figures.fonts import Font, draw_scale, fill_rectangle, scale_width
from regard.plots.text import WrappedWords, is_right_to_left, truncate, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_LINE_WIDTH = 9.0  # inches of a line of words
_PADDING = 0.22  # of an em, between a word and the edge of its background
_LINE, _ROW_GAP = 1.75, 0.35  # ems from line to line, and the extra space between rows
_KEY = "newest word"
_SCALE = "attention"


def draw_reading(labels: Sequence[str], alpha: NDArray[np.floating], *, title: str | None = None) -> Figure:
    """Draw the sentence as it was read, step by step.

    Args:
        labels: U words in their order.
        alpha: (U, U) from 0 to 1: row t is the attention of word t.
        title: a line above it.

    Raises:
        DataError: the labels do not fit alpha.
        MissingExtraError: matplotlib is not installed.
    """
    check_square(labels, alpha)
    require_matplotlib()
    labels = [truncate(label) for label in labels]
    font = Font.covering([*labels, title or "", _KEY], float(np.interp(len(labels), [12, 40], [12.0, 9.0])))
    small = font.smaller(0.75)
    padding = _PADDING * font.em
    # bold text is wider; a word has the same position in every row
    widths = [max(font.width(word), font.width(word, bold=True)) + 2 * padding for word in labels]
    right_to_left = is_right_to_left(labels)
    paragraph = wrap(widths, _LINE_WIDTH, 0.12 * font.em, right_to_left=right_to_left)
    gutter = small.width(str(len(labels))) + 0.8 * font.em
    tops = _tops(paragraph, font)
    head = 2 * font.em if title else 0.0
    foot = 2.2 * small.em if labels else 0.0
    least = scale_width(small, _SCALE) + small.width(_KEY, bold=True) + 2 * small.em
    inner = max(gutter + paragraph.width, least, font.width(title or "", bold=True))
    figure = new_figure(inner + 2 * _MARGIN, head + tops[-1] + foot + 2 * _MARGIN)
    axes = page_axes(figure)
    if title:
        font.write(axes, _MARGIN, _MARGIN + font.em, title, bold=True)
    # rows are numbered at their start
    words_at = _MARGIN + (0.0 if right_to_left else gutter)
    number_at = _MARGIN + gutter + (paragraph.width if right_to_left else -0.7 * font.em)
    for step, row in enumerate(alpha.tolist()):
        baseline = _MARGIN + head + tops[step] + font.em
        small.write(axes, number_at, baseline, str(step + 1), colour=MUTED, align="right")
        _draw_row(axes, font, labels[: step + 1], row, paragraph, (words_at, baseline))
    if labels:
        baseline = _MARGIN + head + tops[-1] + foot - 0.4 * small.em
        end = draw_scale(axes, small, _MARGIN, baseline, _SCALE)
        _write_newest(axes, small, end + 2 * small.em, baseline, _KEY, small.width(_KEY, bold=True))
    return figure


def check_square(labels: Sequence[str], alpha: NDArray[np.floating]) -> None:
    """Check that alpha has one row and one column per word.

    Raises:
        DataError: it has not.
    """
    if alpha.shape != (len(labels), len(labels)):
        raise DataError(
            f"reading: alpha has shape {alpha.shape}, but there are {len(labels)} labels; "
            "give one row and one column per label"
        )


def _tops(paragraph: WrappedWords, font: Font) -> list[float]:
    """The top of each row in inches, and the end of the last."""
    tops = [0.0]
    for place in paragraph.positions:
        lines = place.line + 1
        tops.append(tops[-1] + (lines * _LINE + (_ROW_GAP if paragraph.num_lines > 1 else 0)) * font.em)
    return tops


def _draw_row(
    axes: Axes,
    font: Font,
    words: Sequence[str],
    weights: Sequence[float],
    paragraph: WrappedWords,
    corner: tuple[float, float],
) -> None:
    """Write the sentence so far on the colours of its weights, the last word highlighted."""
    padding = _PADDING * font.em
    for number, (word, weight) in enumerate(zip(words, weights, strict=False)):
        place = paragraph.positions[number]
        left, baseline = corner[0] + place.left, corner[1] + place.line * _LINE * font.em
        if weight_colour(weight) != weight_colour(0):
            font.fill_background(axes, left, baseline, place.width, weight_colour(weight))
        middle = left + place.width / 2
        if number < len(words) - 1:
            font.write(axes, middle, baseline, word, align="center")
        else:
            _write_newest(axes, font, left + padding, baseline, word, place.width - 2 * padding, weight)


def _write_newest(
    axes: Axes, font: Font, left: float, baseline: float, word: str, width: float, weight: float = 0.0
) -> None:
    """Write the newest word bold, underlined and red; black where its background is too dark for red."""
    colour = HIGHLIGHT if highlight_is_legible(weight) else INK
    font.write(axes, left + width / 2, baseline, word, colour=colour, bold=True, align="center")
    fill_rectangle(axes, left, baseline + 0.2 * font.em, width, 0.11 * font.em, HIGHLIGHT)
