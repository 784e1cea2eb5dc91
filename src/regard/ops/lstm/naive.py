"""Long short-term memory with a forget gate (Hochreiter & Schmidhuber 1997; Gers et al. 2000).

The four rows of blocks in W, U and b are, in torch's order: input gate, forget gate, candidate, output gate.
There is one bias; torch keeps two and adds them.
"""

import torch
from torch import Tensor

from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState, unroll

EQUATIONS = {
    "input_gate": Equation("i_t = σ(W_i x_t + U_i h_{t−1} + b_i)"),
    "forget_gate": Equation("f_t = σ(W_f x_t + U_f h_{t−1} + b_f)"),
    "candidate": Equation("c̃_t = tanh(W_c x_t + U_c h_{t−1} + b_c)"),
    "output_gate": Equation("o_t = σ(W_o x_t + U_o h_{t−1} + b_o)"),
    "memory": Equation("c_t = f_t ∘ c_{t−1} + i_t ∘ c̃_t"),
    "state": Equation("h_t = o_t ∘ tanh(c_t)"),
}


def lstm_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "4*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the LSTM.

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1}, c_{t−1}).
        U: the recurrent matrices, stacked.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t, c_t).
    """
    h, c = previous_state
    recurrent = h if state_mask is None else h * state_mask
    gates = projected + recurrent @ U.T  # (B, 4n)
    i, f, candidate, o = gates.chunk(4, dim=-1)  # (B, n) each
    i, f, candidate, o = i.sigmoid(), f.sigmoid(), candidate.tanh(), o.sigmoid()
    record(EQUATIONS, input_gate=i, forget_gate=f, candidate=candidate, output_gate=o)
    # c_t = f_t ∘ c_{t−1} + i_t ∘ c̃_t
    memory = f * c + i * candidate  # (B, n)
    # h_t = o_t ∘ tanh(c_t)
    state = o * torch.tanh(memory)  # (B, n)
    record(EQUATIONS, memory=memory, state=state)
    return state, memory


def lstm_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "4*n m"],
    U: Float[Tensor, "4*n n"],
    b: Float[Tensor, "4*n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The LSTM over a padded batch; returns h at each word and the last (h, c)."""

    def step(x: Tensor, previous_state: PlainState) -> PlainState:
        return lstm_step(x @ W.T + b, previous_state, U, state_mask)

    return unroll(step, inputs, mask, initial, reverse)
