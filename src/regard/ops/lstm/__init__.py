"""The LSTM: `naive` states the equations; `fused` calls torch's kernel, `native` ours (no dropout of states)."""

from torch import Tensor

from regard.ops.backends import NO_KERNEL, Question, choose, no_dropout, without
from regard.ops.lstm import fused, naive, native
from regard.ops.native import native_applies, packed_of
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

__all__ = ["lstm_sequence", "lstm_step"]


def lstm_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "4*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of the LSTM: in C where U was packed for decoding; see `naive`."""
    packed = packed_of(U)
    if packed is not None and state_mask is None and native_applies(U, projected, *previous_state):
        return native.lstm_step(projected, previous_state, packed)
    return naive.lstm_step(projected, previous_state, U, state_mask)


def lstm_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "4*n m"],
    U: Float[Tensor, "4*n n"],
    b: Float[Tensor, "4*n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The LSTM over a padded batch, by the fastest path that applies."""
    lacks = without(NO_KERNEL, "Triton") | without(no_dropout(state_mask), "C", "torch")
    match choose(Question("lstm", U, (inputs, *initial), lacks=lacks)):
        case "C":
            return native.lstm_sequence(inputs, mask, initial, W, U, b, reverse)
        case "torch":
            return fused.lstm_sequence(inputs, mask, initial, W, U, b, reverse)
    return naive.lstm_sequence(inputs, mask, initial, W, U, b, reverse, state_mask)
