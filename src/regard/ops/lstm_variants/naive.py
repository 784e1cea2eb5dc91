"""The LSTMs of the literature that differ from `ops/lstm` in their equations, one step each.

Hochreiter & Schmidhuber 1997 have no forget gate; Gers & Schmidhuber 2000 let the gates see the memory, and so do
Graves 2012 and 2013, Graves et al. 2013 and Chung et al. 2014, who leave out the biases; Jozefowicz et al. 2015 leave
out one gate at a time. The blocks of rows in W, U and b are those of `GATES` that the variant has, in this order.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Float
from regard.ops.unroll import PlainState

GATES = ("input", "forget", "candidate", "output")
"""The blocks of today's LSTM, in torch's order; the candidate is no gate, and no variant is without it."""


def peephole_lstm_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "4*n n"],
    p: Float[Tensor, "3*n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the LSTM with peepholes (Gers & Schmidhuber 2000; Graves 2013, Eqs. 7–11).

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1}, c_{t−1}).
        U: the recurrent matrices, stacked: input gate, forget gate, candidate, output gate.
        p: the peepholes of input, forget and output gate; Graves's diagonal matrices W_ci, W_cf, W_co.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t, c_t).
    """
    h, c = previous_state
    recurrent = h if state_mask is None else h * state_mask
    i, f, candidate, o = (projected + recurrent @ U.T).chunk(4, dim=-1)  # (B, n) each
    p_i, p_f, p_o = p.chunk(3)  # (n,) each
    # i_t = σ(W_i x_t + U_i h_{t−1} + p_i ∘ c_{t−1} + b_i), and f_t in the same way
    input_gate, forget_gate = torch.sigmoid(i + p_i * c), torch.sigmoid(f + p_f * c)  # (B, n) each
    # c_t = f_t ∘ c_{t−1} + i_t ∘ c̃_t
    memory = forget_gate * c + input_gate * torch.tanh(candidate)  # (B, n)
    # o_t = σ(W_o x_t + U_o h_{t−1} + p_o ∘ c_t + b_o): the output gate sees the new memory
    return torch.sigmoid(o + p_o * memory) * torch.tanh(memory), memory


def lstm_1997_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the LSTM of Hochreiter & Schmidhuber 1997 (§4; g and h are those of A.1).

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1}, c_{t−1}); the paper's y^c and s_c.
        U: the recurrent matrices, stacked: input gate, candidate, output gate.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t, c_t).
    """
    h, c = previous_state
    recurrent = h if state_mask is None else h * state_mask
    i, candidate, o = (projected + recurrent @ U.T).chunk(3, dim=-1)  # (B, n) each
    # c_t = c_{t−1} + i_t ∘ g(W_c x_t + U_c h_{t−1} + b_c), g(x) = 4σ(x) − 2: nothing is forgotten
    memory = c + torch.sigmoid(i) * (4 * torch.sigmoid(candidate) - 2)  # (B, n)
    # h_t = o_t ∘ h(c_t), h(x) = 2σ(x) − 1
    return torch.sigmoid(o) * (2 * torch.sigmoid(memory) - 1), memory


def lstm_without_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    missing: str,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the LSTM without one gate (Jozefowicz et al. 2015, §3.2: LSTM-i, LSTM-f, LSTM-o).

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1}, c_{t−1}).
        U: the recurrent matrices, stacked, of `GATES` without the missing one.
        missing: ``input``, ``forget`` or ``output``.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t, c_t).
    """
    h, c = previous_state
    recurrent = h if state_mask is None else h * state_mask
    blocks = (projected + recurrent @ U.T).chunk(3, dim=-1)  # (B, n) each
    block = dict(zip((gate for gate in GATES if gate != missing), blocks, strict=True))

    def gated(gate: str, x: Tensor) -> Tensor:
        return x if gate == missing else torch.sigmoid(block[gate]) * x

    # c_t = f_t ∘ c_{t−1} + i_t ∘ c̃_t, the factor of the missing gate being 1
    memory = gated("forget", c) + gated("input", torch.tanh(block["candidate"]))  # (B, n)
    # h_t = o_t ∘ tanh(c_t)
    return gated("output", torch.tanh(memory)), memory
