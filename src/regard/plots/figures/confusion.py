"""Which class is taken for which: a confusion matrix.

In: `ClassScores`. Out: a matplotlib `Figure`: gold labels down the left, predicted ones along the top, in each cell how
often and, as its shade, what part of its row; recall at the right, precision below. Right answers are framed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.evaluation.classes import ClassScores
from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering, fill, scale, scale_width
from regard.plots.style import FAINT, INK, SOFT, shade, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_SHADES = "part of its row"
_GOLD, _PREDICTED = "gold ↓", "predicted →"


def row_shares(scores: ClassScores) -> NDArray[np.float64]:
    """What part of each gold label was given each label: (classes, classes), rows sum to 1, or to 0 without support."""
    counts = np.array(scores.confusion, dtype=np.float64)
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return shares


def draw_confusion(scores: ClassScores, *, title: str | None = None) -> Figure:
    """Draw a confusion matrix.

    Args:
        scores: of at least one class.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_matplotlib()
    labels = [shortened(label) for label in scores.labels]
    number = len(labels)
    letters = Lettering.of(
        [*labels, title or "", _GOLD, _PREDICTED], float(np.interp(number, [5, 20], [11.0, 8.5]))
    )
    small = letters.smaller(0.85)
    widest = max(small.width(f"{count:,}") for count in chain(*scores.confusion))
    cell = max(2.4 * letters.em, widest + 0.8 * small.em, small.width("100 %") + 0.6 * small.em)
    turned = max(letters.width(label) for label in labels) > 0.9 * cell
    above = (max(letters.width(label) for label in labels) if turned else letters.em) + 0.7 * letters.em
    head = (2 * letters.em if title else 0.0) + 1.7 * letters.em
    beside = max(*(letters.width(label) for label in labels), small.width("precision")) + 0.5 * letters.em
    left, top = _MARGIN + beside, _MARGIN + head + above
    end = small.width("recall") / 2 + 0.65 * cell
    inner = max(
        beside + number * cell + 0.65 * cell + end,
        letters.width(title or "", bold=True),
        scale_width(small, _SHADES),
    )
    below = cell + 2.2 * small.em
    figure = new_figure(inner + 2 * _MARGIN, head + above + number * cell + below + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        letters.write(axes, _MARGIN, _MARGIN + letters.em, title, bold=True)
    small.write(axes, left, _MARGIN + head - 0.6 * letters.em, _PREDICTED, colour=SOFT)
    small.write(axes, left - 0.5 * letters.em, top - 0.4 * letters.em, _GOLD, colour=SOFT, align="right")
    for k, label in enumerate(labels):
        middle = (k + 0.5) * cell
        letters.write(axes, left - 0.5 * letters.em, top + middle + 0.35 * letters.em, label, align="right")
        letters.write(axes, left + middle, top - 0.4 * letters.em, label, align="center", turned=turned)
    _draw_cells(axes, small, scores, (left, top), cell)
    _draw_margins(axes, small, scores, (left, top), cell)
    scale(axes, small, _MARGIN, top + number * cell + below - 0.4 * small.em, _SHADES)
    return figure


def _draw_cells(
    axes: Axes, small: Lettering, scores: ClassScores, corner: tuple[float, float], cell: float
) -> None:
    from matplotlib.patches import Rectangle

    shares = row_shares(scores).tolist()
    for i, (counts, parts) in enumerate(zip(scores.confusion, shares, strict=True)):
        for j, (count, part) in enumerate(zip(counts, parts, strict=True)):
            x, y = corner[0] + j * cell, corner[1] + i * cell
            fill(axes, x, y, cell, cell, shade(part))
            axes.add_patch(Rectangle((x, y), cell, cell, fill=False, edgecolor=FAINT, linewidth=0.6))
            middle, baseline = x + cell / 2, y + cell / 2 + 0.35 * small.em
            small.write(axes, middle, baseline, f"{count:,}", colour=INK if count else SOFT, align="center")
    for k in range(len(shares)):
        x, y = corner[0] + k * cell, corner[1] + k * cell
        axes.add_patch(Rectangle((x, y), cell, cell, fill=False, edgecolor=INK, linewidth=1.0, zorder=2))


def _draw_margins(
    axes: Axes, small: Lettering, scores: ClassScores, corner: tuple[float, float], cell: float
) -> None:
    """Write recall at the right of each row and precision below each column."""
    size = len(scores.labels) * cell
    across, down = corner[0] + size + 0.65 * cell, corner[1] + size + 0.65 * cell
    small.write(axes, across, corner[1] - 0.45 * small.em, "recall", colour=SOFT, align="center")
    small.write(
        axes, corner[0] - 0.6 * small.em, down + 0.35 * small.em, "precision", colour=SOFT, align="right"
    )
    figures: Sequence[tuple[float, float]] = [(one.recall, one.precision) for one in scores.classes.values()]
    for k, (recall, precision) in enumerate(figures):
        middle = (k + 0.5) * cell
        for x, y, value in (
            (across, corner[1] + middle, recall),
            (corner[0] + middle, down, precision),
        ):
            small.write(axes, x, y + 0.35 * small.em, f"{100 * value:.0f} %", colour=SOFT, align="center")
