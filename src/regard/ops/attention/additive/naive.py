"""Additive energies, the alignment model of Bahdanau et al. 2015 (A.1.2): a(s, h) = v_aᵀ tanh(W_a s + U_a h).

Query and keys come projected: ``query`` is W_a s_{i−1}, and ``keys`` U_a h_j, computed once per sentence.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Float


def additive_energies(
    query: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"], v_a: Float[Tensor, "a"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), one query and one key at a time."""
    rows = []
    for q in query.unbind(dim=1):
        row = [torch.tanh(q + k) @ v_a for k in keys.unbind(dim=1)]  # (B,) each
        rows.append(torch.stack(row, dim=1))  # (B, Tx)
    return torch.stack(rows, dim=1)  # (B, Q, Tx)
