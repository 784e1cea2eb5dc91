"""The LSTM as a layer."""

import torch

from regard.layers.cells.cell import Cell
from regard.ops.lstm import lstm_sequence, lstm_step


class LSTM(Cell):
    """Input gate, forget gate, candidate and output gate; the state is (h, c) (Hochreiter & Schmidhuber 1997)."""

    num_gates = 4
    num_parts = 2
    step_op = staticmethod(lstm_step)
    sequence_op = staticmethod(lstm_sequence)

    def reset_parameters(self) -> None:
        """As every cell, with the forget gate's bias at 1 so that memory is kept from the start."""
        super().reset_parameters()
        with torch.no_grad():
            self.b[self.state_size : 2 * self.state_size] = 1.0
