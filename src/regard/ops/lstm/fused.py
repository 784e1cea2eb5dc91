"""The LSTM through torch's own kernel; the same signature as `naive`, without dropout of states."""

import torch
from torch import Tensor

from regard.ops.packed import LayerState, in_one_buffer, run_packed
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def lstm_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "4*n m"],
    U: Float[Tensor, "4*n n"],
    b: Float[Tensor, "4*n"],
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The LSTM over a padded batch; returns h at each word and the last (h, c)."""
    weights = in_one_buffer([W, U, b, torch.zeros_like(b)])

    def kernel(data: Tensor, batch_sizes: Tensor, start: LayerState) -> tuple[Tensor, LayerState]:
        states, h, c = torch.lstm(
            data, batch_sizes, list(start), weights, True, 1, 0.0, torch.is_grad_enabled(), False
        )
        return states, (h, c)

    return run_packed(kernel, inputs, mask, initial, reverse)
