"""Additive energies of all queries and keys in three calls; the same signature as `naive`."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def additive_energies(
    query: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"], v_a: Float[Tensor, "a"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)."""
    return torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1)) @ v_a  # (B, Q, Tx, a) → (B, Q, Tx)
