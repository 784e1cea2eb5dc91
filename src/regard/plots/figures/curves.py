"""Curves over a shared axis, in one panel or several, as a paper prints them.

In: panels of curves, with spreads where they are known. Out: a matplotlib `Figure`. In one panel the curves are
named at their ends; several panels share one key (see `curve_names`). Dashes and marks tell curves apart in grey.
Points that are not finite are left out, and the line is broken there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regard.errors import DataError
from regard.plots.figures.canvas import LETTERS, dress, look, new_figure
from regard.plots.figures.curve_labels import End, key_height, name_ends, write_key
from regard.plots.figures.lettering import families_for, text_width, writable
from regard.plots.style import INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {1: (4.6, 3.0), 2: (3.5, 2.5), 3: (2.25, 2.0)}
"""Inches of one panel's axes, by how many stand side by side: the whole fits a page without being made smaller."""
_LEFT, _GAP, _TOP, _BOTTOM, _RIGHT = 0.75, 0.85, 0.4, 0.55, 0.25
_MOST_TICKS = 8  # different places that are each worth a tick on an axis of doublings
_WORDS = 0.06  # of the axes' height: what words along a line take
_MOST_MARKS = 25  # points with a mark; beyond, the marks would hide the line


@dataclass(frozen=True)
class Curve:
    """A line.

    Attributes:
        label: its name; curves of one name look alike in all panels.
        x: ascending.
        y: one each.
        low: the lower edge of its spread, one each, if known.
        high: the upper edge, likewise.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Mark:
    """A place on the axis worth a line across the panel.

    Attributes:
        at: where.
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
        x_label: what runs along, with its unit.
        y_label: what runs up, with its unit.
        title: above it.
        x_scale: "linear" or "log" (powers of ten), or "log2".
        y_scale: likewise.
        x_range: from where to where; by default what the curves need.
        y_range: likewise.
        marks: places worth a line.
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
        columns: how many stand side by side; by default up to three.

    Raises:
        DataError: nothing to draw, or a curve whose places, values and edges are not as many.
        MissingExtraError: matplotlib is not installed.
    """
    _check(panels)
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    families = families_for([*labels, *(text for panel in panels for text in _texts(panel))])
    columns = columns or min(len(panels), 3)
    rows = -(-len(panels) // columns)
    at_ends = len(panels) == 1
    longest = max(text_width(label, LETTERS, families) for label in labels)
    right = longest + 0.25 if at_ends else _RIGHT
    across, up = _PANELS[min(columns, len(_PANELS))]
    room = columns * across + (columns - 1) * _GAP
    key = 0.0 if at_ends else key_height(labels, families, room)
    width = _LEFT + room + right
    height = key + rows * (_TOP + up + _BOTTOM)
    figure = new_figure(width, height)
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        x = _LEFT + column * (across + _GAP)
        y = height - key - row * (_TOP + up + _BOTTOM) - _TOP - up
        axes = figure.add_axes((x / width, y / height, across / width, up / height))
        _draw(axes, panel, labels, families)
        if at_ends:
            name_ends(axes, _ends(panel), labels, families)
    if not at_ends:
        write_key(figure, labels, families, left=_LEFT, room=room)
    return figure


def _check(panels: Sequence[Panel]) -> None:
    if not panels or not any(panel.curves for panel in panels):
        raise DataError("a chart needs at least one curve; give it some")
    for panel in panels:
        for curve in panel.curves:
            if len(curve.x) != len(curve.y) or (len(curve.low), len(curve.high)) not in (
                (0, 0),
                (len(curve.x), len(curve.x)),
            ):
                raise DataError(
                    f"curve {curve.label!r}: {len(curve.x)} places, {len(curve.y)} values and spreads of "
                    f"{len(curve.low)} and {len(curve.high)}; give one of each"
                )


def _texts(panel: Panel) -> list[str]:
    return [panel.title, panel.x_label, panel.y_label, *(mark.label for mark in panel.marks)]


def _draw(axes: Axes, panel: Panel, labels: Sequence[str], families: Sequence[str]) -> None:
    for curve in panel.curves:
        style = look(labels.index(curve.label))
        x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
        axes.plot(
            x,
            np.where(np.isfinite(y), y, np.nan),
            color=style.colour,
            linestyle=style.dash,
            marker=style.mark if len(x) <= _MOST_MARKS else "",
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
    text: dict[str, Any] = {"family": list(families), "size": LETTERS, "color": INK}
    axes.set_xlabel(writable(panel.x_label, families), **text)
    axes.set_ylabel(writable(panel.y_label, families), **text)
    if panel.title:
        marked = any(
            mark.axis == "x" for mark in panel.marks
        )  # their words stand between the axes and the title
        heading: dict[str, Any] = {**text, "size": LETTERS + 1, "weight": "bold", "pad": 15 if marked else 6}
        axes.set_title(writable(panel.title, families), loc="left", **heading)
    dress(axes, families)
    for mark in panel.marks:
        _draw_mark(axes, panel, mark, families)


def _set_scales(axes: Axes, panel: Panel) -> None:
    """Set what is not linear; doublings are written as plain numbers, along x few places each with its own."""
    for scale, of_axis in ((panel.x_scale, axes.set_xscale), (panel.y_scale, axes.set_yscale)):
        if scale != "linear":
            of_axis("log", base=2 if scale == "log2" else 10)
    if panel.x_scale == "log2":
        places = sorted({float(x) for curve in panel.curves for x in curve.x})
        if len(places) <= _MOST_TICKS:
            axes.set_xticks(places)
    for scale, axis in ((panel.x_scale, axes.xaxis), (panel.y_scale, axes.yaxis)):
        if scale == "log2":
            axis.set_major_formatter(lambda value, place: f"{value:,.0f}" if value >= 1 else f"{value:g}")


def _draw_mark(axes: Axes, panel: Panel, mark: Mark, families: Sequence[str]) -> None:
    from matplotlib.patheffects import withStroke

    text: dict[str, Any] = {"family": list(families), "size": LETTERS - 1, "color": SOFT, "zorder": 4}
    text["path_effects"] = [withStroke(linewidth=2.5, foreground="white")]  # legible where a curve crosses it
    shown = writable(mark.label, families)
    if mark.axis == "x":
        axes.axvline(mark.at, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(
            shown,
            (mark.at, 1),
            (0, 2),
            ("data", "axes fraction"),
            "offset points",
            ha="center",
            va="bottom",
            **text,
        )
    else:
        axes.axhline(mark.at, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        side, place, way = ("right", 1, -3) if _begins_on(axes, panel, mark.at) else ("left", 0, 3)
        axes.annotate(
            shown,
            (place, mark.at),
            (way, 2),
            ("axes fraction", "data"),
            "offset points",
            ha=side,
            va="bottom",
            **text,
        )


def _begins_on(axes: Axes, panel: Panel, at: float) -> bool:
    """Whether a curve begins where words along a height would stand at the left, and none ends so near it."""
    height = _heights(axes, [at])[0]
    starts = _heights(axes, [end.y for end in _ends(panel, first=True)])
    ends = _heights(axes, [end.y for end in _ends(panel)])
    nearest = min(abs(start - height) for start in starts) if starts else 1.0
    return nearest < _WORDS and nearest < min(abs(end - height) for end in ends)


def _heights(axes: Axes, values: Sequence[float]) -> list[float]:
    """Values as shares of the axes' height."""
    return [float(axes.transAxes.inverted().transform(axes.transData.transform((1, y)))[1]) for y in values]


def _ends(panel: Panel, *, first: bool = False) -> list[End]:
    """The last finite point of each curve that has one, or the first."""
    ends = []
    for curve in panel.curves:
        points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if np.isfinite(y)]
        if points:
            ends.append(End(curve.label, *points[0 if first else -1]))
    return ends
