"""The paper's GRU: `naive` states the equations; `fused` derives the backward pass by hand."""

from torch import Tensor

from regard.ops.gru import fused, naive
from regard.ops.gru.naive import gru_step
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

__all__ = ["gru_sequence", "gru_step"]


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
    """The GRU over a padded batch, by the quicker path that applies."""
    if fused_wanted() and state_mask is None:
        return fused.gru_sequence(inputs, mask, initial, W, U, b, reverse)
    return naive.gru_sequence(inputs, mask, initial, W, U, b, reverse, state_mask)
