"""Similarities of a query and keys, and the attention of Luong et al. 2015 (lecture 4).

Replace each ``...`` by your code and run ``regard check luong.py``. What the decoder attends with is its state *after*
the step, h_t.
"""

import math

import torch


def scores(q, K, W, W_c, v):
    """Four similarities of a query with every key.

    Equations:
        (1) the dot product: s_i = qᵀ k_i
        (2) the scaled dot product: s_i = qᵀ k_i / √p, p the number of components of k
        (3) the general score: s_i = qᵀ W k_i
        (4) the concat score: s_i = vᵀ tanh(W_c [q; k_i])

    Args:
        q: (p,).
        K: k_1 … k_T, one row for each, (T, p).
        W: (p, p).
        W_c: (a, 2p).
        v: (a,).

    Returns:
        Four vectors (T,). ``q.expand(len(K), -1)`` repeats q in T rows.
    """
    dot = ...
    scaled = ...
    general = ...
    concat = ...
    return dot, scaled, general, concat


def attentional_state(h, H, W_c):
    """Attention with dot products after a step of the decoder.

    Equations:
        (1) the weights: α_i = softmax_i(h_tᵀ h̄_i)
        (2) the context vector: c_t = Σ_i α_i h̄_i
        (3) the attentional state: h̃_t = tanh(W_c [c_t; h_t])

    Args:
        h: h_t, (n,).
        H: the encoder's states h̄_1 … h̄_T, one row for each, (T, n).
        W_c: (l, 2n).

    Returns:
        α (T,), c (n,) and h̃ (l,).
    """
    alpha = ...
    context = ...
    attentional = ...
    return alpha, context, attentional
