"""Dot-product energies, plain and scaled: `naive` pair by pair, `fused` one batched product."""

from torch import Tensor

from regard.ops.attention.dot import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float

__all__ = ["dot_energies", "scaled_dot_energies"]


def dot_energies(query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j, by the faster path."""
    if fused_wanted():
        return fused.dot_energies(query, keys)
    return naive.dot_energies(query, keys)


def scaled_dot_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = q_iᵀ k_j / √p, by the faster path."""
    if fused_wanted():
        return fused.scaled_dot_energies(query, keys)
    return naive.scaled_dot_energies(query, keys)
