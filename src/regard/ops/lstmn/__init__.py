"""The LSTMN: `naive` states the equations; `fused` derives the backward pass by hand, for two families of energies."""

from torch import Tensor

from regard.ops.lstmn import fused, naive
from regard.ops.lstmn.naive import OUTPUTS, lstmn_step
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring
from regard.ops.unroll import State

__all__ = ["OUTPUTS", "lstmn_sequence", "lstmn_step"]


def lstmn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "gnp m"],
    U: Float[Tensor, "gn n"],
    b: Float[Tensor, "gn"],
    S: Float[Tensor, "p n"],
    scoring: Scoring,
    output: str = "tanh",
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """The LSTMN over a padded batch, by the fastest path that applies."""
    if fused_wanted() and isinstance(scoring, AdditiveScoring | DotScoring):
        return fused.lstmn_sequence(
            inputs, mask, initial, W, U, b, S, scoring, output, span, reverse, state_mask
        )
    return naive.lstmn_sequence(inputs, mask, initial, W, U, b, S, scoring, output, span, reverse, state_mask)
