"""The recurrent network (lectures 4 and 5).

Replace each ``...`` by your code and run ``regard check rnn.py``. Vectors and matrices are torch tensors: ``W @ x`` is
the product W x, ``a * b`` the elementwise product a ∘ b. Keep the names and the order of what is returned: each name is
one equation, and the check reports on each equation.
"""

import torch


def rnn_step(x, s, U, W, b, V, c):
    """One step, in the letters of lecture 4: W belongs to the state, U to the input.

    Equations:
        (1) the activation: a_t = b + W s_{t−1} + U x_t
        (2) the state: s_t = tanh(a_t)
        (3) the output: o_t = c + V s_t
        (4) the probabilities: p_t = softmax(o_t)

    Args:
        x: x_t, (m,).
        s: s_{t−1}, (n,).
        U: (n, m).
        W: (n, n).
        b: (n,).
        V: (v, n), one row for each of the v words.
        c: (v,).
    """
    a = ...
    new_s = ...
    o = ...
    p = ...
    return a, new_s, o, p


def rnn(xs, s0, U, W, b):
    """All states of a sequence: the same parameters at every step.

    Equations:
        (1) the states: s_t = tanh(b + W s_{t−1} + U x_t) for t = 1 … T

    Args:
        xs: x_1 … x_T, (T, m); ``for x in xs`` goes through them.
        s0: s_0, (n,).
        U: (n, m).
        W: (n, n).
        b: (n,).

    Returns:
        s_1 … s_T, (T, n); ``torch.stack`` makes a matrix of a list of vectors.
    """
    states = ...
    return states


def sigmoid_step(x, h, W_hx, W_hh, W_yh):
    """One step of the traditional RNN of lecture 5; it has no bias.

    Equations:
        (1) the state: h_t = sigm(W^{hx} x_t + W^{hh} h_{t−1})
        (2) the output: y_t = W^{yh} h_t

    Args:
        x: x_t, (m,).
        h: h_{t−1}, (n,).
        W_hx: (n, m).
        W_hh: (n, n).
        W_yh: (v, n).
    """
    new_h = ...
    y = ...
    return new_h, y
