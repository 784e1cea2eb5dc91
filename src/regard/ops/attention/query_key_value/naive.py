"""Query, key and value, projected by W_Q, W_K and W_V, word by word as in the lectures.

A word x has the query q = W_Q x; every word h_j has the key k_j = W_K h_j and the value v_j = W_V h_j; α is the softmax
of qᵀk_j/√p, and the context is Σ_j α_j v_j. The lectures have three forms: V softmax(KᵀQ/√p) with values of any width
r; the same without 1/√p; and softmax(⟨W_K h_j, W_Q s⟩) over the h_j themselves, without W_V. Several heads do the same
side by side, each with its own rows of W_Q, W_K and W_V.
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
    W_V: Float[Tensor, "r d"] | None,
    scaled: bool = True,
) -> tuple[Float[Tensor, "B Q r"], Float[Tensor, "B Q Tx"]]:
    """One head, one sentence and one query at a time.

    Args:
        query: x, a decoder's state or a word.
        annotations: h_j.
        mask: True at real words.
        W_Q: the query's matrix.
        W_K: the keys' matrix.
        W_V: the values' matrix, of r rows; None for the annotations as values, r = d.
        scaled: whether the energies are divided by √p.

    Returns:
        The context of each query, and alpha (0 on padding).
    """
    scale = math.sqrt(W_K.shape[0]) if scaled else 1.0
    contexts, alphas = [], []
    for queries, words, real in zip(query, annotations, mask, strict=True):
        for x in queries:
            q = W_Q @ x  # (p,)
            energies = torch.stack([q @ (W_K @ h) / scale for h in words[real]])
            row = x.new_zeros(len(words)).index_put((real,), energies.softmax(dim=0))  # (Tx,)
            alphas.append(row)
            values = words if W_V is None else [W_V @ h for h in words]  # (r,) each
            contexts.append(sum((row[j] * values[j] for j in range(len(words))), W_K.new_zeros(1)))
    rows = query.shape[:2]
    return torch.stack(contexts).view(*rows, -1), torch.stack(alphas).view(*rows, -1)  # (B, Q, r), (B, Q, Tx)


def head_energies(
    query: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"], heads: int, scaled: bool = True
) -> Float[Tensor, "B HQ Tx"]:
    """Energies q_iᵀ k_j / √(p/H) within each head's share of the width, one head, query and key at a time.

    Args:
        query: W_Q x, all heads' rows side by side.
        keys: W_K h, in the same order.
        heads: H, a divisor of p.
        scaled: whether the energies are divided by √(p/H).

    Returns:
        The first head's row for each query, then the second's, and so on.
    """
    width = query.shape[-1] // heads
    scale = math.sqrt(width) if scaled else 1.0
    rows = []
    for head in range(heads):
        share = slice(head * width, (head + 1) * width)
        for q in query[..., share].unbind(dim=1):
            row = [(q * k).sum(dim=-1) / scale for k in keys[..., share].unbind(dim=1)]
            rows.append(torch.stack(row, dim=1))  # (B, Tx)
    return torch.stack(rows, dim=1)  # (B, H·Q, Tx)


def head_contexts(
    alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx r"], heads: int
) -> Float[Tensor, "B Q r"]:
    """Σ_j α_j v_j within each head's share of the width, the heads side by side; `alpha` as from `head_energies`."""
    width, num_queries = values.shape[-1] // heads, alpha.shape[1] // heads
    contexts = []
    for i in range(num_queries):
        parts = []
        for head in range(heads):
            share = values[..., head * width : (head + 1) * width]  # (B, Tx, r/H)
            weights = alpha[:, head * num_queries + i].unsqueeze(-1)  # (B, Tx, 1)
            parts.append((weights * share).sum(dim=1))
        contexts.append(torch.cat(parts, dim=-1))  # (B, r)
    return torch.stack(contexts, dim=1)
