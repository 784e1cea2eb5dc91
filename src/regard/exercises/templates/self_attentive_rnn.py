"""The RNN with self-attention: it attends to its own past states (lectures 1 and 2).

Replace each ``...`` by your code and run ``regard check self_attentive_rnn.py``. The lectures have two forms. In
lecture 2 a step attends after its update, to all states up to its own; in lecture 1 before it, to the states before.
"""

import torch


def sum_step(x, c, tape, A, b, W_K, W_Q):
    """One step of lecture 2.

    Equations:
        (1) the state: h_t = tanh(A · [x_t; c_{t−1}] + b)
        (2) all states so far: h_1 … h_t
        (3) the weights: α_i = align(h_i, h_t), the softmax of (W_K h_i)ᵀ (W_Q h_t) over i = 1 … t
        (4) the context: c_t = α_1 h_1 + … + α_t h_t

    Args:
        x: x_t, (m,).
        c: c_{t−1}, (n,); c_0 = 0.
        tape: h_1 … h_{t−1}, one row for each, (t − 1, n); at the first step it has no row.
        A: (n, m + n).
        b: (n,).
        W_K: (p, n).
        W_Q: (p, n).

    Returns:
        h_t (n,), the states (t, n), α (t,) and c_t (n,).
    """
    h = ...
    states = ...
    alpha = ...
    new_c = ...
    return h, states, alpha, new_c


def sum_rnn(xs, A, b, W_K, W_Q):
    """A whole sequence; call your ``sum_step``.

    Equations:
        (1) the contexts: c_1 … c_T, from c_0 = 0 and no states

    Args:
        xs: x_1 … x_T, (T, m).
        A: as for sum_step.
        b: as for sum_step.
        W_K: as for sum_step.
        W_Q: as for sum_step.

    Returns:
        (T, n). ``b.new_zeros(0, len(b))`` is a matrix without rows.
    """
    contexts = ...
    return contexts


def read_step(x, s, tape, A, b, W_h, W_x, W_s, v):
    """One step of lecture 1: it attends first, with its input.

    Equations:
        (1) the energies: e_i = vᵀ tanh(W_h h_i + W_x x_t + W_s s_{t−1}) for i = 1 … t − 1
        (2) the weights: α = softmax(e)
        (3) the summary: s_t = Σ_{i<t} α_i h_i
        (4) the state: h_t = tanh(A · [x_t; s_t] + b)

    Args:
        x: x_t, (m,).
        s: s_{t−1}, (n,).
        tape: h_1 … h_{t−1}, one row for each, (t − 1, n); without rows at the first step, where s_1 = 0.
        A: (n, m + n).
        b: (n,).
        W_h: (a, n).
        W_x: (a, m).
        W_s: (a, n).
        v: (a,).

    Returns:
        e (t − 1,), α (t − 1,), s_t (n,) and h_t (n,).
    """
    e = ...
    alpha = ...
    new_s = ...
    h = ...
    return e, alpha, new_s, h
