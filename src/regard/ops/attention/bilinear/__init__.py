"""Bilinear ("general") energies: `naive` as printed; `fused` splits off the keys, computed once per sentence."""

from torch import Tensor

from regard.ops.attention.bilinear import fused, naive
from regard.ops.attention.dot import dot_energies
from regard.ops.native import PackedWeights
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float

__all__ = ["bilinear_energies", "bilinear_keys"]


def bilinear_keys(
    annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "n d"], packed: PackedWeights | None = None
) -> Float[Tensor, "B Tx p"]:
    """What the queries meet: W_a h_j, or by the naive path the annotations; `packed` as for `affine`."""
    return fused.bilinear_keys(annotations, W_a, packed) if fused_wanted() else annotations


def bilinear_energies(
    query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"], W_a: Float[Tensor, "n d"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ W_a h_j, from what `bilinear_keys` gave."""
    return dot_energies(query, keys) if fused_wanted() else naive.bilinear_energies(query, keys, W_a)
