"""The plain RNN by C kernels on the CPU; the same signature as `naive`, without dropout of states."""

from torch import Tensor

from regard.ops.affine import affine
from regard.ops.native.recurrence import recurrence
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


def rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "n m"],
    U: Float[Tensor, "n n"],
    b: Float[Tensor, "n"],
    activation: str,
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The RNN over a padded batch; returns h at each word and the last state."""
    return recurrence(activation, affine(inputs, W, b), mask, initial, U, reverse)
