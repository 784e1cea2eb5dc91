"""Bilinear energies: Luong et al. 2015 (§3.1, "general"), and qᵀ W k of the lectures."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def bilinear_energies(
    query: Float[Tensor, "B Q n"], annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "n d"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ W_a h_j."""
    return torch.einsum("bqn,nd,btd->bqt", query, W_a, annotations)
