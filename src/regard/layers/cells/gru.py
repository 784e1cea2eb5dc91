"""The GRU as a layer, in the paper's form and in torch's."""

from typing import Any

import torch
from torch import nn

from regard.layers.cells.cell import Cell
from regard.ops.gru import gru_sequence, gru_step
from regard.ops.torch_gru import torch_gru_sequence, torch_gru_step


class GRU(Cell):
    """As in Cho et al. 2014: the update gate takes the new, the reset comes before the product with U."""

    num_gates = 3
    step_op = staticmethod(gru_step)
    sequence_op = staticmethod(gru_sequence)


class TorchGRU(Cell):
    """torch's form of Cho et al. 2014: the update gate keeps the old, the reset comes after the product with U.

    Attributes:
        b_U: the second bias of the candidate, inside the reset.
    """

    num_gates = 3
    step_op = staticmethod(torch_gru_step)
    sequence_op = staticmethod(torch_gru_sequence)

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__(input_size, state_size)
        self.b_U = nn.Parameter(torch.zeros(state_size))

    def extra(self) -> tuple[Any, ...]:
        """The second bias."""
        return (self.b_U,)
