"""Colours and shades: the palette of all plots, and how dark a weight is drawn.

In: a weight from 0 to 1, a tag, the index of a curve. Out: colours as ``#rrggbb``, or a block character where there is
no colour. A greater weight is darker in every plot, on a screen, in a file, in a terminal and on a page, and white is
0 whatever the background around it. Every choice stays legible in grey print: curves differ in dash and marker, tags
are always written.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

INK = "#1b1b1a"
MUTED = "#6a6a66"  # row numbers, legends
FAINT = "#dedcd6"  # rules, and the empty part of a bar
HIGHLIGHT = "#b3121d"  # always with bold text, so that grey print keeps it distinct
ACCENT = "#4a90d9"  # light enough for black text, dark enough to differ from white in grey print
_DEEPEST_FOR_HIGHLIGHT = 0.3  # a contrast of 5 to 1

BLOCKS = "·░▒▓█"
ASCII_BLOCKS = ".-+*#"


def weight_colour(weight: float, full: str = ACCENT) -> str:
    """Mix white with a colour in proportion to a weight: the background of a word.

    Args:
        weight: from 0 to 1, clipped; NaN counts as 0.
        full: the colour of 1.
    """
    part = _bounded(weight)
    channels = (int(full[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (colour - 255)):02x}" for colour in channels)


def cell_colour(weight: float) -> str:
    """The grey of a cell of a heat map: white for 0, `INK` for 1.

    Args:
        weight: from 0 to 1, clipped; NaN counts as 0.
    """
    return weight_colour(weight, INK)


def highlight_is_legible(weight: float) -> bool:
    """Whether text in `HIGHLIGHT` is legible on the colour of a weight; if not, use `INK`.

    Args:
        weight: from 0 to 1.
    """
    return _bounded(weight) <= _DEEPEST_FOR_HIGHLIGHT


def weight_block(weight: float, blocks: str = BLOCKS) -> str:
    """The block character nearest to a weight in darkness.

    Args:
        weight: from 0 to 1, clipped; NaN counts as 0.
        blocks: from the lightest to the darkest.
    """
    return blocks[round(_bounded(weight) * (len(blocks) - 1))]


def scale_end(greatest: float) -> float:
    """The end of a colour scale from 0 that makes the greatest weight clearly visible: 0.1, 0.2, … or 1.

    Args:
        greatest: of the weights shown.
    """
    return min(1.0, max(1, math.ceil(round(10 * _bounded(greatest), 6))) / 10)


def _bounded(weight: float) -> float:
    return 0.0 if math.isnan(weight) else min(max(float(weight), 0.0), 1.0)


TAG_COLOURS = (
    *("#bcd9f0", "#f8d3b0", "#b9e4cf", "#efc9df", "#f5e7a3", "#d6cff0", "#dad6c6", "#c9e6ec", "#edc6c2"),
    *("#79b4e2", "#ee9f5e", "#6fc39f", "#dc8fbb", "#dcc24a", "#a797dc", "#aea78c", "#7fc3d1", "#d98d87"),
)
"""Backgrounds for black text, light ones and then darker ones; the nineteenth tag takes the first again."""


def tag_colours(tags: Iterable[str]) -> dict[str, str]:
    """Give each tag a colour, in the order of the sorted tags: equal sets of tags look alike."""
    return {tag: TAG_COLOURS[number % len(TAG_COLOURS)] for number, tag in enumerate(sorted(set(tags)))}


@dataclass(frozen=True)
class LineStyle:
    """How a curve is drawn: colour, dash pattern and marker, in matplotlib's notation."""

    colour: str
    dash: Any
    marker: str


LINE_STYLES = (
    LineStyle("#0b3c5d", "-", "o"),
    LineStyle("#d1495b", (0, (5, 2)), "s"),
    LineStyle("#e09f1f", (0, (1.2, 1.6)), "^"),
    LineStyle("#4a9b7f", (0, (6, 1.5, 1.2, 1.5)), "D"),
    LineStyle("#7a5c99", (0, (3, 1.2)), "v"),
    LineStyle("#8c8c86", "-", "x"),
    LineStyle("#1b1b1a", (0, (8, 2, 1.2, 2, 1.2, 2)), "P"),
    LineStyle("#5aa9d6", (0, (2, 1)), "*"),
    LineStyle("#a3561f", (0, (4, 1, 1, 1)), "h"),
    LineStyle("#c65bab", (0, (7, 3)), "p"),
    LineStyle("#7a8f1a", (0, (1.2, 1)), "<"),
    LineStyle("#45506b", (0, (3, 1.5, 1.2, 1.5)), "X"),
)


def line_style(index: int) -> LineStyle:
    """The style of the curve with this index; the styles repeat after the last."""
    return LINE_STYLES[index % len(LINE_STYLES)]
