"""Line charts as inline SVG, coloured by the page's style sheet, and their values from a training log.

In: log rows with ``event`` and ``update``; lines of points. Out: `Markup`, a figure with its title and legend. Each
point shows its value on hover. Missing, null and non-finite values of the log are skipped.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.plots.html import Markup, element


def logged(
    rows: Iterable[Mapping[str, Any]], event: str, key: str, *, scale: float = 1.0
) -> list[tuple[float, float]]:
    """Collect one quantity from the rows of one event as points (update, value), in the order of the log.

    Args:
        rows: of the training log.
        event: "train" or "validation".
        key: its name, such as "loss".
        scale: a factor, such as 100 for per cent.
    """
    return [
        (float(row["update"]), scale * float(row[key]))
        for row in rows
        if row.get("event") == event and _is_number(row.get("update")) and _is_number(row.get(key))
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


STYLES = ("first", "second", "third", "fourth")
WIDTH, HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 430, 12, 210
_MOST_POINTS = 300
_FLAT = 1e-12  # lines no higher than this are drawn at 0


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes:
        name: in the legend.
        kind: its CSS class, which sets colour and marker: one of `STYLES`, or "quiet", which has no markers.
        points: (x, y), x ascending.
    """

    name: str
    kind: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Scale:
    """A linear map from data to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)


def line_chart(
    title: str,
    curves: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    x_names: Sequence[str] = (),
    bars: Sequence[int] = (),
    top: float | None = None,
) -> Markup:
    """Draw lines from 0 upwards over a shared axis.

    Args:
        title: of the figure.
        curves: the lines, with at least one point in all.
        x_label: of the x axis.
        y_label: of the y axis.
        x_names: labels of x = 0, 1, 2, … instead of numbers.
        bars: counts drawn as bars behind the lines, one per `x_names`, on their own scale.
        top: the end of the y axis; by default above the highest point.
    """
    xs = [x for curve in curves for x, _ in curve.points]
    highest = max(y for curve in curves for _, y in curve.points)
    y_ticks = ticks(top or (highest if highest > _FLAT else 1.0))
    across = (
        _Scale(-0.5, len(x_names) - 0.5, _LEFT, _RIGHT)
        if x_names
        else _Scale(0, max(*xs, 1.0), _LEFT, _RIGHT)
    )
    up = _Scale(0, y_ticks[-1], _BOTTOM, _TOP)
    x_ticks = enumerate(x_names) if x_names else ((x, _plain(x)) for x in ticks(across.high, inside=True))
    chart = element(
        "svg",
        *_frame(across, up, y_ticks, x_ticks),
        *_bars(bars, across),
        *(piece for curve in curves for piece in _curve(curve, across, up)),
        element("text", x_label, class_="label", x=(_LEFT + _RIGHT) / 2, y=HEIGHT - 6, text_anchor="middle"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"{title}: {y_label} against {x_label}",
    )
    names = [element("span", curve.name, class_=f"key {curve.kind}") for curve in curves]
    if bars:
        names.append(element("span", "sentences", class_="key bars"))
    heading = element("figcaption", element("b", title), element("span", y_label, class_="unit"))
    return element("figure", heading, element("p", *names, class_="keys"), chart, class_="chart")


def ticks(highest: float, *, inside: bool = False, about: int = 5) -> list[float]:
    """Round numbers from 0 in steps of 1, 2, 2.5 or 5 times a power of ten.

    Args:
        highest: the value to reach.
        inside: whether to stop at or below `highest` instead.
        about: the most steps.
    """
    power = 10.0 ** math.floor(math.log10(highest / about))
    step = next(
        size * power for size in (1, 2, 2.5, 5, 10, 20) if size * power * about >= highest * (1 - 1e-9)
    )
    number = math.floor(highest / step + 1e-9) if inside else math.ceil(highest / step - 1e-9)
    return [k * step for k in range(number + 1)]


def _frame(
    across: _Scale, up: _Scale, y_ticks: Sequence[float], x_ticks: Iterable[tuple[float, str]]
) -> list[Markup]:
    pieces = []
    for tick in y_ticks:
        y = up(tick)
        pieces.append(
            element("line", class_="axis" if tick == 0 else "grid", x1=_LEFT, x2=_RIGHT, y1=y, y2=y)
        )
        pieces.append(element("text", _plain(tick), x=_LEFT - 7, y=y + 4, text_anchor="end"))
    for x, name in x_ticks:
        pieces.append(element("text", name, x=across(x), y=_BOTTOM + 17, text_anchor="middle"))
    return pieces


def _bars(numbers: Sequence[int], across: _Scale) -> list[Markup]:
    """Bars up to two fifths of the height, each with its count above the chart, where no line crosses it."""
    pieces = []
    half = 0.38
    for place, number in enumerate(numbers):
        left, right = across(place - half), across(place + half)
        height = round(0.4 * (_BOTTOM - _TOP) * number / max(numbers), 1)
        box = {"x": left, "y": _BOTTOM - height, "width": round(right - left, 1), "height": height}
        pieces.append(element("rect", class_="bar", **box))
        pieces.append(
            element(
                "text",
                f"{number:,}",
                class_="count",
                x=across(place),
                y=_TOP - 4,
                text_anchor="middle",
            )
        )
    return pieces


def _curve(curve: Line, across: _Scale, up: _Scale) -> list[Markup]:
    stride = -(-len(curve.points) // _MOST_POINTS)
    places = [(across(x), up(y), x, y) for x, y in (*curve.points[:-1:stride], *curve.points[-1:])]
    line = " ".join(f"{x},{y}" for x, y, _, _ in places)
    pieces = [element("polyline", class_=f"curve {curve.kind}", points=line)]
    if curve.kind == "quiet" and len(places) > 1:
        return pieces
    for x, y, _, value in places:
        label = element("title", f"{curve.name}: {value:.4g}")
        pieces.append(
            element("path", label, class_=f"mark {curve.kind}", d=_MARKS[curve.kind].format(x=x, y=y))
        )
    return pieces


_DISC = "M{x} {y}m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z"
_MARKS = {
    "first": _DISC,
    "second": "M{x} {y}m-2.9 -2.9h5.8v5.8h-5.8z",
    "third": "M{x} {y}m0 -3.8l3.6 6.4h-7.2z",
    "fourth": "M{x} {y}m0 -4l4 4l-4 4l-4 -4z",
    "quiet": _DISC,
}


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number == round(number) else f"{number:g}"
