"""Bilinear energies in two parts: W_a h_j once per sentence, then a plain dot product at each step."""

from torch import Tensor

from regard.ops.affine import affine
from regard.ops.attention.dot import dot_energies
from regard.ops.native import PackedWeights
from regard.ops.shapes import Float


def bilinear_keys(
    annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "n d"], packed: PackedWeights | None = None
) -> Float[Tensor, "B Tx n"]:
    """W_a h_j, which no query changes."""
    return affine(annotations, W_a, packed=packed)


def bilinear_energies(
    query: Float[Tensor, "B Q n"], annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "n d"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ (W_a h_j)."""
    return dot_energies(query, bilinear_keys(annotations, W_a))
