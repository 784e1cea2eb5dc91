"""The plain RNN: `naive` states the equation; `native` is our kernel, `fused` torch's (tanh); no dropout of states."""

from torch import Tensor

from regard.ops.backends import NO_KERNEL, Question, choose, no_dropout, without
from regard.ops.rnn import fused, naive, native
from regard.ops.rnn.naive import ACTIVATIONS, rnn_step
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

__all__ = ["ACTIVATIONS", "rnn_sequence", "rnn_step"]


def rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "n m"],
    U: Float[Tensor, "n n"],
    b: Float[Tensor, "n"],
    activation: str,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The RNN over a padded batch, by the fastest path that applies."""
    lacks = without(NO_KERNEL, "Triton") | without(no_dropout(state_mask), "C", "torch")
    if activation != "tanh":
        lacks |= without("it has tanh only", "torch")
    match (
        choose(Question("rnn", U, (inputs, *initial), lacks=lacks)) if activation in ACTIVATIONS else "naive"
    ):
        case "C":
            return native.rnn_sequence(inputs, mask, initial, W, U, b, activation, reverse)
        case "torch":
            return fused.rnn_sequence(inputs, mask, initial, W, U, b, reverse)
    return naive.rnn_sequence(inputs, mask, initial, W, U, b, activation, reverse, state_mask)
