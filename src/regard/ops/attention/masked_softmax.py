"""Energies → alpha, over real words only (Bahdanau et al. 2015, Eq. 6)."""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float


def masked_softmax(energies: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"]) -> Float[Tensor, "B Q Tx"]:
    """α_ij = exp(e_ij) / Σ_k exp(e_ik), k over real words; exactly 0 on padding.

    Args:
        energies: one row for each query.
        mask: True at real words; each row has at least one.
    """
    return energies.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(dim=-1)


def attend(
    energies: Float[Tensor, "B Q Tx"],
    values: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
) -> tuple[Float[Tensor, "B Q d"], Float[Tensor, "B Q Tx"]]:
    """From energies to the context (Eq. 5): c_i = Σ_j α_ij h_j.

    Returns:
        The context of each query, and alpha.
    """
    # Eq. 6
    alpha = masked_softmax(energies, mask)  # (B, Q, Tx)
    # Eq. 5
    return torch.bmm(alpha, values), alpha  # (B, Q, d)
