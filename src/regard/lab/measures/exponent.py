"""How a cost grows with lengths: the exponent of a power, and the parts that are constant, linear and bilinear.

In: lengths and costs. Out: an exponent, or `Parts`. Errors count by their share of the cost, so that short lengths
have their say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


def fitted_exponent(lengths: Sequence[float], costs: Sequence[float]) -> float:
    """The p of cost ∝ length^p over the longer half of the lengths: the slope of log against log.

    Args:
        lengths: ascending, two at least.
        costs: one each; not a number comes back where one of the longer half is not above 0.
    """
    half = len(lengths) // 2 if len(lengths) > 3 else 0
    x, y = np.array(lengths[half:], dtype=float), np.array(costs[half:], dtype=float)
    if not (y > 0).all():
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


@dataclass(frozen=True)
class Parts:
    """cost = constant + source·l₁ + target·l₂ + pair·l₁l₂, none below 0.

    Attributes:
        constant: what any pair of sentences costs.
        source: what a source word costs.
        target: what a target word costs.
        pair: what each pair of a source and a target word costs.
    """

    constant: float
    source: float
    target: float
    pair: float

    def cost(self, l1: float, l2: float) -> float:
        """The cost at two lengths."""
        return self.constant + self.source * l1 + self.target * l2 + self.pair * l1 * l2


def fit_parts(lengths: Sequence[tuple[int, int]], costs: Sequence[float]) -> Parts:
    """The parts that fit best, by least squares of relative errors under the constraint that none is below 0.

    With four parts there are fifteen choices of which may be above 0; the best admissible one is the optimum.

    Args:
        lengths: (l₁, l₂), at least four different ones, not all of equal length.
        costs: one each, above 0.
    """
    terms = np.array([(1, l1, l2, l1 * l2) for l1, l2 in lengths], dtype=float)
    weighted = terms / np.array(costs, dtype=float)[:, None]  # a perfect fit gives 1 everywhere
    best, least = np.zeros(4), float("inf")
    for size in (1, 2, 3, 4):
        for chosen in combinations(range(4), size):
            found = np.linalg.lstsq(weighted[:, chosen], np.ones(len(costs)), rcond=None)[0]
            error = float(((weighted[:, chosen] @ found - 1) ** 2).sum())
            if (found >= 0).all() and error < least:
                best, least = np.zeros(4), error
                best[list(chosen)] = found
    return Parts(*best.tolist())
