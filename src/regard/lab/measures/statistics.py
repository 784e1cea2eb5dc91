"""A number over several seeds: its mean and how far they lie apart.

In: one number a seed. Out: `Spread`. The deviation is the sample's (n − 1); of one number it is 0, which says that
nothing is known of it, not that it is small.

Whether a mean over seeds is away from 0 by more than chance would have it: Student's t.

In: differences, one a seed. Out: t, and how large it must be. One-sided, since a claim has a direction.

Where a curve that is known at some points rises through a level.

In: the points. Out: a place between two of them.

How a cost grows with lengths: the exponent of a power, and the parts that are constant, linear and bilinear.

In: lengths and costs. Out: an exponent, or `Parts`. Errors count by their share of the cost, so that short lengths
have their say.

What reading first is worth to a classifier, from the accuracies of both starts.

In: the numbers of the experiment on pre-training. Out: its two curves, and the gap between them seed by seed.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Some numbers and what they come to.

    Attributes:
        values: one a seed, in the seeds' order.
    """

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """The spread of some numbers, at least one."""
        return cls(tuple(float(value) for value in values))

    @property
    def mean(self) -> float:
        """Their sum over their number."""
        return math.fsum(self.values) / len(self.values)

    @property
    def deviation(self) -> float:
        """√(Σ (x − mean)² / (n − 1)), or 0 for one number."""
        if len(self.values) == 1:
            return 0.0
        squares = math.fsum((value - self.mean) ** 2 for value in self.values)
        return math.sqrt(squares / (len(self.values) - 1))

    @property
    def error(self) -> float:
        """The mean's own deviation, its standard error: that of the numbers over √n."""
        return self.deviation / math.sqrt(len(self.values))

    @property
    def low(self) -> float:
        """The mean less one deviation."""
        return self.mean - self.deviation

    @property
    def high(self) -> float:
        """The mean and one deviation more."""
        return self.mean + self.deviation

    def to_json(self) -> dict[str, Any]:
        """Give the spread as a JSON object."""
        return {"mean": self.mean, "deviation": self.deviation, "values": list(self.values)}


def over_seeds(models: Iterable[Mapping[str, Any]], part: str) -> Spread:
    """One of the numbers of some models that differ in their seeds alone.

    Args:
        models: one a seed, each with its numbers.
        part: which of them.
    """
    return Spread.of(model[part] for model in models)


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


BEFORE, AFTER = "before reading", "after reading"
"""What a classifier begins as: the language model, before it has read or after."""


def means(numbers: Mapping[str, Any], start: str) -> list[float]:
    """Accuracy at each size, mean over the seeds."""
    return [each["mean"] for each in numbers["accuracy"][start]]


def gains(numbers: Mapping[str, Any]) -> list[list[float]]:
    """Of each size and each seed: how many points reading first gained on the same labelled reviews."""
    pairs = zip(numbers["accuracy"][BEFORE], numbers["accuracy"][AFTER], strict=True)
    return [[b - a for a, b in zip(one["values"], other["values"], strict=True)] for one, other in pairs]
