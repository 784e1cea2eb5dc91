"""The LSTM with self-attention (lecture 1; Cheng, Dong & Lapata 2016).

Replace each ``...`` by your code and run ``regard check lstmn.py``. The two differences from the LSTM: the gates see
s_t in the place of h_{t−1}, and the forget gate keeps c′_t in the place of c_{t−1}.
"""

import torch


def attend(x, s, hs, cs, W_h, W_x, W_s, v):
    """Read the past: states and memories with the same weights.

    Equations:
        (1) the energies: e_i = vᵀ tanh(W_h h_i + W_x x_t + W_s s_{t−1}) for i = 1 … t − 1
        (2) the weights: α = softmax(e)
        (3) the summary: s_t = Σ_{i<t} α_i h_i
        (4) the conveyor belt: c′_t = Σ_{i<t} α_i c_i

    Args:
        x: x_t, (m,).
        s: s_{t−1}, (n,).
        hs: h_1 … h_{t−1}, one row for each, (t − 1, n); without rows at the first step, where s_1 = c′_1 = 0.
        cs: c_1 … c_{t−1}, in the same way.
        W_h: (a, n).
        W_x: (a, m).
        W_s: (a, n).
        v: (a,).

    Returns:
        e (t − 1,), α (t − 1,), s_t (n,) and c′_t (n,).
    """
    e = ...
    alpha = ...
    new_s = ...
    recalled = ...
    return e, alpha, new_s, recalled


def update(x, s, recalled, W, U, b):
    """The rest of the step, from x_t, s_t and c′_t.

    Equations:
        (1) the input gate: i_t = σ(W_i x_t + U_i s_t + b_i)
        (2) the forget gate: f_t = σ(W_f x_t + U_f s_t + b_f)
        (3) the new value: c̃_t = tanh(W_c x_t + U_c s_t + b_c)
        (4) the output gate: o_t = σ(W_o x_t + U_o s_t + b_o)
        (5) the memory: c_t = f_t ∘ c′_t + i_t ∘ c̃_t
        (6) the state: h_t = o_t ∘ c_t, as on the slide (the paper has o_t ∘ tanh(c_t))

    Args:
        x: x_t, (m,).
        s: s_t, (n,).
        recalled: c′_t, (n,).
        W: W.i, W.f, W.c and W.o, each (n, m).
        U: U.i, U.f, U.c and U.o, each (n, n).
        b: b.i, b.f, b.c and b.o, each (n,).
    """
    i = ...
    f = ...
    candidate = ...
    o = ...
    new_c = ...
    new_h = ...
    return i, f, candidate, o, new_c, new_h
