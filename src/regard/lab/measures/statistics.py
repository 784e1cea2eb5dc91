"""Statistics over seeds, and fits of curves.

`Spread` holds one number per seed; its interval says how far chance alone may have moved the mean (Student's t; each
end by itself is wrong one time in twenty, since a claim has a direction). `average` is the mean of whole results.
`crossing` interpolates where a curve rises through a level. `fitted_exponent` and `fit_parts` say how a cost grows with
lengths; there errors are relative to the cost, so that short lengths count as much as long ones.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from regard.plots.figures.curves import Curve


@dataclass(frozen=True)
class Spread:
    """One number per seed.

    Attributes:
        values: in the order of the seeds; at least one.
    """

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """The spread of any numbers, numpy's included."""
        return cls(tuple(float(value) for value in values))

    @property
    def mean(self) -> float:
        """Σ x / n."""
        return math.fsum(self.values) / len(self.values)

    @property
    def deviation(self) -> float:
        """√(Σ (x − mean)² / (n − 1)); 0 if all are equal (infinite ones too), or if there is but one."""
        if min(self.values) == max(self.values):
            return 0.0
        squares = math.fsum((value - self.mean) ** 2 for value in self.values)
        return math.sqrt(squares / (len(self.values) - 1))

    @property
    def error(self) -> float:
        """The standard error of the mean: the deviation over √n."""
        return self.deviation / math.sqrt(len(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """The 90 % interval of the mean, mean ∓ t · error: each end is wrong one time in twenty (Student's t).

        A single number says nothing about the mean: its interval is all numbers.
        """
        if len(self.values) == 1:
            return -math.inf, math.inf
        return self.mean - self.half, self.mean + self.half

    @property
    def half(self) -> float:
        """Half the length of the interval, as figures show it; 0 for a single number."""
        return critical_t(len(self.values)) * self.error if len(self.values) > 1 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Mean, deviation, interval and values, as a JSON object."""
        return {
            "mean": self.mean,
            "deviation": self.deviation,
            "interval": list(self.interval),
            "values": list(self.values),
        }


def over_seeds(models: Iterable[Mapping[str, Any]], name: str) -> Spread:
    """The number of this name over models that differ only in their seeds."""
    return Spread.of(model[name] for model in models)


def spread_curve(label: str, x: Sequence[float], spreads: Sequence[Spread]) -> Curve:
    """The means as a curve, with the 90 % interval of each as a band."""
    return Curve(
        label,
        x,
        [spread.mean for spread in spreads],
        [spread.mean - spread.half for spread in spreads],
        [spread.mean + spread.half for spread in spreads],
    )


def average(runs: Sequence[Any]) -> Any:
    """The mean over runs, number by number, of what each returned; what is not a number is the first run's.

    Args:
        runs: one per seed, of the same structure: mappings and lists of numbers. A key that some runs lack is averaged
            over the others.
    """
    first = runs[0]
    if isinstance(first, Mapping):
        keys = dict.fromkeys(key for run in runs for key in run)
        return {key: average([run[key] for run in runs if key in run]) for key in keys}
    if isinstance(first, list | tuple) and all(len(run) == len(first) for run in runs):
        return [average(each) for each in zip(*runs, strict=True)]
    if isinstance(first, int | float) and not isinstance(first, bool):
        return math.fsum(runs) / len(runs)
    return first


_CRITICAL = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83)
"""For 2, 3, … 10 differences: what t exceeds by chance one time in twenty (degrees of freedom: one fewer)."""


def critical_t(count: int) -> float:
    """The bound on t for this many differences, from 2 on; for more than 10 that of 10, which is the stricter."""
    if count < 2:
        return math.inf
    return _CRITICAL[min(count, len(_CRITICAL) + 1) - 2]


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """The x where y first rises through a level, interpolated between two points; nan if it never does.

    Args:
        x: ascending.
        y: one value per x.
        level: to be crossed.
    """
    for (x0, y0), (x1, y1) in pairwise(zip(x, y, strict=True)):
        if y0 < level <= y1:
            return x0 + (level - y0) / (y1 - y0) * (x1 - x0)
    return math.nan


def fitted_exponent(lengths: Sequence[float], costs: Sequence[float]) -> float:
    """The p of cost ∝ length^p over the longer half of the lengths: the slope of log against log.

    Args:
        lengths: ascending, two at least.
        costs: one per length; the result is nan if one of the longer half is not above 0.
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
        constant: per pair of sentences.
        source: per source word.
        target: per target word.
        pair: per pair of a source and a target word.
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
        costs: one per pair of lengths, above 0.
    """
    terms = np.array([(1, l1, l2, l1 * l2) for l1, l2 in lengths], dtype=float)
    weighted = terms / np.array(costs, dtype=float)[:, None]  # a perfect fit gives 1 everywhere
    best, least = np.zeros(4), float("inf")
    for size in (1, 2, 3, 4):
        for chosen in combinations(range(4), size):
            fitted = np.linalg.lstsq(weighted[:, chosen], np.ones(len(costs)), rcond=None)[0]
            error = float(((weighted[:, chosen] @ fitted - 1) ** 2).sum())
            if (fitted >= 0).all() and error < least:
                best, least = np.zeros(4), error
                best[list(chosen)] = fitted
    return Parts(*best.tolist())
