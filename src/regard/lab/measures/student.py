"""Whether a mean over seeds is away from 0 by more than chance would have it: Student's t.

In: differences, one a seed. Out: t, and how large it must be. One-sided, since a claim has a direction.
"""

import math

from regard.lab.measures.spread import Spread

_CRITICAL = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83)
"""For 2, 3, … 10 differences: what t exceeds by chance one time in twenty (degrees of freedom: one less)."""


def t_of(differences: Spread) -> float:
    """The mean in its standard errors, mean / (deviation / √n); not a number where the differences do not differ."""
    return differences.mean / differences.error if differences.error else math.nan


def critical_t(count: int) -> float:
    """What t must come to for so many differences, from 2 on; for more than 10 as for 10, which is on the safe side."""
    if count < 2:
        return math.inf
    return _CRITICAL[min(count, len(_CRITICAL) + 1) - 2]
