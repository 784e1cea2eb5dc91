"""How dark a word's ground is for the attention it gets, and the inks that stay legible on it.

In: a weight from 0 to 1. Out: a colour, as ``#rrggbb``: white for 0, blue for 1, in proportion between; or,
where there is no colour, a block. The blue is light enough for black letters and, in grey, dark enough to be told
from white.
"""

import math

INK = "#1b1b1a"
SOFT = "#6a6a66"  # what may be overlooked: numbers of rows, legends
FAINT = "#dedcd6"  # rules, and the empty part of a bar
NEWEST = "#b3121d"  # always with bold letters, so that it is told apart in grey too
FULL = "#4a90d9"
_DEEPEST_FOR_RED = 0.3  # a contrast of 5 to 1

BLOCKS = "·░▒▓█"
ASCII_BLOCKS = ".-+*#"


def shade(weight: float) -> str:
    """Mix white with the full shade in proportion to the weight; beyond 0 and 1, as at them.

    Args:
        weight: from 0 to 1; what is not a number counts as 0.
    """
    part = _bounded(weight)
    full = (int(FULL[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (colour - 255)):02x}" for colour in full)


def red_is_legible(weight: float) -> bool:
    """Say whether letters in `NEWEST` stand out on the shade of a weight; where not, they are `INK`.

    Args:
        weight: from 0 to 1.
    """
    return _bounded(weight) <= _DEEPEST_FOR_RED


def block(weight: float, blocks: str = BLOCKS) -> str:
    """Give the character nearest in darkness.

    Args:
        weight: from 0 to 1; what is not a number counts as 0.
        blocks: from the lightest to the darkest.
    """
    return blocks[round(_bounded(weight) * (len(blocks) - 1))]


def scale_end(greatest: float) -> float:
    """Say where a scale that begins at 0 ends, so that the greatest weight is well visible: 0.1, 0.2, … or 1.

    Args:
        greatest: the greatest weight to be shown.
    """
    return min(1.0, max(1, math.ceil(round(10 * _bounded(greatest), 6))) / 10)


def _bounded(weight: float) -> float:
    return 0.0 if math.isnan(weight) else min(max(float(weight), 0.0), 1.0)
