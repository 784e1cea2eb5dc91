"""The plain RNN as a layer, with tanh or with the logistic sigmoid."""

from typing import ClassVar

from torch import Tensor

from regard.layers.cells.cell import Cell
from regard.ops.rnn import rnn_sequence, rnn_step
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class RNN(Cell):
    """h_t = tanh(W x_t + U h_{t−1} + b)."""

    num_gates = 1
    activation: ClassVar[str] = "tanh"

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step; see `ops/rnn`."""
        return rnn_step(projected, previous, self.U, self.activation, state_mask)

    def sequence(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """A whole padded batch; see `ops/rnn`."""
        return rnn_sequence(
            inputs, mask, initial, self.W, self.U, self.b, self.activation, reverse, state_mask
        )


class SigmoidRNN(RNN):
    """h_t = σ(W x_t + U h_{t−1} + b), as Sutskever et al. 2014 print the traditional RNN (§2)."""

    activation = "sigmoid"
