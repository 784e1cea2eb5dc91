"""Bars side by side, one panel a measure: the same things compared by several numbers.

In: names and, for each measure, a number each with its spread. Out: a matplotlib `Figure` of lying bars, the
value written behind each. One tint for all, so that grey print loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.errors import DataError
from regard.plots.figures.canvas import LETTERS, LOOKS, dress, new_figure
from regard.plots.figures.lettering import families_for, text_width, writable
from regard.plots.style import INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.3  # inches a bar takes with the room around it
_WIDTH, _GAP, _TOP, _BOTTOM, _RIGHT, _MARGIN = 2.5, 0.75, 0.4, 0.55, 0.6, 0.15
_PAGE, _LEAST = 9.0, 1.2  # inches: panels grow narrower so that all fit a page, but not narrower than that


@dataclass(frozen=True)
class Measure:
    """One panel.

    Attributes:
        label: what is measured, with its unit.
        values: one for each name.
        spreads: half the width of the whisker on each, if known.
        form: how a value is written, as "{:.1f}".
        title: above the panel, such as "higher is better".
        ranging: from where to where the axis runs; by default from 0 to what the bars need.
    """

    label: str
    values: Sequence[float]
    spreads: Sequence[float] = ()
    form: str = "{:.1f}"
    title: str = ""
    ranging: tuple[float, float] | None = None


def draw_bars(names: Sequence[str], measures: Sequence[Measure]) -> Figure:
    """Draw one panel for each measure, all with the same names down the left.

    Args:
        names: what is compared.
        measures: by what.

    Raises:
        DataError: nothing to draw, or a measure with another number of values.
        MissingExtraError: matplotlib is not installed.
    """
    if not names or not measures:
        raise DataError("a chart of bars needs names and a measure; give it some")
    for measure in measures:
        if {len(measure.values), len(measure.spreads or measure.values)} != {len(names)}:
            raise DataError(
                f"bars of {measure.label!r}: {len(measure.values)} values for {len(names)} names; give one each"
            )
    families = families_for([*names, *(text for each in measures for text in (each.label, each.title))])
    left = max(text_width(name, LETTERS, families) for name in names) + 0.15 + _MARGIN
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
    text: dict[str, Any] = {"family": list(families), "size": LETTERS, "color": INK}
    places = range(len(names))
    spreads = measure.spreads or [0.0] * len(names)
    whiskers = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.5} if measure.spreads else {}
    axes.barh(
        places,
        measure.values,
        height=0.62,
        color=LOOKS[0].colour,
        alpha=0.82,
        xerr=measure.spreads or None,
        error_kw=whiskers,
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
            **{**text, "size": LETTERS - 0.5},
        )
    axes.set_yticks(list(places), [writable(name, families) for name in names], **text)
    axes.set_xlabel(writable(measure.label, families), **text)
    if measure.title:
        axes.set_title(
            writable(measure.title, families), loc="left", **{**text, "size": LETTERS - 0.5, "color": SOFT}
        )
    dress(axes, families, grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(INK)
