"""Query, key and value in the matrix form V softmax(KᵀQ/√p); the same signatures as `naive`.

Batch first, the lectures' columns are our rows: softmax(QKᵀ/√p) V. Heads become sentences of a larger batch.
"""

import torch
from torch import Tensor

from regard.ops.attention.masked_softmax import attend
from regard.ops.shapes import Bool, Float


def query_key_value(
    query: Float[Tensor, "B Q n"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_Q: Float[Tensor, "p n"],
    W_K: Float[Tensor, "p d"],
    W_V: Float[Tensor, "r d"] | None,
    scaled: bool = True,
) -> tuple[Float[Tensor, "B Q r"], Float[Tensor, "B Q Tx"]]:
    """V softmax(KᵀQ/√p), all words at once."""
    Q, K = query @ W_Q.T, annotations @ W_K.T
    V = annotations if W_V is None else annotations @ W_V.T
    return attend(head_energies(Q, K, 1, scaled), V, mask)


def head_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"], heads: int, scaled: bool = True
) -> Float[Tensor, "B HQ Tx"]:
    """QKᵀ/√(p/H) of every head in one batched product, the query scaled before it; QKᵀ if not `scaled`."""
    if scaled:
        query = query * (query.shape[-1] // heads) ** -0.5
    if heads == 1:
        return torch.bmm(query, keys.transpose(1, 2))
    product = _split(query, heads) @ _split(keys, heads).transpose(2, 3)  # (B, H, Q, Tx)
    return product.flatten(1, 2)


def head_contexts(
    alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx r"], heads: int
) -> Float[Tensor, "B Q r"]:
    """Every head's alpha with its share of the values, in one batched product."""
    if heads == 1:
        return torch.bmm(alpha, values)
    by_head = alpha.view(alpha.shape[0], heads, -1, alpha.shape[2])
    contexts = by_head @ _split(values, heads)  # (B, H, Q, r/H)
    return contexts.transpose(1, 2).flatten(2)


def _split(x: Tensor, heads: int) -> Tensor:
    """(B, T, p) → (B, H, T, p/H)."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)
