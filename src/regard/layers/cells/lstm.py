"""The LSTM as a layer."""

import torch
from torch import Tensor

from regard.layers.cells.cell import Cell
from regard.ops.lstm import lstm_sequence, lstm_step
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class LSTM(Cell):
    """Input gate, forget gate, candidate and output gate; the state is (h, c)."""

    num_gates = 4
    num_parts = 2

    def reset_parameters(self) -> None:
        """As every cell, with the forget gate's bias at 1 so that memory is kept from the start."""
        super().reset_parameters()
        with torch.no_grad():
            self.b[self.state_size : 2 * self.state_size] = 1.0

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step; see `ops/lstm`."""
        return lstm_step(projected, previous, self.U, state_mask)

    def sequence(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """A whole padded batch; see `ops/lstm`."""
        return lstm_sequence(inputs, mask, initial, self.W, self.U, self.b, reverse, state_mask)
