"""The paper's GRU, by one of four paths.

`naive` states the equations; `fused` derives the backward pass by hand; `native` runs that in C on a CPU, and
`persistent` as two launches of kernels on a GPU, where `ops/native/choose` and `ops/kernels/choose` say they apply.
"""

import torch
from torch import Tensor

from regard.ops.backends import Question, choose, no_dropout, tell, without
from regard.ops.gru import fused, naive, native, persistent
from regard.ops.gru.persistent import Weights
from regard.ops.kernels.choose import computing_dtype
from regard.ops.native import native_applies, packed_of
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

__all__ = ["bidirectional_gru", "gru_sequence", "gru_step"]


def gru_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the GRU: in C where U was packed for decoding; see `naive`."""
    packed = packed_of(U)
    if packed is not None and state_mask is None and native_applies(U, projected, *previous_state):
        return native.gru_step(projected, previous_state, packed)
    return naive.gru_step(projected, previous_state, U, state_mask)


def gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch, by the fastest path that applies."""
    lacks = without(no_dropout(state_mask), "Triton", "C", "torch")
    widths, dtype = (U.shape[1],), computing_dtype(inputs)
    match choose(Question("gru", U, (inputs, *initial), widths=widths, dtype=dtype, lacks=lacks)):
        case "Triton":
            return persistent.gru_sequence(inputs, mask, initial, W, U, b, reverse)
        case "C":
            return native.gru_sequence(inputs, mask, initial, W, U, b, reverse)
        case "torch":
            return fused.gru_sequence(inputs, mask, initial, W, U, b, reverse)
    return naive.gru_sequence(inputs, mask, initial, W, U, b, reverse, state_mask)


def bidirectional_gru(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initials: tuple[PlainState, PlainState],
    ahead: Weights,
    back: Weights,
) -> tuple[Float[Tensor, "B T d"], PlainState, PlainState]:
    """Two GRUs over a padded batch, the second from the last word to the first: in one launch where that is faster.

    Args:
        inputs: x_1 … x_T.
        mask: True at real words.
        initials: the initial state of each direction.
        ahead: W, U and b of the forward direction.
        back: W, U and b of the backward direction.

    Returns:
        The states of both, concatenated, 2n wide; the last state of the forward and of the backward direction.
    """
    if fused_wanted() and persistent.applies(inputs, ahead[1].shape[1]):
        tell("bidirectional gru", "Triton", {})
        return persistent.bidirectional_gru(inputs, mask, initials, ahead, back)
    forward_states, last = gru_sequence(inputs, mask, initials[0], *ahead)
    backward_states, first = gru_sequence(inputs, mask, initials[1], *back, reverse=True)
    return torch.cat([forward_states, backward_states], dim=-1), last, first
