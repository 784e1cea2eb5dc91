"""Energies → alpha that is zero at most words: sparsemax (Martins & Astudillo 2016), one row at a time.

α is the point of the simplex nearest to the energies: α_j = max(e_j − τ, 0), with τ such that they sum to 1. No sorting
here: words at or below τ are removed, and τ is computed again, until no word is removed.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float


def sparsemax(energies: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"]) -> Float[Tensor, "B Q Tx"]:
    """α_ij = max(e_ij − τ_i, 0) over real words; exactly 0 on padding.

    Args:
        energies: one row for each query; −∞ for words it may not attend to.
        mask: True at real words; each row has at least one.
    """
    rows = []
    for sentence, real in zip(energies, mask, strict=True):
        for e in sentence:
            support = real & (e > float("-inf"))
            while True:
                tau = (e[support].sum() - 1) / support.sum()
                staying = support & (e > tau)
                if torch.equal(staying, support):
                    break
                support = staying
            rows.append(torch.where(support, e - tau, 0.0))  # (Tx,)
    return torch.stack(rows).view_as(energies)
