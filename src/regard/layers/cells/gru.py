"""The GRU as a layer, in the paper's form and in torch's."""

import torch
from torch import Tensor, nn

from regard.layers.cells.cell import Cell
from regard.ops.gru import gru_sequence, gru_step
from regard.ops.shapes import Bool, Float
from regard.ops.torch_gru import torch_gru_sequence, torch_gru_step
from regard.ops.unroll import State


class GRU(Cell):
    """The paper's form: the update gate takes the new, the reset comes before the product with U."""

    num_gates = 3

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step; see `ops/gru`."""
        return gru_step(projected, previous, self.U, state_mask)

    def sequence(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """A whole padded batch; see `ops/gru`."""
        return gru_sequence(inputs, mask, initial, self.W, self.U, self.b, reverse, state_mask)


class TorchGRU(Cell):
    """torch's form: the update gate keeps the old, the reset comes after the product with U.

    Attributes:
        b_U: the second bias of the candidate, inside the reset.
    """

    num_gates = 3

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__(input_size, state_size)
        self.b_U = nn.Parameter(torch.zeros(state_size))

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step; see `ops/torch_gru`."""
        return torch_gru_step(projected, previous, self.U, self.b_U, state_mask)

    def sequence(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """A whole padded batch; see `ops/torch_gru`."""
        return torch_gru_sequence(
            inputs, mask, initial, self.W, self.U, self.b, self.b_U, reverse, state_mask
        )
