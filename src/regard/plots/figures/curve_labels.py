"""The names of curves: at their ends, pushed apart where they would touch, or in one key above several panels.

In: axes or a figure, the names in the order of their looks. Out: nothing; text is written. Knows no panel: where
curves end, and where the key stands, is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.plots.figures.canvas import LETTERS, look
from regard.plots.figures.lettering import text_width, writable
from regard.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.3  # inches a row of the key takes
_LINE = 1.35  # letters' heights between two names at the ends of curves
_BEYOND = 0.04  # of the axes' height: how far above and below them a name may stand


@dataclass(frozen=True)
class End:
    """Where a curve ends.

    Attributes:
        label: its name.
        x: of its last point, as the axis counts.
        y: likewise.
    """

    label: str
    x: float
    y: float


def name_ends(axes: Axes, ends: Sequence[End], labels: Sequence[str], families: Sequence[str]) -> None:
    """Write each curve's name to the right of its last point, names pushed apart where they would touch.

    Args:
        axes: with their scales and ranges set.
        ends: of the curves, in any order.
        labels: all names, in the order of their looks.
        families: fonts, as `regard.plots.figures.lettering.families_for` gives them.
    """
    places = []
    for end in ends:
        across, up = axes.transAxes.inverted().transform(axes.transData.transform((end.x, end.y)))
        places.append((float(np.clip(up, 0, 1)), float(across), end.label))
    places.sort()
    step = _LINE * LETTERS / 72 / _inches_tall(axes)
    apart = _kept_within(spread_out([up for up, _, _ in places], step), step, -_BEYOND, 1 + _BEYOND)
    for place, (up, across, label) in zip(apart, places, strict=True):
        colour = look(labels.index(label)).colour
        x = max(across, 1.0) + 0.02
        if x - across > 0.05 or abs(place - up) > step / 2:
            axes.plot(
                [across + 0.012, x + 0.012],
                [up, place],
                transform=axes.transAxes,
                color=colour,
                linewidth=0.5,
                clip_on=False,
            )
        axes.text(
            x + 0.018,
            place,
            writable(label, families),
            transform=axes.transAxes,
            color=colour,
            size=LETTERS,
            family=list(families),
            va="center",
            parse_math=False,
        )


def _inches_tall(axes: Axes) -> float:
    return float(axes.bbox.height / axes.figure.dpi)


def spread_out(places: Sequence[float], step: float) -> list[float]:
    """Move ascending places apart so that neighbours are at least a step from each other, the whole staying centred.

    Args:
        places: ascending.
        step: the least distance.
    """
    groups: list[list[float]] = []  # of each: its centre and how many stand in it
    for place in places:
        groups.append([place, 1])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], step):
            centre, count = groups.pop()
            before = groups[-1]
            before[0] = (before[0] * before[1] + centre * count) / (before[1] + count)
            before[1] += count
    return [centre + (k - (count - 1) / 2) * step for centre, count in groups for k in range(round(count))]


def _kept_within(places: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Push places that are a step apart back below `high`, and where there is room for all, above `low`."""
    kept = list(places)
    for k, place in enumerate(kept):
        kept[k] = max(place, low + k * step)
    for k, place in enumerate(reversed(kept), start=1):
        kept[-k] = min(place, high - (k - 1) * step)
    return kept


def _touch(lower: Sequence[float], upper: Sequence[float], step: float) -> bool:
    return upper[0] - lower[0] < step * (lower[1] + upper[1]) / 2


def key_height(labels: Sequence[str], families: Sequence[str], room: float) -> float:
    """Inches the key takes.

    Args:
        labels: what stands in it.
        families: fonts.
        room: inches a row may take.
    """
    return _ROW * (1 + max(row for _, row in _key_places(labels, families, room)))


def _key_places(labels: Sequence[str], families: Sequence[str], room: float) -> list[tuple[float, int]]:
    """Inches from the left, and the row, of each name in the key."""
    places, x, row = [], 0.0, 0
    for label in labels:
        wide = 0.5 + text_width(label, LETTERS, families) + 0.25
        if x and x + wide > room:
            x, row = 0.0, row + 1
        places.append((x, row))
        x += wide
    return places


def write_key(
    figure: Figure, labels: Sequence[str], families: Sequence[str], *, left: float, room: float
) -> None:
    """Write the key along the top of a figure.

    Args:
        figure: with `key_height` left free above its panels.
        labels: what stands in it, in the order of their looks.
        families: fonts.
        left: inches to the left of it.
        room: inches a row may take.
    """
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    for k, (x, row) in enumerate(_key_places(labels, families, room)):
        style, y = look(k), 1 - (0.16 + row * _ROW) / height
        start = (left + x) / width
        figure.add_artist(
            Line2D(
                [start, start + 0.19 / width, start + 0.38 / width],
                [y, y, y],
                color=style.colour,
                linestyle=style.dash,
                linewidth=1.5,
                marker=style.mark,
                markevery=[1],
                markersize=4.2,
            )
        )
        figure.text(
            start + 0.46 / width,
            y,
            writable(labels[k], families),
            size=LETTERS,
            family=list(families),
            color=INK,
            va="center",
            parse_math=False,
        )
