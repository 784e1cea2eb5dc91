"""Additive energies: `naive` pair by pair, `fused` all at once, `native` in C if no gradient is needed."""

import torch
from torch import Tensor

from regard.ops.attention.additive import fused, naive, native
from regard.ops.native import native_applies
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float

__all__ = ["additive_energies"]


def additive_energies(
    query: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"], v_a: Float[Tensor, "a"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), by the faster path."""
    if not torch.is_grad_enabled() and native_applies(v_a, query, keys):
        return native.additive_energies(query, keys, v_a)
    if fused_wanted():
        return fused.additive_energies(query, keys, v_a)
    return naive.additive_energies(query, keys, v_a)
