"""Attention as heat maps, like Figure 3 of Bahdanau et al.

In: alpha (rows, columns) and its labels, or a `WhatIf`. Out: a matplotlib `Figure`: source along the top, target down
the left, white for 0 and black for 1 (the paper's figure is the negative of ours), with a key below; a difference of
two is blue where it is positive and red, with a dash, where it is negative. Figures grow with the sentence: cells stay
square and labels legible from 1 word to 60 and more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.evaluation.metrics import hundredths
from regard.plots.colours import FAINT, INK, cell_colour
from regard.plots.figures.canvas import new_figure, page_axes, require_matplotlib
from regard.plots.figures.fonts import Font, draw_scale, families_for, renderable, scale_width, text_width
from regard.plots.text import is_character, truncate
from regard.text.links import GoldLinks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.tasks.translate.result import Translation
    from regard.tasks.translate.what_if import WhatIf

_MARGIN = 0.15  # inches around every map
_LABEL_GAP = 0.07  # inches between a label and its row or column
_GOLD = "#E69F00"
_POINTS_PER_INCH = 72
_DASH_FROM, _WHITE_DASH_FROM = 0.25, 0.6  # how negative a cell with a dash is
_KEY_SIZE = 7.5  # points
_DIFFERENCE_COLOURS = "RdBu"


@dataclass(frozen=True, eq=False)
class HeatMap:
    """One heat map of a figure.

    Attributes:
        alpha: (rows, columns) from 0 to 1; from −1 to 1 if signed.
        source_labels: one per column.
        target_labels: one per row.
        gold: links to outline: solid for sure ones, dashed for possible ones.
        title: a line above it.
        signed: whether it is a difference.
    """

    alpha: NDArray[np.floating]
    source_labels: Sequence[str]
    target_labels: Sequence[str]
    gold: GoldLinks | None = None
    title: str | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        labels = (len(self.target_labels), len(self.source_labels))
        if self.alpha.shape != labels:
            raise DataError(
                f"heat map: alpha has shape {self.alpha.shape}, the labels {labels}; give one label per row and column"
            )


@dataclass(frozen=True)
class _Layout:
    """The parts of one map, in inches."""

    cell: float
    left: float
    top: float
    title: float
    width: float
    height: float
    font_size: float
    upright: tuple[bool, ...]
    families: tuple[str, ...]


def draw_heatmap(
    alpha: NDArray[np.floating],
    source_labels: Sequence[str],
    target_labels: Sequence[str],
    *,
    gold: GoldLinks | None = None,
    title: str | None = None,
) -> Figure:
    """Draw one heat map.

    Args:
        alpha: (rows, columns) from 0 to 1.
        source_labels: one per column.
        target_labels: one per row.
        gold: links to outline.
        title: a line above it.

    Raises:
        DataError: the labels do not fit alpha.
        MissingExtraError: matplotlib is not installed.
    """
    return draw_heatmaps([HeatMap(alpha, source_labels, target_labels, gold, title)])


def draw_heatmaps(maps: Sequence[HeatMap], *, columns: int | None = None) -> Figure:
    """Draw several heat maps in one figure, row by row, all to one scale.

    Args:
        maps: what to draw.
        columns: how many per row; by default up to two, and three from five maps on.

    Raises:
        DataError: no maps.
        MissingExtraError: matplotlib is not installed.
    """
    if not maps:
        raise DataError("a figure of heat maps needs at least one; pass one or more")
    require_matplotlib()
    columns = columns or min(len(maps), 3 if len(maps) > 4 else 2)
    keys = _keys(maps)
    font = Font.covering((), _KEY_SIZE)
    longest = max(max(one.alpha.shape) for one in maps)
    layouts = [_lay_out(one, longest) for one in maps]
    rows = [range(start, min(start + columns, len(maps))) for start in range(0, len(maps), columns)]
    widths = [max(layouts[k].width for k in range(column, len(maps), columns)) for column in range(columns)]
    heights = [max(layouts[k].height for k in row) for row in rows]
    keys_width = sum(scale_width(font, key.name, start=key.start) + 2 * font.em for key in keys)
    keys_height = 1.8 * font.em if keys else 0.0
    figure = new_figure(max(sum(widths), keys_width + 2 * _MARGIN), sum(heights) + keys_height)
    down = 0.0
    for row, height in zip(rows, heights, strict=True):
        for column, k in enumerate(row):
            _draw(figure, maps[k], layouts[k], right=sum(widths[:column]), down=down)
        down += height
    if keys:
        _draw_keys(figure, keys, font)
    return figure


@dataclass(frozen=True)
class _Key:
    """What the colours of some maps mean: the weight of the first and, always 1, of the last."""

    name: str
    start: float
    colour: Callable[[float], Any]


def _keys(maps: Sequence[HeatMap]) -> list[_Key]:
    """A key for the weights and one for the differences, where there are any."""
    import matplotlib

    drawn = {one.signed for one in maps if one.alpha.size}
    weights, differences = _Key("attention", 0, cell_colour), "difference of attention"
    keys = [weights] if False in drawn else []
    if True in drawn:
        keys.append(_Key(differences, -1, matplotlib.colormaps[_DIFFERENCE_COLOURS]))
    return keys


def _draw_keys(figure: Figure, keys: Sequence[_Key], font: Font) -> None:
    """Draw the keys side by side at the foot of the figure."""
    axes = page_axes(figure)
    left, baseline = _MARGIN, float(figure.get_size_inches()[1]) - _MARGIN
    for key in keys:
        end = draw_scale(axes, font, left, baseline, key.name, start=key.start, colour=key.colour)
        left = end + 2 * font.em


def _lay_out(one: HeatMap, longest: int) -> _Layout:
    """Compute the size of one map; cells shrink from 0.32 to 0.18 inches for longer sentences."""
    cell = float(np.interp(longest, [12, 40], [0.32, 0.18]))
    font_size = float(np.interp(cell, [0.18, 0.32], [7.0, 10.0]))
    families = families_for([*one.source_labels, *one.target_labels, one.title or ""])
    widths = [text_width(truncate(label), font_size, families) for label in one.source_labels]
    upright = tuple(map(is_character, one.source_labels))
    turned = (width for width, up in zip(widths, upright, strict=True) if not up)
    top = max(font_size / _POINTS_PER_INCH, *turned, 0.0) + _LABEL_GAP
    left = max((text_width(truncate(label), font_size, families) for label in one.target_labels), default=0.0)
    left += _LABEL_GAP
    title = 2 * font_size / _POINTS_PER_INCH if one.title else 0.0
    title_width = text_width(one.title or "", font_size + 1, families)
    rows, columns = one.alpha.shape
    return _Layout(
        cell=cell,
        left=left,
        top=top,
        title=title,
        width=max(left + columns * cell, title_width) + 2 * _MARGIN,
        height=title + top + rows * cell + 2 * _MARGIN,
        font_size=font_size,
        upright=upright,
        families=families,
    )


def _draw(figure: Figure, one: HeatMap, layout: _Layout, *, right: float, down: float) -> None:
    """Draw a map, `right` and `down` inches from the figure's upper left corner."""
    from matplotlib.colors import ListedColormap

    width, height = figure.get_size_inches()
    rows, columns = one.alpha.shape
    if one.title:
        figure.text(
            (right + _MARGIN) / width,
            1 - (down + _MARGIN) / height,
            renderable(one.title, layout.families),
            size=layout.font_size + 1,
            family=layout.families,
            va="top",
            parse_math=False,
        )
    if not one.alpha.size:
        return
    x = right + _MARGIN + layout.left
    y = down + _MARGIN + layout.title + layout.top + rows * layout.cell
    place = (x / width, 1 - y / height, columns * layout.cell / width, rows * layout.cell / height)
    axes = figure.add_axes(place)
    cells: dict[str, Any] = {
        "cmap": ListedColormap([cell_colour(k / 255) for k in range(256)]),
        "vmin": 0,
        "vmax": 1,
    }
    if one.signed:
        cells = {"cmap": _DIFFERENCE_COLOURS, "vmin": -1, "vmax": 1}
        _dash(axes, one.alpha, layout.font_size)
    axes.imshow(one.alpha, interpolation="nearest", aspect="auto", **cells)
    line: dict[str, Any] = {"colors": FAINT, "linewidth": 0.4}
    axes.hlines(np.arange(rows - 1) + 0.5, -0.5, columns - 0.5, **line)
    axes.vlines(np.arange(columns - 1) + 0.5, -0.5, rows - 0.5, **line)
    _write_labels(axes, one, layout)
    if one.gold is not None:
        _outline(axes, one.gold, rows, columns)


def _write_labels(axes: Axes, one: HeatMap, layout: _Layout) -> None:
    style: dict[str, Any] = {"size": layout.font_size, "family": layout.families, "parse_math": False}
    source = [renderable(truncate(label), layout.families) for label in one.source_labels]
    target = [renderable(truncate(label), layout.families) for label in one.target_labels]
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(source)), source, **style)
    for label, upright in zip(axes.get_xticklabels(), layout.upright, strict=True):
        label.set_rotation(0 if upright else 90)
    axes.set_yticks(range(len(target)), target, **style)
    axes.tick_params(length=0, pad=_LABEL_GAP * _POINTS_PER_INCH * 0.8)
    for side in axes.spines.values():
        side.set_linewidth(0.6)


def _dash(axes: Axes, difference: NDArray[np.floating], size: float) -> None:
    """Put a dash on clearly negative cells, so that grey print keeps them apart from positive ones."""
    for i, j in np.argwhere(difference < -_DASH_FROM).tolist():
        colour = "white" if difference[i, j] < -_WHITE_DASH_FROM else INK
        axes.text(j, i, "\N{MINUS SIGN}", size=size, ha="center", va="center", color=colour)


def _outline(axes: Axes, gold: GoldLinks, rows: int, columns: int) -> None:
    """Draw a box inside each linked cell of the map."""
    from matplotlib.patches import Rectangle

    for j, i in sorted(gold.possible):
        if j < columns and i < rows:
            line = "-" if (j, i) in gold.sure else (0, (2, 1.5))
            corner = (j - 0.42, i - 0.42)
            box = Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=_GOLD, linewidth=1.4, linestyle=line)
            axes.add_patch(box)


def draw_what_if(what_if: WhatIf) -> Figure:
    """Draw the attention before and after an intervention, and their difference, between tokens.

    The forced positions are outlined. The difference needs sources of equal length; without attention only the scores
    and texts are written.

    Args:
        what_if: the two translations.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    forced = frozenset((position, step) for step, position in what_if.attend.items())
    maps = [
        _map(what_if.before, "before"),
        _map(what_if.after, "after", GoldLinks(forced, forced) if forced else None),
    ]
    difference = what_if.alpha_difference
    if difference is not None:
        maps.append(
            HeatMap(
                difference,
                what_if.after.source_tokens,
                what_if.step_labels,
                title="after minus before",
                signed=True,
            )
        )
    return draw_heatmaps(maps, columns=len(maps))


def _map(translation: Translation, name: str, forced: GoldLinks | None = None) -> HeatMap:
    title = f"{name}: score {hundredths(translation.score)}"
    if translation.alpha is None:
        return HeatMap(np.zeros((0, 0)), (), (), title=f"{title}, {translation.text}")
    return HeatMap(translation.alpha, translation.source_tokens, translation.tokens, forced, title)
