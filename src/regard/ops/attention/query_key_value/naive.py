"""Query, key and value, projected by W_Q, W_K and W_V, word by word as in the lectures.

A word x has the query q = W_Q x; every word h_j has the key k_j = W_K h_j and the value v_j = W_V h_j; α is the softmax
of qᵀk_j/√p, and the context is Σ_j α_j v_j. Several heads do the same side by side, each with its own rows of W_Q, W_K
and W_V.
"""

import math

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float


def query_key_value(
    query: Float[Tensor, "B Q n"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_Q: Float[Tensor, "p n"],
    W_K: Float[Tensor, "p d"],
    W_V: Float[Tensor, "v d"],
) -> tuple[Float[Tensor, "B Q v"], Float[Tensor, "B Q Tx"]]:
    """One head, one sentence and one query at a time.

    Returns:
        The context of each query, and alpha (0 on padding).
    """
    p = W_K.shape[0]
    contexts, alphas = [], []
    for queries, words, real in zip(query, annotations, mask, strict=True):
        for x in queries:
            q = W_Q @ x  # (p,)
            energies = torch.stack([q @ (W_K @ h) / math.sqrt(p) for h in words[real]])
            row = x.new_zeros(len(words)).index_put((real,), energies.softmax(dim=0))  # (Tx,)
            alphas.append(row)
            contexts.append(sum((row[j] * (W_V @ words[j]) for j in range(len(words))), W_V.new_zeros(1)))
    rows = query.shape[:2]
    return torch.stack(contexts).view(*rows, -1), torch.stack(alphas).view(*rows, -1)  # (B, Q, v), (B, Q, Tx)


def head_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"], heads: int
) -> Float[Tensor, "B HQ Tx"]:
    """Energies q_iᵀ k_j / √(p/H) within each head's share of the width, one head, query and key at a time.

    Args:
        query: W_Q x, all heads' rows side by side.
        keys: W_K h, in the same order.
        heads: H, a divisor of p.

    Returns:
        The first head's row for each query, then the second's, and so on.
    """
    width = query.shape[-1] // heads
    rows = []
    for head in range(heads):
        share = slice(head * width, (head + 1) * width)
        for q in query[..., share].unbind(dim=1):
            row = [(q * k).sum(dim=-1) / math.sqrt(width) for k in keys[..., share].unbind(dim=1)]
            rows.append(torch.stack(row, dim=1))  # (B, Tx)
    return torch.stack(rows, dim=1)  # (B, H·Q, Tx)


def head_contexts(
    alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx d"], heads: int
) -> Float[Tensor, "B Q d"]:
    """Σ_j α_j v_j within each head's share of the width, the heads side by side; `alpha` as from `head_energies`."""
    width, num_queries = values.shape[-1] // heads, alpha.shape[1] // heads
    contexts = []
    for i in range(num_queries):
        parts = []
        for head in range(heads):
            share = values[..., head * width : (head + 1) * width]  # (B, Tx, d/H)
            weights = alpha[:, head * num_queries + i].unsqueeze(-1)  # (B, Tx, 1)
            parts.append((weights * share).sum(dim=1))
        contexts.append(torch.cat(parts, dim=-1))  # (B, d)
    return torch.stack(contexts, dim=1)
