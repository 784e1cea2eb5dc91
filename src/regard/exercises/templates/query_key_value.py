"""Query, key and value (lectures 3 and 4: "The early bird catches the worm").

Replace each ``...`` by your code and run ``regard check query_key_value.py``. Mind rows and columns: lecture 3 has keys
and values as rows, lecture 4 has every word as a column.
"""

import math

import torch


def attend(q, K, V):
    """One query and a memory of key–value pairs: Vᵀ softmax(K q), lecture 3.

    Equations:
        (1) the similarities: q · k_m
        (2) the normalised similarities: α_m = exp(q · k_m) / Σ_m′ exp(q · k_m′)
        (3) the weighted sum: Σ_m α_m v_m

    Args:
        q: (p,).
        K: the keys, one row for each, (M, p).
        V: the values, one row for each, (M, r).

    Returns:
        Two vectors (M,), and the context (r,).
    """
    similarities = ...
    alpha = ...
    context = ...
    return similarities, alpha, context


def project(X, W_Q, W_K, W_V):
    """Three roles of every word, lecture 4: words are columns.

    Equations:
        (1) the queries: q_i = W_Q x_i
        (2) the keys: k_i = W_K x_i
        (3) the values: v_i = W_V x_i

    Args:
        X: x_1 … x_n, one column for each word, (d, n).
        W_Q: (p, d).
        W_K: (p, d).
        W_V: (r, d).

    Returns:
        Q (p, n), K (p, n) and V (r, n).
    """
    Q = ...
    K = ...
    V = ...
    return Q, K, V


def self_attention(Q, K, V):
    """All words attend to all words: Z = V softmax(KᵀQ / √p), lecture 4.

    Equations:
        (1) the scores: S = KᵀQ / √p; column i belongs to query i
        (2) the weights: A = softmax(S), every column sums to 1
        (3) the new vectors: Z = V A

    Args:
        Q: (p, n).
        K: (p, n).
        V: (r, n).

    Returns:
        S (n, n), A (n, n) and Z (r, n).
    """
    S = ...
    A = ...
    Z = ...
    return S, A, Z
