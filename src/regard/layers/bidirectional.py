"""Layers that read the sentence both ways: h_j = [→h_j; ←h_j] (Bahdanau et al. 2015, Eq. 7).

Each layer above the bottom one reads the concatenated states of the layer below, both ways again.
"""

import torch
from torch import Tensor, nn

from regard.layers.cells import GRU, CellFactory
from regard.layers.dropout import Dropout
from regard.layers.recurrent import RecurrentStack
from regard.ops.gru import gru_both_ways
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class BidirectionalStack(nn.Module):
    """`num_layers` pairs of cells; n units each way, 2n together. Arguments as for `RecurrentStack`."""

    def __init__(
        self,
        cell: CellFactory,
        input_size: int,
        state_size: int,
        num_layers: int = 1,
        *,
        residual: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        variational: bool = False,
    ) -> None:
        super().__init__()
        sizes = [input_size] + [2 * state_size] * (num_layers - 1)

        def single(size: int) -> RecurrentStack:
            return RecurrentStack(cell, size, state_size, recurrent_dropout=recurrent_dropout)

        self.forward_layers = nn.ModuleList(single(size) for size in sizes)
        self.backward_layers = nn.ModuleList(single(size) for size in sizes)
        self.residual = residual
        self.between = Dropout(dropout, variational)

    def forward(
        self, inputs: Float[Tensor, "B T m"], mask: Bool[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T d"], tuple[State, ...], tuple[State, ...]]:
        """A whole padded batch.

        Returns:
            The top layer's annotations, 2n wide; each layer's last forward state →h_Tx; each layer's last
            backward state ←h_1; of both the ends, h (and c).
        """
        forward_last: list[State] = []
        backward_last: list[State] = []
        handed_on = inputs
        for k, (ahead, back) in enumerate(zip(self.forward_layers, self.backward_layers, strict=True)):
            below = handed_on
            if k > 0:
                handed_on = self.between(below)
            if self._at_once(ahead, back):  # type: ignore[arg-type]
                handed_on, last, first = _both_ways(ahead, back, handed_on, mask)  # type: ignore[arg-type]
                forward_last.append(last)
                backward_last.append(first)
            else:
                forward_states, last = ahead(handed_on, mask)
                forward_last += ahead.ends(last)  # type: ignore[operator]
                backward_states, last = back(handed_on, mask, reverse=True)
                backward_last += back.ends(last)  # type: ignore[operator]
                # Eq. 7
                handed_on = torch.cat([forward_states, backward_states], dim=-1)  # (B, T, 2n)
            if self.residual and k > 0:
                handed_on = handed_on + below
        return handed_on, tuple(forward_last), tuple(backward_last)

    def _at_once(self, ahead: RecurrentStack, back: RecurrentStack) -> bool:
        """Whether a layer is of the paper's own kind, which has an op for both ways at once."""
        dropping = self.training and ahead.recurrent.p > 0
        return type(ahead.layers[0]) is type(back.layers[0]) is GRU and not dropping


def _both_ways(
    ahead: RecurrentStack, back: RecurrentStack, inputs: Tensor, mask: Tensor
) -> tuple[Tensor, State, State]:
    """[→h_j; ←h_j] (B, T, 2n), →h_Tx and ←h_1 of a layer of the paper's GRUs."""
    one, other = ahead.layers[0], back.layers[0]
    start = (one.zero_state(mask.shape[0], inputs), other.zero_state(mask.shape[0], inputs))
    return gru_both_ways(inputs, mask, start, (one.W, one.U, one.b), (other.W, other.U, other.b))
