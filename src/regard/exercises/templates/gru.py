"""The gated recurrent unit of Cho et al. 2014 (lecture 4), as Bahdanau et al. 2015 write it.

Replace each ``...`` by your code and run ``regard check gru.py``. Here z_t = 1 takes the new state; in Cho et al. 2014
and in ``torch.nn.GRU`` it keeps the old one. ``torch.nn.GRU`` also resets after the product with U, not before it.
"""

import torch


def gru_step(x, s, W, U, b):
    """One step: from x_t and s_{t−1} to s_t.

    Equations:
        (1) the update gate: z_t = σ(W_z x_t + U_z s_{t−1} + b_z)
        (2) the reset gate: r_t = σ(W_r x_t + U_r s_{t−1} + b_r)
        (3) the candidate: s̃_t = tanh(W_s x_t + U_s [r_t ∘ s_{t−1}] + b_s)
        (4) the state: s_t = (1 − z_t) ∘ s_{t−1} + z_t ∘ s̃_t

    Args:
        x: x_t, (m,).
        s: s_{t−1}, (n,).
        W: W.z, W.r and W.s, each (n, m).
        U: U.z, U.r and U.s, each (n, n).
        b: b.z, b.r and b.s, each (n,).
    """
    z = ...
    r = ...
    candidate = ...
    new_s = ...
    return z, r, candidate, new_s


def gru(xs, s0, W, U, b):
    """All states of a sequence; call your ``gru_step`` at every step.

    Equations:
        (1) the states: s_t = GRU(x_t, s_{t−1}) for t = 1 … T

    Args:
        xs: x_1 … x_T, (T, m).
        s0: s_0, (n,).
        W: as for gru_step.
        U: as for gru_step.
        b: as for gru_step.

    Returns:
        s_1 … s_T, (T, n).
    """
    states = ...
    return states
