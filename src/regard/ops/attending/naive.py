"""RNNsearch's recurrence over any cell: the previous state attends, then the cell steps.

Bahdanau et al. 2015, A.2.2, where the paper notes that an LSTM can take the GRU's place; `attending_gru` is the paper's
own. The rest of the decoder (embedding, readout) needs no loop and is not here.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.ops.attention import additive_energies, attend, dot_energies
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def attending(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"] | None,
    v_a: Float[Tensor, "a"] | None,
    C: Float[Tensor, "gn d"],
    step: Callable[[Tensor, PlainState], PlainState],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence.

    Args:
        projected: W E y_{i−1} + b for each step.
        initial: s_0, and the memory beside it if there is one, (B, n) each.
        keys: U_a h_j.
        annotations: h_j.
        mask: True at real source words.
        W_a: the query's matrix; None where the query is the state itself, and a = n.
        v_a: the vector of additive energies; None for dot products.
        C: the context's matrices, stacked as the cell stacks its gates.
        step: (W E y_{i−1} + C c_i + b, state) → state: the cell.

    Returns:
        The states s_i, the contexts c_i, and alpha.
    """
    states, contexts, alphas = [], [], []
    state = initial
    for i in range(projected.shape[1]):
        # A.1.2: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)
        query = (state[0] if W_a is None else state[0] @ W_a.T).unsqueeze(1)  # (B, 1, a)
        energies = dot_energies(query, keys) if v_a is None else additive_energies(query, keys, v_a)
        # Eq. 6 and Eq. 5
        context, alpha = attend(energies, annotations, mask)  # (B, 1, d), (B, 1, Tx)
        # s_i = f(s_{i−1}, y_{i−1}, c_i)
        state = step(projected[:, i] + context[:, 0] @ C.T, state)  # (B, n) each
        states.append(state[0])
        contexts.append(context[:, 0])
        alphas.append(alpha[:, 0])
    return torch.stack(states, 1), torch.stack(contexts, 1), torch.stack(alphas, 1)
