"""Energies that see the coverage, all queries and keys at once; the same signature as `naive`."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def covered_energies(
    query: Float[Tensor, "B Q a"],
    keys: Float[Tensor, "B Tx a"],
    v_a: Float[Tensor, "a"],
    w_c: Float[Tensor, "a"],
    coverage: Float[Tensor, "B Q Tx"],
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(q_i + k_j + w_c C_ij)."""
    covered = coverage.unsqueeze(3) * w_c  # (B, Q, Tx, a)
    return torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1) + covered) @ v_a
