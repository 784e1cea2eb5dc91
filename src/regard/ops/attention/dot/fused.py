"""Dot-product energies as one batched product; the same signatures as `naive`."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def dot_energies(query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j."""
    return torch.bmm(query, keys.transpose(1, 2))


def scaled_dot_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j / √p, the query scaled before the product."""
    return torch.bmm(query * keys.shape[-1] ** -0.5, keys.transpose(1, 2))
