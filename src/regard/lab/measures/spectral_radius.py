"""What the size of the recurrent matrix does to a gradient: the barest recurrence, its spectral radius swept.

In: radii, sizes, seeds. Out: the growth of ∂(v·h_T)/∂h_t a step. For the linear recurrence it is (Uᵀ)^{T−t} v, so its
growth tends to the radius; with tanh every step is also multiplied by 1 − h², which is at most 1.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from regard.lab.measures.gradient_flow import geometric_mean, growth_per_step, norms_by_lag
from regard.ops.rnn import rnn_step


def recurrence(projected: Tensor, U: Tensor, *, linear: bool) -> list[Tensor]:
    """The barest recurrence from a zero state: h_t = f(p_t + U h_{t−1}).

    Args:
        projected: p_1 … p_T, (B, T, n).
        U: (n, n).
        linear: whether f is nothing at all, rather than tanh.

    Returns:
        h_1 … h_T, each (B, n).
    """
    h = projected.new_zeros(projected.shape[0], U.shape[0])
    states = []
    for p in projected.unbind(dim=1):
        (h,) = (p + h @ U.T,) if linear else rnn_step(p, (h,), U, "tanh")
        states.append(h)
    return states


def with_spectral_radius(matrix: Tensor, radius: float) -> Tensor:
    """A square matrix scaled so that its largest eigenvalue has that absolute value."""
    largest = float(torch.linalg.eigvals(matrix).abs().max())
    return matrix * (radius / largest)


def growths_by_radius(
    radii: Sequence[float], *, seed: int, length: int, size: int, rows: int, linear: bool
) -> list[float]:
    """The growth of the gradient a step at each radius, one Gaussian matrix being scaled.

    Args:
        radii: of the recurrent matrix.
        seed: of the matrix, the inputs and v.
        length: T.
        size: n.
        rows: B, over which norms are averaged geometrically.
        linear: see `recurrence`.
    """
    dice = torch.Generator().manual_seed(seed)
    # inputs as long as the toolkit's first word vectors: 1 on average
    words = torch.randn((rows, length, size), generator=dice, dtype=torch.float64) / math.sqrt(size)
    matrix = torch.randn((size, size), generator=dice, dtype=torch.float64)
    v = torch.randn(size, generator=dice, dtype=torch.float64)
    found = []
    for radius in radii:
        states = recurrence(words.requires_grad_(), with_spectral_radius(matrix, radius), linear=linear)
        norms = geometric_mean(norms_by_lag((states[-1] @ v).sum(), states))
        found.append(growth_per_step(norms.tolist()))
    return found
