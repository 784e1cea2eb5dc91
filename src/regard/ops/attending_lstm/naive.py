"""RNNsearch's recurrence with an LSTM in the GRU's place: the previous state attends, then the LSTM steps.

Bahdanau et al. 2015, A.2.2, where the paper notes that an LSTM can be used instead; the rest of the decoder (embedding,
readout) needs no loop and is not here.
"""

import torch
from torch import Tensor

from regard.ops.attention import additive_energies, attend
from regard.ops.lstm import lstm_step
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def attending_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"],
    v_a: Float[Tensor, "a"],
    U: Float[Tensor, "4*n n"],
    C: Float[Tensor, "4*n d"],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence.

    Args:
        projected: W E y_{i−1} + b for each step.
        initial: s_0 and the memory beside it, (B, n) each.
        keys: U_a h_j.
        annotations: h_j.
        mask: True at real source words.
        W_a: the query's matrix.
        v_a: the energy's vector.
        U: the recurrent matrices, stacked as in `ops/lstm`.
        C: the context's matrices, stacked in the same way.

    Returns:
        The states s_i, the contexts c_i, and alpha.
    """
    states, contexts, alphas = [], [], []
    s, memory = initial
    for i in range(projected.shape[1]):
        # A.1.2: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)
        energies = additive_energies((s @ W_a.T).unsqueeze(1), keys, v_a)  # (B, 1, Tx)
        # Eq. 6 and Eq. 5
        context, alpha = attend(energies, annotations, mask)  # (B, 1, d), (B, 1, Tx)
        # s_i = f(s_{i−1}, y_{i−1}, c_i)
        s, memory = lstm_step(projected[:, i] + context[:, 0] @ C.T, (s, memory), U)  # (B, n) each
        states.append(s)
        contexts.append(context[:, 0])
        alphas.append(alpha[:, 0])
    return torch.stack(states, 1), torch.stack(contexts, 1), torch.stack(alphas, 1)
