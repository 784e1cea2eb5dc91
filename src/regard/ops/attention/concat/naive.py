"""Concat energies: Luong et al. 2015 (§3.1): e_ij = v_aᵀ tanh(W_a [q_i; h_j])."""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def concat_energies(
    query: Float[Tensor, "B Q n"],
    annotations: Float[Tensor, "B Tx d"],
    W_a: Float[Tensor, "a n+d"],
    v_a: Float[Tensor, "a"],
) -> Float[Tensor, "B Q Tx"]:
    """Every query beside every annotation, then one matrix over both."""
    num_queries, num_words = query.shape[1], annotations.shape[1]
    pairs = torch.cat(
        [
            query.unsqueeze(2).expand(-1, -1, num_words, -1),
            annotations.unsqueeze(1).expand(-1, num_queries, -1, -1),
        ],
        dim=-1,
    )  # (B, Q, Tx, n+d)
    return torch.tanh(pairs @ W_a.T) @ v_a  # (B, Q, Tx)
