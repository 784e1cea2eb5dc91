"""The gated recurrent unit of Cho et al. 2014 in the form of Bahdanau et al. 2015, A.1.1 and A.2.2.

Cho et al. have z in the place of 1 − z: the same functions, with W_z, U_z and b_z negated. The three blocks
of rows in W, U and b are: update, reset, candidate. Two traps beside `torch.nn.GRU`, whose form is `ops/torch_gru`:
here an update gate of 1 takes the *new* candidate (torch's keeps the old state), and here the state is reset *before*
it is multiplied by U (torch's after). The weights do not interchange.
"""

import torch
from torch import Tensor

from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState, unroll

EQUATIONS = {
    "update": Equation("z_t = σ(W_z x_t + U_z h_{t−1} + b_z)"),
    "reset": Equation("r_t = σ(W_r x_t + U_r h_{t−1} + b_r)"),
    "candidate": Equation("h̃_t = tanh(W x_t + U [r_t ∘ h_{t−1}] + b)"),
    "state": Equation("h_t = (1 − z_t) ∘ h_{t−1} + z_t ∘ h̃_t"),
}


def gru_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the GRU.

    Args:
        projected: W x_t + b; in RNNsearch's decoder W E y_{i−1} + C c_i + b.
        previous_state: (s_{i−1},).
        U: the recurrent matrices, stacked.
        state_mask: variational dropout of s_{i−1} where it meets U; one mask for all steps.

    Returns:
        (s_i,).
    """
    (s,) = previous_state
    n = s.shape[-1]
    recurrent = s if state_mask is None else s * state_mask
    # z_i = σ(W_z E y_{i−1} + U_z s_{i−1} + C_z c_i), and r_i in the same way
    gates = torch.sigmoid(projected[:, : 2 * n] + recurrent @ U[: 2 * n].T)  # (B, 2n)
    update, reset = gates.chunk(2, dim=-1)  # (B, n) each
    # s̃_i = tanh(W E y_{i−1} + U [r_i ∘ s_{i−1}] + C c_i)
    candidate = torch.tanh(projected[:, 2 * n :] + (reset * recurrent) @ U[2 * n :].T)  # (B, n)
    # s_i = (1 − z_i) ∘ s_{i−1} + z_i ∘ s̃_i
    state = s + update * (candidate - s)  # (B, n)
    record(EQUATIONS, update=update, reset=reset, candidate=candidate, state=state)
    return (state,)


def gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch; returns the state at each word and the last one."""

    def step(x: Tensor, previous_state: PlainState) -> PlainState:
        return gru_step(x @ W.T + b, previous_state, U, state_mask)

    return unroll(step, inputs, mask, initial, reverse)
