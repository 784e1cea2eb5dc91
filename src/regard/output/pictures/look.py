"""How curves and bars look: told apart by dash, mark and lightness, so that grey print keeps them apart too.

In: a place in a row of curves. Out: what matplotlib needs to draw it. Also the bare axes all charts share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from regard.output.pictures.shade import FAINT, INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTERS = 9.0
"""Points, of all but titles."""


@dataclass(frozen=True)
class Look:
    """One way to draw a curve; a bar takes the colour alone."""

    colour: str
    dash: Any
    mark: str


LOOKS = (
    Look("#0b3c5d", "-", "o"),
    Look("#d1495b", (0, (5, 2)), "s"),
    Look("#e09f1f", (0, (1.2, 1.6)), "^"),
    Look("#4a9b7f", (0, (6, 1.5, 1.2, 1.5)), "D"),
    Look("#7a5c99", (0, (3, 1.2)), "v"),
    Look("#8c8c86", "-", "x"),
    Look("#1b1b1a", (0, (8, 2, 1.2, 2, 1.2, 2)), "P"),
    Look("#5aa9d6", (0, (2, 1)), "*"),
    Look("#a3561f", (0, (4, 1, 1, 1)), "h"),
)


def look(index: int) -> Look:
    """The look of the curve at a place; beyond the last they come round again."""
    return LOOKS[index % len(LOOKS)]


def dress(axes: Axes, families: Sequence[str], *, grid: Literal["x", "y", "both"] = "y") -> None:
    """Take from axes what is not needed: the frame above and at the right, heavy ticks.

    Args:
        axes: to be dressed, when all is drawn.
        families: fonts, as `regard.output.pictures.fonts.families_for` gives them.
        grid: along which axis faint lines run: "x", "y" or "both".
    """
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=SOFT, linewidth=0.8)
    axes.grid(axis=grid, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=SOFT, labelcolor=INK, labelsize=LETTERS - 0.5, length=3, width=0.8)
    axes.tick_params(which="minor", length=0)
    for label in (*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")):
        label.set_fontfamily(list(families))
