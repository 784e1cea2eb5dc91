"""Where a curve that is known at some points rises through a level.

In: the points. Out: a place between two of them.
"""

import math
from collections.abc import Sequence
from itertools import pairwise


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """Where y first rises through a level, interpolated between its neighbours; not a number where it never does.

    Args:
        x: ascending.
        y: one each.
        level: what is crossed.
    """
    for (x0, y0), (x1, y1) in pairwise(zip(x, y, strict=True)):
        if y0 < level <= y1:
            return x0 + (level - y0) / (y1 - y0) * (x1 - x0)
    return math.nan
