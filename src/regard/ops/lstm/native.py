"""The LSTM by C kernels on the CPU; the same signature as `fused`.

If U was packed for decoding, nothing is stored for a backward pass.
"""

from torch import Tensor

from regard.ops.affine import affine
from regard.ops.native import Packed, packed_of
from regard.ops.native.call import at, flags, kernels, plain, threads_for, zeros
from regard.ops.native.recurrence import recurrence
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
    packed = packed_of(U)
    if packed is not None:
        states = zeros(*mask.shape, packed.shape[1])
        return states, _read(affine(inputs, W, b), flags(mask), initial, packed, states, reverse)
    return recurrence("lstm", affine(inputs, W, b), mask, initial, U, reverse)


def lstm_step(projected: Float[Tensor, "B gn"], previous_state: PlainState, U: Packed) -> PlainState:
    """One step of the LSTM from W x + b, without a gradient."""
    return _read(projected.unsqueeze(1), None, previous_state, U, None)


def _read(
    projected: Float[Tensor, "B T gn"],
    mask: Bool[Tensor, "B T"] | None,
    initial: PlainState,
    U: Packed,
    states: Float[Tensor, "B T n"] | None,
    reverse: bool = False,
) -> PlainState:
    """The last (h, c), and h at each word written to `states`; nothing is stored for a backward pass."""
    h, c = (plain(part).clone() for part in initial)
    projected = plain(projected)
    batch, num_steps, _ = projected.shape
    tensors = (projected, mask, states, h, c)
    kernels().regard_lstm_read(U.place, *map(at, tensors), batch, num_steps, int(reverse), threads_for(batch))
    return h, c
