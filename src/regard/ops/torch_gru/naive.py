"""The gated recurrent unit in the form of `torch.nn.GRU` and cuDNN (reset after the product).

The three blocks of rows in W, U and b are: update, reset, candidate (torch's own order is reset first). An
update gate of 1 keeps the old state, and the reset gate acts on U h_{t−1} + b_U, not on h_{t−1}; hence the
second bias, which no other cell of ours needs. The paper's form is `ops/gru`.
"""

import torch
from torch import Tensor

from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState, unroll

EQUATIONS = {
    "update": Equation("z_t = σ(W_z x_t + U_z h_{t−1} + b_z)"),
    "reset": Equation("r_t = σ(W_r x_t + U_r h_{t−1} + b_r)"),
    "candidate": Equation("h̃_t = tanh(W x_t + b + r_t ∘ (U h_{t−1} + b_U))"),
    "state": Equation("h_t = (1 − z_t) ∘ h̃_t + z_t ∘ h_{t−1}"),
}


def torch_gru_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    b_U: Float[Tensor, "n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the GRU as torch computes it.

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1},).
        U: the recurrent matrices, stacked.
        b_U: the bias inside the reset, torch's b_hn.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t,).
    """
    (h,) = previous_state
    n = h.shape[-1]
    recurrent = (h if state_mask is None else h * state_mask) @ U.T  # (B, 3n)
    gates = torch.sigmoid(projected[:, : 2 * n] + recurrent[:, : 2 * n])  # (B, 2n)
    update, reset = gates.chunk(2, dim=-1)  # (B, n) each
    candidate = torch.tanh(projected[:, 2 * n :] + reset * (recurrent[:, 2 * n :] + b_U))  # (B, n)
    # h_t = (1 − z_t) ∘ h̃_t + z_t ∘ h_{t−1}
    state = candidate + update * (h - candidate)  # (B, n)
    record(EQUATIONS, update=update, reset=reset, candidate=candidate, state=state)
    return (state,)


def torch_gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    b_U: Float[Tensor, "n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch; returns the state at each word and the last one."""

    def step(x: Tensor, previous_state: PlainState) -> PlainState:
        return torch_gru_step(x @ W.T + b, previous_state, U, b_U, state_mask)

    return unroll(step, inputs, mask, initial, reverse)
