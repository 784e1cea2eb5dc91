"""The LSTM: a memory and three gates (lecture 4; lecture 1 compares with it).

Replace each ``...`` by your code and run ``regard check lstm.py``. The parameters of the gates have the gates' names:
``W.f`` is W_f. Keep the names and the order of what is returned: each name is one equation.
"""

import torch


def lstm_step(x, h, c, W, U, b):
    """One step: from x_t, h_{t−1} and c_{t−1} to c_t and h_t.

    Equations:
        (1) the input gate: i_t = σ(W_i x_t + U_i h_{t−1} + b_i)
        (2) the forget gate: f_t = σ(W_f x_t + U_f h_{t−1} + b_f)
        (3) the new value: c̃_t = tanh(W_c x_t + U_c h_{t−1} + b_c)
        (4) the output gate: o_t = σ(W_o x_t + U_o h_{t−1} + b_o)
        (5) the memory: c_t = f_t ∘ c_{t−1} + i_t ∘ c̃_t
        (6) the state: h_t = o_t ∘ tanh(c_t)

    Args:
        x: x_t, (m,).
        h: h_{t−1}, (n,).
        c: c_{t−1}, (n,).
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


def lstm(xs, h0, c0, W, U, b):
    """All states of a sequence; call your ``lstm_step`` at every step.

    Equations:
        (1) the states: c_t, h_t = LSTM(x_t, h_{t−1}, c_{t−1}) for t = 1 … T

    Args:
        xs: x_1 … x_T, (T, m).
        h0: h_0, (n,).
        c0: c_0, (n,).
        W: as for lstm_step.
        U: as for lstm_step.
        b: as for lstm_step.

    Returns:
        h_1 … h_T, (T, n).
    """
    states = ...
    return states
