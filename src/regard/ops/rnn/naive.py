"""The plain recurrent network (Elman's), with tanh or the logistic sigmoid.

h_t = f(W x_t + U h_{t−1} + b). One lecture writes it a_t = b + W s_{t−1} + U x_t, s_t = tanh(a_t), the
letters the other way round; another h_t = sigm(W^{hx} x_t + W^{hh} h_{t−1}), which is Sutskever's, with b = 0.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState, unroll

_SUM = Equation("a_t = W x_t + U h_{t−1} + b", "a_t = A · [x_t; h_{t−1}] + b")
EQUATIONS = {
    "tanh": {"preactivation": _SUM, "state": Equation("h_t = tanh(a_t)")},
    "sigmoid": {
        "preactivation": Equation(_SUM.papers, "a_t = W^{hx} x_t + W^{hh} h_{t−1} + b"),
        "state": Equation("h_t = σ(a_t)", "h_t = sigm(a_t)"),
    },
}

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}


def rnn_step(
    projected: Float[Tensor, "B n"],
    previous_state: PlainState,
    U: Float[Tensor, "n n"],
    activation: str,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the plain RNN.

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1},).
        U: the recurrent matrix.
        activation: ``tanh`` or ``sigmoid``.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.
    """
    (h,) = previous_state
    recurrent = h if state_mask is None else h * state_mask
    # h_t = f(W x_t + U h_{t−1} + b)
    preactivation = projected + recurrent @ U.T  # (B, n)
    state = ACTIVATIONS[activation](preactivation)
    record(EQUATIONS[activation], preactivation=preactivation, state=state)
    return (state,)


def rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "n m"],
    U: Float[Tensor, "n n"],
    b: Float[Tensor, "n"],
    activation: str,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The RNN over a padded batch; returns h at each word and the last state."""

    def step(x: Tensor, previous_state: PlainState) -> PlainState:
        return rnn_step(x @ W.T + b, previous_state, U, activation, state_mask)

    return unroll(step, inputs, mask, initial, reverse)
