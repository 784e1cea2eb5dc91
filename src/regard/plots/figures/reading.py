"""The growing sentence, in the manner of the figure of Cheng, Dong & Lapata (2016): memory as a reader uses it.

In: words and attention of each over those before it. Out: a matplotlib `Figure` with a row a step: the sentence so
far, its newest word red and bold and underlined, the words it looked at on blue, the deeper the more weight they got,
on a scale from 0 to 1 that is the same for every picture. Long sentences get smaller letters, then rows of
several lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering, fill, scale, scale_width
from regard.plots.style import (
    INK,
    NEWEST,
    SOFT,
    Flow,
    flow,
    red_is_legible,
    runs_right_to_left,
    shade,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_ROOM = 9.0  # inches for a line of words
_PADDING = 0.22  # of an em, between a word and the edge of its ground
_LINE, _ROW_GAP = 1.75, 0.35  # ems: from line to line, and more from row to row
_KEY = "newest word"
_SHADES = "attention"


def draw_reading(labels: Sequence[str], alpha: NDArray[np.floating], *, title: str | None = None) -> Figure:
    """Draw a reading.

    Args:
        labels: U words in their order.
        alpha: (U, U) from 0 to 1: row t is where word t looked.
        title: a line above the picture.

    Raises:
        DataError: the labels do not fit alpha.
        MissingExtraError: matplotlib is not installed.
    """
    check_square(labels, alpha)
    require_matplotlib()
    labels = [shortened(label) for label in labels]
    letters = Lettering.of([*labels, title or "", _KEY], float(np.interp(len(labels), [12, 40], [12.0, 9.0])))
    small = letters.smaller(0.75)
    padding = _PADDING * letters.em
    # bold letters are wider; a word stands at the same place in every row
    widths = [max(letters.width(word), letters.width(word, bold=True)) + 2 * padding for word in labels]
    leftwards = runs_right_to_left(labels)
    paragraph = flow(widths, _ROOM, 0.12 * letters.em, right_to_left=leftwards)
    gutter = small.width(str(len(labels))) + 0.8 * letters.em
    tops = _tops(paragraph, letters)
    head = 2 * letters.em if title else 0.0
    foot = 2.2 * small.em if labels else 0.0
    least = scale_width(small, _SHADES) + small.width(_KEY, bold=True) + 2 * small.em
    inner = max(gutter + paragraph.width, least, letters.width(title or "", bold=True))
    figure = new_figure(inner + 2 * _MARGIN, head + tops[-1] + foot + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        letters.write(axes, _MARGIN, _MARGIN + letters.em, title, bold=True)
    # rows are numbered where they begin
    words_at = _MARGIN + (0.0 if leftwards else gutter)
    number_at = _MARGIN + gutter + (paragraph.width if leftwards else -0.7 * letters.em)
    for step, row in enumerate(alpha.tolist()):
        baseline = _MARGIN + head + tops[step] + letters.em
        small.write(axes, number_at, baseline, str(step + 1), colour=SOFT, align="right")
        _draw_row(axes, letters, labels[: step + 1], row, paragraph, (words_at, baseline))
    if labels:
        baseline = _MARGIN + head + tops[-1] + foot - 0.4 * small.em
        end = scale(axes, small, _MARGIN, baseline, _SHADES)
        _mark(axes, small, end + 2 * small.em, baseline, _KEY, small.width(_KEY, bold=True))
    return figure


def check_square(labels: Sequence[str], alpha: NDArray[np.floating]) -> None:
    """Check that there is a row and a column for each word.

    Raises:
        DataError: there is not.
    """
    if alpha.shape != (len(labels), len(labels)):
        raise DataError(
            f"reading: alpha has shape {alpha.shape}, but there are {len(labels)} labels; "
            "give one row and one column each"
        )


def _tops(paragraph: Flow, letters: Lettering) -> list[float]:
    """Inches from the first row's top to each row's top, and to the last one's end."""
    tops = [0.0]
    for place in paragraph.places:
        lines = place.line + 1
        tops.append(tops[-1] + (lines * _LINE + (_ROW_GAP if paragraph.num_lines > 1 else 0)) * letters.em)
    return tops


def _draw_row(
    axes: Axes,
    letters: Lettering,
    words: Sequence[str],
    weights: Sequence[float],
    paragraph: Flow,
    corner: tuple[float, float],
) -> None:
    """Write the sentence so far: grounds, then letters, the last word as the newest."""
    padding = _PADDING * letters.em
    for number, (word, weight) in enumerate(zip(words, weights, strict=False)):
        place = paragraph.places[number]
        left, baseline = corner[0] + place.left, corner[1] + place.line * _LINE * letters.em
        if shade(weight) != shade(0):
            letters.box(axes, left, baseline, place.width, shade(weight))
        middle = left + place.width / 2
        if number < len(words) - 1:
            letters.write(axes, middle, baseline, word, align="center")
        else:
            _mark(axes, letters, left + padding, baseline, word, place.width - 2 * padding, weight)


def _mark(
    axes: Axes, letters: Lettering, left: float, baseline: float, word: str, width: float, weight: float = 0.0
) -> None:
    """Write the newest word: bold, underlined, red; in black where its own ground is too deep for red."""
    colour = NEWEST if red_is_legible(weight) else INK
    letters.write(axes, left + width / 2, baseline, word, colour=colour, bold=True, align="center")
    fill(axes, left, baseline + 0.2 * letters.em, width, 0.11 * letters.em, NEWEST)
