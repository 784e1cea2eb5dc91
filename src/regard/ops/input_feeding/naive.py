"""Luong's recurrence with input feeding: the cell steps, an LSTM in the paper, then its new state attends.

Luong et al. 2015, §3 and §3.3, one step after the other; everything else of the decoder (embedding, output) needs no
loop and is not here.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.ops.attention import additive_energies, attend, dot_energies
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def input_feeding(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    fed: Float[Tensor, "B l"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"] | None,
    v_a: Float[Tensor, "a"] | None,
    F: Float[Tensor, "gn l"],
    W_c: Float[Tensor, "l d+n"],
    dropped: Float[Tensor, "B Ty l"] | None,
    step: Callable[[Tensor, PlainState, int], PlainState],
) -> tuple[Float[Tensor, "B Ty l"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence.

    Args:
        projected: W E y_{t−1} + b for each step.
        initial: h_0 of the layer that asks, and what else there is of a state, such as a memory, (B, n) each.
        fed: h̃_0.
        keys: what the queries are compared with.
        annotations: h̄_s, what a context is a mean of.
        mask: True at real source words.
        W_a: the query's matrix; None where the query is the state itself, and a = n.
        v_a: the vector of additive energies, v_aᵀ tanh(W_a h_t + k_s); None for dot products, (W_a h_t)ᵀ k_s.
        F: the matrices of h̃_{t−1}, stacked as the cell stacks its gates.
        W_c: the matrix of [c_t; h_t].
        dropped: what h̃_t is multiplied by before anyone sees it, a constant; None for nothing.
        step: (W E y_{t−1} + F h̃_{t−1} + b, state, t) → state: the cell, or the stack of cells.

    Returns:
        The attentional states h̃_t, and alpha.
    """
    readouts, alphas = [], []
    state, attentional = initial, fed
    for t in range(projected.shape[1]):
        # §3.3: h_t from [y_{t−1}; h̃_{t−1}] and h_{t−1}
        state = step(projected[:, t] + attentional @ F.T, state, t)  # (B, n) each
        h = state[0]
        # §3.1: score(h_t, h̄_s)
        query = (h if W_a is None else h @ W_a.T).unsqueeze(1)  # (B, 1, a)
        energies = dot_energies(query, keys) if v_a is None else additive_energies(query, keys, v_a)
        # a_t and c_t
        context, alpha = attend(energies, annotations, mask)  # (B, 1, d), (B, 1, Tx)
        # Eq. 5: h̃_t = tanh(W_c [c_t; h_t])
        attentional = torch.tanh(torch.cat([context[:, 0], h], dim=-1) @ W_c.T)  # (B, l)
        if dropped is not None:
            attentional = attentional * dropped[:, t]
        readouts.append(attentional)
        alphas.append(alpha[:, 0])
    return torch.stack(readouts, 1), torch.stack(alphas, 1)
