"""From the states of an encoder to one vector, and to a label (lecture 3: "This movie is absolutely fantastic !").

Replace each ``...`` by your code and run ``regard check pooling.py``. A sentence is padded to T positions: mask is True
at its real words, and what is in the other rows must not matter.
"""

import torch


def last_state(H, mask):
    """Many to one by the last state.

    Equations:
        (1) the vector: v = h at the last real word

    Args:
        H: h_1 … h_T, one row for each position, (T, n).
        mask: (T,), True at real words, which come first.
    """
    v = ...
    return v


def mean_pooling(H, mask):
    """Many to one by the mean of the real words' states.

    Equations:
        (1) the vector: v = 1/N Σ_t h_t over the N real words

    Args:
        H: (T, n).
        mask: (T,).
    """
    v = ...
    return v


def attention_pooling(H, mask, W, b, u):
    """Many to one by attention: a weighted mean, the weights from a small network.

    Equations:
        (1) the energies: e_t = uᵀ tanh(W h_t + b)
        (2) the weights: α = softmax(e) over real words, 0 on padding
        (3) the vector: v = Σ_t α_t h_t

    Args:
        H: (T, n).
        mask: (T,).
        W: (a, n).
        b: (a,).
        u: (a,).

    Returns:
        e (T,), α (T,) and v (n,). ``e.masked_fill(~mask, -torch.inf)`` makes a weight 0 before it is one.
    """
    e = ...
    alpha = ...
    v = ...
    return e, alpha, v
