"""Soft alignment: the attention of Bahdanau et al. 2015, step by step (lectures 1 and 5).

Replace each ``...`` by your code and run ``regard check bahdanau.py``. What the decoder attends with is its state
*before* the step, s_{i−1}.
"""

import torch


def annotations(forward_states, backward_states):
    """The annotations of a bidirectional RNN.

    Equations:
        (1) the backward states at their words: ←h_1 … ←h_T, in the order of the words
        (2) the annotations: h_j = [→h_j; ←h_j]

    Args:
        forward_states: →h_1 … →h_T, (T, n).
        backward_states: the states of the backward RNN in the order in which it computes them: it reads the last word
            first. (T, n); ``torch.flip(M, dims=[0])`` turns the rows of M around.

    Returns:
        ←h (T, n) and h (T, 2n).
    """
    in_order = ...
    h = ...
    return in_order, h


def attention(s, H, W_a, U_a, v_a):
    """Where to look: from the decoder's previous state and the annotations to a context vector.

    Equations:
        (1) the attention scores: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)
        (2) the attention distribution: α_ij = exp(e_ij) / Σ_k exp(e_ik)
        (3) the context vector: c_i = Σ_j α_ij h_j

    Args:
        s: s_{i−1}, (n,).
        H: the annotations, one row for each word, (T, d).
        W_a: (a, n).
        U_a: (a, d).
        v_a: (a,).

    Returns:
        e (T,), α (T,) and c (d,).
    """
    e = ...
    alpha = ...
    context = ...
    return e, alpha, context


def decoder_step(y, s, H, W_a, U_a, v_a, f):
    """One step of the decoder; call your ``attention``.

    Equations:
        (1) the context vector: c_i, with attention from s_{i−1}
        (2) the state: s_i = f(s_{i−1}, y_{i−1}, c_i)

    Args:
        y: the vector of y_{i−1}, (m,).
        s: s_{i−1}, (n,).
        H: the annotations, (T, d).
        W_a: as for attention.
        U_a: as for attention.
        v_a: as for attention.
        f: the recurrence, a function of s_{i−1}, y_{i−1} and c_i, in this order.
    """
    context = ...
    new_s = ...
    return context, new_s


def alignment(ys, s0, H, W_a, U_a, v_a, f):
    """The picture of the lecture: where the decoder looks at each step; call your ``attention`` and ``decoder_step``.

    Equations:
        (1) the alignment: row i is α_i1 … α_iT, from s_{i−1}; then s_i = f(s_{i−1}, y_{i−1}, c_i)

    Args:
        ys: the vectors of y_0, y_1, …, one row for each step, (Ty, m).
        s0: s_0, (n,).
        H: the annotations, (T, d).
        W_a: as for attention.
        U_a: as for attention.
        v_a: as for attention.
        f: as for decoder_step.

    Returns:
        (Ty, T).
    """
    alphas = ...
    return alphas
