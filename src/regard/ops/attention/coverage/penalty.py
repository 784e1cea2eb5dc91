"""What it costs to attend to the same words again (See et al. 2017, Eq. 12)."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def coverage_before(alpha: Float[Tensor, "B Ty Tx"]) -> Float[Tensor, "B Ty Tx"]:
    """C_{i−1,j} = Σ_{k<i} α_kj, before each step; 0 before the first."""
    return torch.nn.functional.pad(alpha.cumsum(dim=1)[:, :-1], (0, 0, 1, 0))


def coverage_penalty(alpha: Float[Tensor, "B Ty Tx"]) -> Float[Tensor, "B Ty"]:
    """Σ_j min(α_ij, C_{i−1,j}) at each target position: 0 where only fresh words are attended to, at most Σ_j α_ij.

    Steps are to be summed over real target positions by the caller; those beyond a sentence's end change none before.
    """
    return torch.minimum(alpha, coverage_before(alpha)).sum(dim=-1)
