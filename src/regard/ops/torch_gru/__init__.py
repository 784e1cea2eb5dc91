"""The GRU as torch computes it: `naive` states the equations; `fused` calls torch's kernel."""

from torch import Tensor

from regard.ops.backends import NO_KERNEL, Question, choose, no_dropout, without
from regard.ops.shapes import Bool, Float
from regard.ops.torch_gru import fused, naive
from regard.ops.torch_gru.naive import torch_gru_step
from regard.ops.unroll import PlainState

__all__ = ["torch_gru_sequence", "torch_gru_step"]


def torch_gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    b_U: Float[Tensor, "n"],
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch, by the fastest path that applies."""
    lacks = without(NO_KERNEL, "Triton", "C") | without(no_dropout(state_mask), "torch")
    if choose(Question("gru-torch", U, (inputs, *initial), lacks=lacks)) == "torch":
        return fused.torch_gru_sequence(inputs, mask, initial, W, U, b, b_U, reverse)
    return naive.torch_gru_sequence(inputs, mask, initial, W, U, b, b_U, reverse, state_mask)
