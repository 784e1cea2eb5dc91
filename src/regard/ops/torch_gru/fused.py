"""`torch.nn.GRU`'s own kernel; the same signature as `naive`, without dropout of states."""

import torch
from torch import Tensor

from regard.ops.packed import LayerState, in_one_buffer, run_packed
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def _reset_first(stacked: Tensor) -> Tensor:
    """Reorder our update, reset, candidate into torch's reset, update, candidate."""
    update, reset, candidate = stacked.chunk(3)
    return torch.cat([reset, update, candidate])


def torch_gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    b_U: Float[Tensor, "n"],
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch; returns the state at each word and the last one."""
    recurrent_bias = torch.cat([b_U.new_zeros(2 * b_U.shape[0]), b_U])
    weights = in_one_buffer([_reset_first(W), _reset_first(U), _reset_first(b), recurrent_bias])

    def kernel(data: Tensor, batch_sizes: Tensor, start: LayerState) -> tuple[Tensor, LayerState]:
        states, h = torch.gru(
            data, batch_sizes, start[0], weights, True, 1, 0.0, torch.is_grad_enabled(), False
        )
        return states, (h,)

    return run_packed(kernel, inputs, mask, initial, reverse)
