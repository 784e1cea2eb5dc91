"""A number over several seeds: its mean and how far they lie apart.

In: one number a seed. Out: `Spread`. The deviation is the sample's (n − 1); of one number it is 0, which says that
nothing is known of it, not that it is small.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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
