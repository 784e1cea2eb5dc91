"""Line charts in one panel or several.

In: panels of curves, with spreads where they are known. Out: a matplotlib `Figure`. In one panel the curves are
labelled at their ends, the labels moved apart where they would overlap; several panels share one legend above them.
Dashes and markers keep curves apart in grey print. Non-finite points are left out, and the line is broken there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regard.errors import DataError
from regard.plots.colours import INK, MUTED, line_style
from regard.plots.figures.canvas import FONT_SIZE, new_figure, style_axes
from regard.plots.figures.fonts import families_for, renderable, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {1: (4.6, 3.0), 2: (3.5, 2.5), 3: (2.25, 2.0)}
"""Width and height of a panel in inches, by the number of columns: the figure fits a page without scaling."""
_LEFT, _GAP, _TOP, _BOTTOM, _RIGHT = 0.75, 0.85, 0.4, 0.55, 0.25
_MOST_TICKS = 8  # distinct x values that each get a tick on a log2 axis
_TICK_GAP = 0.06  # inches between two labels of ticks
_LABEL_HEIGHT = 0.06  # of the axes' height: a label along a line
_SAMPLES = 200  # points of a curve that are compared with the place of a label
_MOST_MARKERS = 25  # points with a marker; more markers would hide the line
_LEGEND_ROW = 0.3  # inches
_LABEL_STEP = 1.35  # font sizes between two labels at the ends of curves
_BEYOND = 0.04  # of the axes' height: how far above and below them a label may be


@dataclass(frozen=True)
class Curve:
    """A curve.

    Attributes:
        label: its name; curves of one name have one style in all panels.
        x: ascending.
        y: one per x.
        low: the lower end of the spread at each x, if known.
        high: the upper end.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Mark:
    """A reference line across a panel.

    Attributes:
        at: its value.
        label: written along it.
        axis: which axis `at` is on.
    """

    at: float
    label: str
    axis: Literal["x", "y"] = "x"


@dataclass(frozen=True)
class Panel:
    """Axes with curves.

    Attributes:
        curves: what is drawn.
        x_label: of the x axis, with its unit.
        y_label: of the y axis, with its unit.
        title: above it.
        x_scale: "linear", "log" (powers of ten) or "log2".
        y_scale: the same for the y axis.
        x_range: the limits of the x axis; by default what the curves need.
        y_range: the same for the y axis.
        marks: reference lines.
    """

    curves: Sequence[Curve]
    x_label: str
    y_label: str
    title: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    marks: Sequence[Mark] = ()


def draw_curves(panels: Sequence[Panel], *, columns: int | None = None) -> Figure:
    """Draw panels row by row.

    Args:
        panels: what to draw; one to six.
        columns: how many per row; by default up to three.

    Raises:
        DataError: nothing to draw, or a curve whose x, y, low and high differ in length.
        MissingExtraError: matplotlib is not installed.
    """
    _check(panels)
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    families = families_for([*labels, *(text for panel in panels for text in _texts(panel))])
    columns = columns or min(len(panels), 3)
    rows = -(-len(panels) // columns)
    at_ends = len(panels) == 1
    longest = max(text_width(label, FONT_SIZE, families) for label in labels)
    right = longest + 0.25 if at_ends else _RIGHT
    across, up = _PANELS[min(columns, len(_PANELS))]
    row_width = columns * across + (columns - 1) * _GAP
    legend = 0.0 if at_ends else legend_height(labels, families, row_width)
    width = _LEFT + row_width + right
    height = legend + rows * (_TOP + up + _BOTTOM)
    figure = new_figure(width, height)
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        x = _LEFT + column * (across + _GAP)
        y = height - legend - row * (_TOP + up + _BOTTOM) - _TOP - up
        axes = figure.add_axes((x / width, y / height, across / width, up / height))
        _draw(axes, panel, labels, families)
        if at_ends:
            label_ends(axes, _ends(panel), labels, families)
    if not at_ends:
        write_legend(figure, labels, families, left=_LEFT, row_width=row_width)
    return figure


def _check(panels: Sequence[Panel]) -> None:
    if not panels or not any(panel.curves for panel in panels):
        raise DataError("a line chart needs at least one curve; pass one or more")
    for panel in panels:
        for curve in panel.curves:
            if len(curve.x) != len(curve.y) or (len(curve.low), len(curve.high)) not in (
                (0, 0),
                (len(curve.x), len(curve.x)),
            ):
                raise DataError(
                    f"curve {curve.label!r}: {len(curve.x)} x values, {len(curve.y)} y values and spreads of "
                    f"{len(curve.low)} and {len(curve.high)}; give as many of each"
                )


def _texts(panel: Panel) -> list[str]:
    return [panel.title, panel.x_label, panel.y_label, *(mark.label for mark in panel.marks)]


def _draw(axes: Axes, panel: Panel, labels: Sequence[str], families: Sequence[str]) -> None:
    for curve in panel.curves:
        style = line_style(labels.index(curve.label))
        x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
        axes.plot(
            x,
            np.where(np.isfinite(y), y, np.nan),
            color=style.colour,
            linestyle=style.dash,
            marker=style.marker if len(x) <= _MOST_MARKERS else "",
            markersize=4.2,
            linewidth=1.5,
            clip_on=False,
            zorder=3,
        )
        if curve.low:
            axes.fill_between(
                x,
                np.asarray(curve.low, dtype=float),
                np.asarray(curve.high, dtype=float),
                color=style.colour,
                alpha=0.13,
                linewidth=0,
            )
    _set_scales(axes, panel)
    if panel.x_range:
        axes.set_xlim(*panel.x_range)
    if panel.y_range:
        axes.set_ylim(*panel.y_range)
    text: dict[str, Any] = {"family": list(families), "size": FONT_SIZE, "color": INK}
    axes.set_xlabel(renderable(panel.x_label, families), **text)
    axes.set_ylabel(renderable(panel.y_label, families), **text)
    if panel.title:
        marked = any(
            mark.axis == "x" for mark in panel.marks
        )  # their labels are between the axes and the title
        heading: dict[str, Any] = {
            **text,
            "size": FONT_SIZE + 1,
            "weight": "bold",
            "pad": 15 if marked else 6,
        }
        axes.set_title(renderable(panel.title, families), loc="left", **heading)
    style_axes(axes, families)
    sides = _sides(axes, [mark for mark in panel.marks if mark.axis == "x"], families)
    for mark in panel.marks:
        _draw_mark(axes, panel, mark, families, sides.get(mark, "center"))


def _set_scales(axes: Axes, panel: Panel) -> None:
    """Set scales: powers of two are written as plain numbers, few of them with a tick each; counts have whole ticks."""
    for scale, of_axis in ((panel.x_scale, axes.set_xscale), (panel.y_scale, axes.set_yscale)):
        if scale != "linear":
            of_axis("log", base=2 if scale == "log2" else 10)
    if panel.x_scale == "log2":
        places = sorted({float(x) for curve in panel.curves for x in curve.x})
        if len(places) <= _MOST_TICKS:
            axes.set_xticks(_apart(places, axes.bbox.width / axes.figure.dpi))
    elif panel.x_scale == "linear" and all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.locator_params(axis="x", integer=True)
    for scale, axis in ((panel.x_scale, axes.xaxis), (panel.y_scale, axes.yaxis)):
        if scale == "log2":
            axis.set_major_formatter(lambda value, place: _plain_number(value))


def _plain_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _apart(places: Sequence[float], width: float) -> list[float]:
    """The ticks of a logarithmic axis whose labels do not touch: all, every second, every third, …, with the last.

    Args:
        places: ascending.
        width: of the axes, in inches.
    """
    ends, families = np.log([places[0], places[-1]]), families_for(map(_plain_number, places))
    inches = {place: width * float((np.log(place) - ends[0]) / max(np.ptp(ends), 1e-9)) for place in places}
    halves = {place: text_width(_plain_number(place), FONT_SIZE, families) / 2 for place in places}
    for step in range(1, len(places)):
        kept = list(places[::-step][::-1])
        if all(inches[b] - inches[a] > halves[a] + halves[b] + _TICK_GAP for a, b in pairwise(kept)):
            return kept
    return [places[-1]]


def _sides(axes: Axes, marks: Sequence[Mark], families: Sequence[str]) -> dict[Mark, str]:
    """On which side of their lines the labels above the axes are: centred, and apart where two would meet."""
    sides: dict[Mark, str] = {}
    inches = {mark: axes.transData.transform((mark.at, 0))[0] / axes.figure.dpi for mark in marks}
    halves = {mark: text_width(mark.label, FONT_SIZE - 1, families) / 2 for mark in marks}
    for left, right in pairwise(sorted(marks, key=lambda mark: mark.at)):
        if inches[right] - inches[left] < halves[left] + halves[right] + _TICK_GAP:
            sides |= {left: "right", right: "left"}
    return sides


def _draw_mark(axes: Axes, panel: Panel, mark: Mark, families: Sequence[str], side: str) -> None:
    from matplotlib.patheffects import withStroke

    text: dict[str, Any] = {"family": list(families), "size": FONT_SIZE - 1, "color": MUTED, "zorder": 4}
    text["path_effects"] = [
        withStroke(linewidth=2.5, foreground="white")
    ]  # legible where a curve crosses the label
    shown = renderable(mark.label, families)
    if mark.axis == "x":
        axes.axvline(mark.at, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(
            shown,
            (mark.at, 1),
            (0, 2),
            ("data", "axes fraction"),
            "offset points",
            ha=side,
            va="bottom",
            **text,
        )
    else:
        axes.axhline(mark.at, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        across, up = _clear_corner(axes, panel, mark, families)
        axes.annotate(
            shown,
            (float(across == "right"), mark.at),
            (-3 if across == "right" else 3, 2 if up == "bottom" else -2),
            ("axes fraction", "data"),
            "offset points",
            ha=across,
            va=up,
            **text,
        )


def _clear_corner(axes: Axes, panel: Panel, mark: Mark, families: Sequence[str]) -> tuple[str, str]:
    """Where the label of a horizontal mark meets the least of the curves: alignments, above its line if possible."""
    at = _heights(axes, [mark.at])[0]
    inches = axes.bbox.width / axes.figure.dpi
    wide = (text_width(mark.label, FONT_SIZE - 1, families) + _TICK_GAP) / inches
    points = []
    for curve in panel.curves:
        drawn = axes.transData.transform(np.column_stack([curve.x, np.asarray(curve.y, dtype=float)]))
        x, y = axes.transAxes.inverted().transform(drawn[np.isfinite(drawn).all(axis=1)]).T
        if len(x):
            along = np.linspace(x[0], x[-1], _SAMPLES)
            points.append(np.column_stack([along, np.interp(along, x, y)]))
    x, y = np.concatenate(points).T if points else np.zeros((2, 0))

    def met(corner: tuple[str, str]) -> float:
        low = at if corner[1] == "bottom" else at - _LABEL_HEIGHT
        inside = (y > low) & (y < low + _LABEL_HEIGHT) & (x > 1 - wide if corner[0] == "right" else x < wide)
        return float(inside.sum()) + (_SAMPLES if low < 0 or low + _LABEL_HEIGHT > 1 else 0)

    return min((("left", "bottom"), ("right", "bottom"), ("left", "top"), ("right", "top")), key=met)


def _heights(axes: Axes, values: Sequence[float]) -> list[float]:
    """Values as fractions of the axes' height."""
    return [float(axes.transAxes.inverted().transform(axes.transData.transform((1, y)))[1]) for y in values]


def _ends(panel: Panel) -> list[CurveEnd]:
    """The last finite point of each curve that has one."""
    ends = []
    for curve in panel.curves:
        points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if np.isfinite(y)]
        if points:
            ends.append(CurveEnd(curve.label, *points[-1]))
    return ends


@dataclass(frozen=True)
class CurveEnd:
    """The last point of a curve.

    Attributes:
        label: the name of the curve.
        x: in the units of the axis.
        y: in the units of the axis.
    """

    label: str
    x: float
    y: float


def label_ends(axes: Axes, ends: Sequence[CurveEnd], labels: Sequence[str], families: Sequence[str]) -> None:
    """Label each curve to the right of its last point, labels moved apart where they would overlap.

    Args:
        axes: with their scales and ranges set.
        ends: of the curves, in any order.
        labels: all names, in the order of their styles.
        families: from `regard.plots.figures.fonts.families_for`.
    """
    places = []
    for end in ends:
        across, up = axes.transAxes.inverted().transform(axes.transData.transform((end.x, end.y)))
        places.append((float(np.clip(up, 0, 1)), float(across), end.label))
    places.sort()
    step = _LABEL_STEP * FONT_SIZE / 72 / _inches_tall(axes)
    apart = _kept_within(spread_out([up for up, _, _ in places], step), step, -_BEYOND, 1 + _BEYOND)
    for place, (up, across, label) in zip(apart, places, strict=True):
        colour = line_style(labels.index(label)).colour
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
            renderable(label, families),
            transform=axes.transAxes,
            color=colour,
            size=FONT_SIZE,
            family=list(families),
            va="center",
            parse_math=False,
        )


def _inches_tall(axes: Axes) -> float:
    return float(axes.bbox.height / axes.figure.dpi)


def spread_out(places: Sequence[float], step: float) -> list[float]:
    """Move positions apart so that neighbours are at least a step from each other, groups staying centred.

    Args:
        places: ascending.
        step: the least distance.
    """
    groups: list[list[float]] = []  # of each: its centre and its size
    for place in places:
        groups.append([place, 1])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], step):
            centre, count = groups.pop()
            before = groups[-1]
            before[0] = (before[0] * before[1] + centre * count) / (before[1] + count)
            before[1] += count
    return [centre + (k - (count - 1) / 2) * step for centre, count in groups for k in range(round(count))]


def _kept_within(places: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Move positions that are a step apart below `high` and, if they fit, above `low`."""
    kept = list(places)
    for k, place in enumerate(kept):
        kept[k] = max(place, low + k * step)
    for k, place in enumerate(reversed(kept), start=1):
        kept[-k] = min(place, high - (k - 1) * step)
    return kept


def _touch(lower: Sequence[float], upper: Sequence[float], step: float) -> bool:
    return upper[0] - lower[0] < step * (lower[1] + upper[1]) / 2


def legend_height(labels: Sequence[str], families: Sequence[str], row_width: float) -> float:
    """The height of the legend in inches.

    Args:
        labels: its entries.
        families: of fonts.
        row_width: inches of a row.
    """
    return _LEGEND_ROW * (1 + max(row for _, row in _legend_places(labels, families, row_width)))


def _legend_places(
    labels: Sequence[str], families: Sequence[str], row_width: float
) -> list[tuple[float, int]]:
    """The left edge in inches, and the row, of each entry of the legend."""
    places, x, row = [], 0.0, 0
    for label in labels:
        wide = 0.5 + text_width(label, FONT_SIZE, families) + 0.25
        if x and x + wide > row_width:
            x, row = 0.0, row + 1
        places.append((x, row))
        x += wide
    return places


def write_legend(
    figure: Figure, labels: Sequence[str], families: Sequence[str], *, left: float, row_width: float
) -> None:
    """Write the legend along the top of a figure.

    Args:
        figure: with `legend_height` free above its panels.
        labels: its entries, in the order of their styles.
        families: of fonts.
        left: inches to the left of it.
        row_width: inches of a row.
    """
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    for k, (x, row) in enumerate(_legend_places(labels, families, row_width)):
        style, y = line_style(k), 1 - (0.16 + row * _LEGEND_ROW) / height
        start = (left + x) / width
        figure.add_artist(
            Line2D(
                [start, start + 0.19 / width, start + 0.38 / width],
                [y, y, y],
                color=style.colour,
                linestyle=style.dash,
                linewidth=1.5,
                marker=style.marker,
                markevery=[1],
                markersize=4.2,
            )
        )
        figure.text(
            start + 0.46 / width,
            y,
            renderable(labels[k], families),
            size=FONT_SIZE,
            family=list(families),
            color=INK,
            va="center",
            parse_math=False,
        )
