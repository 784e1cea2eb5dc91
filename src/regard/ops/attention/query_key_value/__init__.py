"""Query, key and value, with one head or several: `naive` word by word, `fused` the matrix form."""

from torch import Tensor

from regard.ops.attention.query_key_value import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float

__all__ = ["head_contexts", "head_energies", "query_key_value"]


def query_key_value(
    query: Float[Tensor, "B Q n"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_Q: Float[Tensor, "p n"],
    W_K: Float[Tensor, "p d"],
    W_V: Float[Tensor, "r d"] | None,
    scaled: bool = True,
) -> tuple[Float[Tensor, "B Q r"], Float[Tensor, "B Q Tx"]]:
    """V softmax(KᵀQ/√p) and alpha, by the faster path; see `naive` for the forms."""
    if fused_wanted():
        return fused.query_key_value(query, annotations, mask, W_Q, W_K, W_V, scaled)
    return naive.query_key_value(query, annotations, mask, W_Q, W_K, W_V, scaled)


def head_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"], heads: int, scaled: bool = True
) -> Float[Tensor, "B HQ Tx"]:
    """qᵀk/√(p/H) (or qᵀk) for each head, the heads' rows one after the other, by the faster path."""
    if fused_wanted():
        return fused.head_energies(query, keys, heads, scaled)
    return naive.head_energies(query, keys, heads, scaled)


def head_contexts(
    alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx r"], heads: int
) -> Float[Tensor, "B Q r"]:
    """Each head's Σ_j α_j v_j, side by side, by the faster path."""
    if fused_wanted():
        return fused.head_contexts(alpha, values, heads)
    return naive.head_contexts(alpha, values, heads)
