"""A confusion matrix.

In: `ClassScores`. Out: a matplotlib `Figure`: gold labels down the left, predicted ones along the top; each cell holds
its count on the colour of its share of the row. Recall is at the right, precision below; correct cells are framed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.plots.colours import FAINT, INK, MUTED, weight_colour
from regard.plots.figures.fonts import MARGIN, Font, draw_scale, fill_rectangle, new_page, scale_width
from regard.plots.text import truncate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.evaluation.classes import ClassScores

_SCALE = "share of its row"
_GOLD, _PREDICTED = "gold ↓", "predicted →"


def row_shares(scores: ClassScores) -> NDArray[np.float64]:
    """The confusion matrix (classes, classes) with rows that sum to 1, or to 0 without support."""
    counts = np.array(scores.confusion, dtype=np.float64)
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return shares


def draw_confusion(scores: ClassScores, *, title: str | None = None) -> Figure:
    """Draw a confusion matrix.

    Args:
        scores: with at least one class.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    labels = [truncate(label) for label in scores.labels]
    number = len(labels)
    font = Font.covering(
        [*labels, title or "", _GOLD, _PREDICTED], float(np.interp(number, [5, 20], [11.0, 8.5]))
    )
    small = font.smaller(0.85)
    widest = max(small.width(f"{count:,}") for count in chain(*scores.confusion))
    cell = max(2.4 * font.em, widest + 0.8 * small.em, small.width("100 %") + 0.6 * small.em)
    turned = max(font.width(label) for label in labels) > 0.9 * cell
    above = (max(font.width(label) for label in labels) if turned else font.em) + 0.7 * font.em
    head = 1.7 * font.em
    beside = max(*(font.width(label) for label in labels), small.width("precision")) + 0.5 * font.em
    end = small.width("recall") / 2 + 0.65 * cell
    width = max(beside + number * cell + 0.65 * cell + end, scale_width(small, _SCALE))
    below = cell + 2.2 * small.em
    page = new_page(font, width, head + above + number * cell + below, title=title)
    axes, left, top = page.axes, MARGIN + beside, page.top + head + above
    small.write(axes, left, page.top + head - 0.6 * font.em, _PREDICTED, colour=MUTED)
    small.write(axes, left - 0.5 * font.em, top - 0.4 * font.em, _GOLD, colour=MUTED, align="right")
    for k, label in enumerate(labels):
        middle = (k + 0.5) * cell
        font.write(axes, left - 0.5 * font.em, top + middle + 0.35 * font.em, label, align="right")
        font.write(axes, left + middle, top - 0.4 * font.em, label, align="center", turned=turned)
    _draw_cells(axes, small, scores, (left, top), cell)
    _draw_margins(axes, small, scores, (left, top), cell)
    draw_scale(axes, small, MARGIN, top + number * cell + below - 0.4 * small.em, _SCALE)
    return page.figure


def _draw_cells(
    axes: Axes, small: Font, scores: ClassScores, corner: tuple[float, float], cell: float
) -> None:
    from matplotlib.patches import Rectangle

    shares = row_shares(scores).tolist()
    for i, (counts, parts) in enumerate(zip(scores.confusion, shares, strict=True)):
        for j, (count, part) in enumerate(zip(counts, parts, strict=True)):
            x, y = corner[0] + j * cell, corner[1] + i * cell
            fill_rectangle(axes, x, y, cell, cell, weight_colour(part))
            axes.add_patch(Rectangle((x, y), cell, cell, fill=False, edgecolor=FAINT, linewidth=0.6))
            middle, baseline = x + cell / 2, y + cell / 2 + 0.35 * small.em
            small.write(axes, middle, baseline, f"{count:,}", colour=INK if count else MUTED, align="center")
    for k in range(len(shares)):
        x, y = corner[0] + k * cell, corner[1] + k * cell
        axes.add_patch(Rectangle((x, y), cell, cell, fill=False, edgecolor=INK, linewidth=1.0, zorder=2))


def _draw_margins(
    axes: Axes, small: Font, scores: ClassScores, corner: tuple[float, float], cell: float
) -> None:
    """Write recall at the right of each row and precision below each column."""
    size = len(scores.labels) * cell
    across, down = corner[0] + size + 0.65 * cell, corner[1] + size + 0.65 * cell
    small.write(axes, across, corner[1] - 0.45 * small.em, "recall", colour=MUTED, align="center")
    small.write(
        axes, corner[0] - 0.6 * small.em, down + 0.35 * small.em, "precision", colour=MUTED, align="right"
    )
    figures: Sequence[tuple[float, float]] = [(one.recall, one.precision) for one in scores.classes.values()]
    for k, (recall, precision) in enumerate(figures):
        middle = (k + 0.5) * cell
        for x, y, value in (
            (across, corner[1] + middle, recall),
            (corner[0] + middle, down, precision),
        ):
            small.write(axes, x, y + 0.35 * small.em, f"{100 * value:.0f} %", colour=MUTED, align="center")
