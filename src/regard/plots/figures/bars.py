"""Horizontal bar charts, one panel per measure.

In: names and, for each measure, one number per name with its spread. Out: a matplotlib `Figure`, each value written
behind its bar. All bars have one colour, so that grey print loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.errors import DataError
from regard.plots.colours import INK, LINE_STYLES, MUTED
from regard.plots.figures.canvas import FONT_SIZE, new_figure, style_axes
from regard.plots.figures.fonts import families_for, renderable, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.3  # inches per bar, with the space around it
_WIDTH, _GAP, _TOP, _BOTTOM, _RIGHT, _MARGIN = 2.5, 0.75, 0.4, 0.55, 0.6, 0.15
_PAGE, _LEAST = 9.0, 1.2  # inches: panels shrink to fit the page, down to the second


@dataclass(frozen=True)
class Measure:
    """One panel.

    Attributes:
        label: what is measured, with its unit.
        values: one per name.
        spreads: half the length of each error bar, if known; 0 for no error bar.
        form: the format of a value, such as "{:.1f}".
        title: above the panel, such as "higher is better".
        ranging: the limits of the axis; by default from 0 to what the bars need.
    """

    label: str
    values: Sequence[float]
    spreads: Sequence[float] = ()
    form: str = "{:.1f}"
    title: str = ""
    ranging: tuple[float, float] | None = None


def draw_bars(names: Sequence[str], measures: Sequence[Measure]) -> Figure:
    """Draw one panel per measure, with the names down the left.

    Args:
        names: of the bars.
        measures: the panels.

    Raises:
        DataError: nothing to draw, or a measure without one value per name.
        MissingExtraError: matplotlib is not installed.
    """
    if not names or not measures:
        raise DataError("a bar chart needs names and at least one measure; pass them")
    for measure in measures:
        if {len(measure.values), len(measure.spreads or measure.values)} != {len(names)}:
            raise DataError(
                f"bars of {measure.label!r}: {len(measure.values)} values for {len(names)} names; give one per name"
            )
    families = families_for([*names, *(text for each in measures for text in (each.label, each.title))])
    left = max(text_width(name, FONT_SIZE, families) for name in names) + 0.15 + _MARGIN
    gaps = (len(measures) - 1) * _GAP
    wide = max(_LEAST, min(_WIDTH, (_PAGE - left - gaps - _RIGHT) / len(measures)))
    width = left + len(measures) * wide + gaps + _RIGHT
    tall = len(names) * _BAR
    height = _TOP + tall + _BOTTOM
    figure = new_figure(width, height)
    for k, measure in enumerate(measures):
        x = left + k * (wide + _GAP)
        axes = figure.add_axes((x / width, _BOTTOM / height, wide / width, tall / height))
        _draw(axes, names if k == 0 else [""] * len(names), measure, families)
    return figure


def _draw(axes: Axes, names: Sequence[str], measure: Measure, families: Sequence[str]) -> None:
    text: dict[str, Any] = {"family": list(families), "size": FONT_SIZE, "color": INK}
    places = range(len(names))
    spreads = measure.spreads or [0.0] * len(names)
    error_bars = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.5} if measure.spreads else {}
    axes.barh(
        places,
        measure.values,
        height=0.62,
        color=LINE_STYLES[0].colour,
        alpha=0.82,
        xerr=[each or math.nan for each in measure.spreads] or None,
        error_kw=error_bars,
    )
    axes.set_ylim(len(names) - 0.5, -0.5)
    if measure.ranging:
        axes.set_xlim(*measure.ranging)
    else:
        axes.set_xlim(left=0)
    for place, value, spread in zip(places, measure.values, spreads, strict=True):
        axes.annotate(
            measure.form.format(value),
            (value + spread, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
            **{**text, "size": FONT_SIZE - 0.5},
        )
    axes.set_yticks(list(places), [renderable(name, families) for name in names], **text)
    axes.set_xlabel(renderable(measure.label, families), **text)
    if measure.title:
        axes.set_title(
            renderable(measure.title, families),
            loc="left",
            **{**text, "size": FONT_SIZE - 0.5, "color": MUTED},
        )
    style_axes(axes, families, grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(INK)
