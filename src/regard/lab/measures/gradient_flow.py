"""How much of a gradient arrives how far back, and how it grows or falls a step.

In: a loss and the states before it; norms. Out: norms by lag, growth factors, quartiles over seeds. It knows
no cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


def norms_by_lag(loss: Tensor, states: Sequence[Tensor]) -> Tensor:
    """‖∂loss/∂h_t‖ of each row through every path that leads from h_t to the loss.

    Args:
        loss: a sum over rows, each row's part depending on that row's states alone.
        states: h_1 … h_T, each (B, n); the tensors that were used, not copies of them.

    Returns:
        (T, B); first the lag 0, which is h_T's, last the lag T − 1, which is h_1's. Zero where no path leads.
    """
    found = torch.autograd.grad(loss, list(states), allow_unused=True)
    rows = [
        torch.zeros_like(h) if grad is None else grad for h, grad in zip(states, found, strict=True)
    ]  # (B, n) each
    norms: Tensor = torch.linalg.vector_norm(torch.stack(rows[::-1]), dim=-1)  # (T, B)
    return norms


def geometric_mean(values: Tensor) -> Tensor:
    """The geometric mean over the last axis, for numbers that lie orders of magnitude apart; 0 if one is 0."""
    return values.log().mean(dim=-1).exp()


def growth_per_step(norms: Sequence[float], first: int = 0) -> float:
    """The factor g of norm ∝ g^lag, by least squares on the logarithms.

    Args:
        norms: by lag from 0 on.
        first: the lag from which on they count.

    Returns:
        Below 1 where the gradient vanishes, above 1 where it explodes; not a number where a norm is 0 or infinite.
    """
    logs = [math.log(norm) if 0 < norm < math.inf else math.nan for norm in norms[first:]]
    lags = np.arange(first, len(norms), dtype=float)
    slope = np.polyfit(lags, np.array(logs), 1)[0] if all(map(math.isfinite, logs)) else math.nan
    return math.exp(slope)


def rate_ratio(growth: float, other: float) -> float:
    """How many times as fast one gradient vanishes or explodes as another; 0 where it does neither.

    Args:
        growth: a factor a step, from `growth_per_step`.
        other: likewise; where it is 1, the question has no answer.
    """
    return abs(math.log(growth) / math.log(other)) if other != 1 else math.nan


def arrived(norms: Sequence[float]) -> float:
    """The norm at the first word over that at the last; not a number where there is none at the last.

    Args:
        norms: by lag from 0 on.
    """
    return norms[-1] / norms[0] if norms[0] else math.nan


@dataclass(frozen=True)
class Quartiles:
    """What lies in the middle of several rows of numbers, column by column.

    Attributes:
        low: a quarter of the rows lie below it.
        median: half of them.
        high: three quarters.
    """

    low: list[float]
    median: list[float]
    high: list[float]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> "Quartiles":
        """The quartiles over rows of one length, one a seed."""
        low, median, high = np.quantile(np.array(rows), (0.25, 0.5, 0.75), axis=0).tolist()
        return cls(low, median, high)
