"""Dot-product energies: Luong et al. 2015 (§3.1, "dot") and, scaled, V softmax(KᵀQ/√p) of the lectures."""

import math

import torch
from torch import Tensor

from regard.ops.shapes import Float


def dot_energies(query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j, one query and one key at a time."""
    rows = []
    for q in query.unbind(dim=1):
        rows.append(torch.stack([(q * k).sum(dim=-1) for k in keys.unbind(dim=1)], dim=1))  # (B, Tx)
    return torch.stack(rows, dim=1)  # (B, Q, Tx)


def scaled_dot_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j / √p."""
    return dot_energies(query, keys) / math.sqrt(keys.shape[-1])
