"""Sparsemax: `naive` removes words until τ is constant; `fused` sorts, with a hand-derived backward pass."""

from torch import Tensor

from regard.ops.attention.sparsemax import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float

__all__ = ["sparsemax"]


def sparsemax(energies: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"]) -> Float[Tensor, "B Q Tx"]:
    """α_ij = max(e_ij − τ_i, 0) over real words, exactly 0 on padding, by the faster path.

    Martins & Astudillo 2016.
    """
    if fused_wanted():
        return fused.sparsemax(energies, mask)
    return naive.sparsemax(energies, mask)
