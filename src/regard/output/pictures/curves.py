"""Curves over a shared axis, in one panel or several, as a paper prints them.

In: panels of curves, with spreads where they are known. Out: a matplotlib `Figure`. In one panel the curves are
named at their ends; several panels share one key. Dashes and marks tell curves apart in grey. Points that are
not finite are left out, and the line is broken there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import DataError
from regard.output.pictures.canvas import new_figure
from regard.output.pictures.fonts import families_for, text_width, writable
from regard.output.pictures.look import INK, LETTERS, SOFT, dress, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = (4.3, 2.9)  # inches of one panel's axes
_LEFT, _GAP, _TOP, _BOTTOM, _RIGHT = 0.75, 0.95, 0.45, 0.6, 0.25
_KEY = 0.3  # inches a row of the shared key takes
_LINE = 1.35  # letters' heights between two names at the ends of curves
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
    axis: str = "x"


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
        DataError: nothing to draw, or a curve with more places than values.
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
    key = 0.0 if at_ends else _key_height(labels, families, columns)
    width = _LEFT + columns * _PANEL[0] + (columns - 1) * _GAP + right
    height = key + rows * (_TOP + _PANEL[1] + _BOTTOM)
    figure = new_figure(width, height)
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        x = _LEFT + column * (_PANEL[0] + _GAP)
        y = height - key - row * (_TOP + _PANEL[1] + _BOTTOM) - _TOP - _PANEL[1]
        axes = figure.add_axes((x / width, y / height, _PANEL[0] / width, _PANEL[1] / height))
        _draw(axes, panel, labels, families)
        if at_ends:
            _name_ends(axes, panel, labels, families)
    if not at_ends:
        _write_key(figure, labels, families, (width, height))
    return figure


def _check(panels: Sequence[Panel]) -> None:
    if not panels or not any(panel.curves for panel in panels):
        raise DataError("a chart needs at least one curve; give it some")
    for panel in panels:
        for curve in panel.curves:
            if not len(curve.x) == len(curve.y) == len(curve.low or curve.y) == len(curve.high or curve.y):
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
    for scale, of_axis in ((panel.x_scale, axes.set_xscale), (panel.y_scale, axes.set_yscale)):
        if scale != "linear":
            of_axis("log", base=2 if scale == "log2" else 10)
    if panel.x_range:
        axes.set_xlim(*panel.x_range)
    if panel.y_range:
        axes.set_ylim(*panel.y_range)
    text: dict[str, Any] = {"family": list(families), "size": LETTERS, "color": INK}
    axes.set_xlabel(writable(panel.x_label, families), **text)
    axes.set_ylabel(writable(panel.y_label, families), **text)
    if panel.title:
        axes.set_title(
            writable(panel.title, families), loc="left", **{**text, "size": LETTERS + 1, "weight": "bold"}
        )
    dress(axes, families)
    for mark in panel.marks:
        _draw_mark(axes, mark, families)


def _draw_mark(axes: Axes, mark: Mark, families: Sequence[str]) -> None:
    text: dict[str, Any] = {"family": list(families), "size": LETTERS - 1, "color": SOFT, "zorder": 2}
    shown = writable(mark.label, families)
    if mark.axis == "x":
        axes.axvline(mark.at, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(
            shown, (mark.at, 1), (3, -2), ("data", "axes fraction"), "offset points", va="top", **text
        )
    else:
        axes.axhline(mark.at, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(
            shown, (0, mark.at), (3, 2), ("axes fraction", "data"), "offset points", va="bottom", **text
        )


def _name_ends(axes: Axes, panel: Panel, labels: Sequence[str], families: Sequence[str]) -> None:
    """Write each curve's name to the right of its last point, names pushed apart where they would touch."""
    ends = []
    for curve in panel.curves:
        points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if np.isfinite(y)]
        if points:
            across, up = axes.transAxes.inverted().transform(axes.transData.transform(points[-1]))
            ends.append((float(np.clip(up, 0, 1)), float(across), curve.label))
    ends.sort()
    step = _LINE * LETTERS / 72 / _PANEL[1]
    places = spread_out([up for up, _, _ in ends], step)
    for place, (up, across, label) in zip(places, ends, strict=True):
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
    return [
        centre + (k - (count - 1) / 2) * step for centre, count in groups for k in range(round(count))
    ]


def _touch(lower: Sequence[float], upper: Sequence[float], step: float) -> bool:
    return upper[0] - lower[0] < step * (lower[1] + upper[1]) / 2


def _key_height(labels: Sequence[str], families: Sequence[str], columns: int) -> float:
    room = columns * _PANEL[0] + (columns - 1) * _GAP
    return _KEY * (1 + max(row for _, row in _key_places(labels, families, room)))


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


def _write_key(
    figure: Figure, labels: Sequence[str], families: Sequence[str], size: tuple[float, float]
) -> None:
    from matplotlib.lines import Line2D

    width, height = size
    for k, (x, row) in enumerate(_key_places(labels, families, width - _LEFT - _RIGHT)):
        style, y = look(k), 1 - (0.16 + row * _KEY) / height
        start = (_LEFT + x) / width
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
