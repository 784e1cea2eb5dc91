"""Energies with coverage: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + w_c C_{i−1,j}).

C_{i−1,j} = Σ_{k<i} α_kj is word j's coverage so far: Tu et al. 2016 (§3.1) in the simplest form, one number per word,
as in See et al. 2017 (Eq. 11). Query and keys come projected, as in the additive energy.
"""

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
    """e_ij = v_aᵀ tanh(q_i + k_j + w_c C_ij), one query and one key at a time."""
    rows = []
    for i, q in enumerate(query.unbind(dim=1)):
        row = []
        for j, k in enumerate(keys.unbind(dim=1)):
            row.append(torch.tanh(q + k + coverage[:, i, j].unsqueeze(1) * w_c) @ v_a)  # (B,)
        rows.append(torch.stack(row, dim=1))  # (B, Tx)
    return torch.stack(rows, dim=1)  # (B, Q, Tx)
