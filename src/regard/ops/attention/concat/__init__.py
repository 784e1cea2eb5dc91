"""Concat energies: `naive` as printed; `fused` splits W_a so that the keys are computed once per sentence."""

from torch import Tensor

from regard.ops.attention.additive import additive_energies
from regard.ops.attention.concat import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float

__all__ = ["concat_energies", "concat_keys", "concat_queries"]


def concat_queries(query: Float[Tensor, "B Q n"], W_a: Float[Tensor, "a nd"]) -> Float[Tensor, "B Q p"]:
    """What meets the keys: the query's part of W_a [q_i; h], or by the naive path the query as it is."""
    return fused.concat_query(query, W_a) if fused_wanted() else query


def concat_keys(annotations: Float[Tensor, "B Tx d"], W_a: Float[Tensor, "a nd"]) -> Float[Tensor, "B Tx p"]:
    """What the queries meet: the annotations' part of W_a [q; h_j], or by the naive path the annotations."""
    return fused.concat_keys(annotations, W_a) if fused_wanted() else annotations


def concat_energies(
    query: Float[Tensor, "B Q p"],
    keys: Float[Tensor, "B Tx k"],
    W_a: Float[Tensor, "a nd"],
    v_a: Float[Tensor, "a"],
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a [q_i; h_j]), from what `concat_queries` and `concat_keys` gave."""
    if fused_wanted():
        return additive_energies(query, keys, v_a)
    return naive.concat_energies(query, keys, W_a, v_a)
