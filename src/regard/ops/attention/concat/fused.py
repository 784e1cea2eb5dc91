"""Concat energies without the concatenation.

The columns of W_a that meet h_j give the keys, once per sentence; those that meet q_i give the query; the rest
is the additive energy.
"""

from torch import Tensor

from regard.ops.affine import affine
from regard.ops.attention.additive import additive_energies
from regard.ops.shapes import Float


def concat_keys(annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "a nd"]) -> Float[Tensor, "B Tx a"]:
    """The part of W_a [q; h_j] that no query changes."""
    return affine(annotations, W_a[:, -annotations.shape[-1] :])


def concat_query(query: Float[Tensor, "B Q n"], W_a: Float[Tensor, "a nd"]) -> Float[Tensor, "B Q a"]:
    """The part of W_a [q_i; h] that no annotation changes."""
    return affine(query, W_a[:, : query.shape[-1]])


def concat_energies(
    query: Float[Tensor, "B Q n"],
    annotations: Float[Tensor, "B Tx d"],
    W_a: Float[Tensor, "a n+d"],
    v_a: Float[Tensor, "a"],
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a [q_i; h_j])."""
    return additive_energies(concat_query(query, W_a), concat_keys(annotations, W_a), v_a)
