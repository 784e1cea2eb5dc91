"""The LSTMN: `naive` states the equations; for two families of energies `fused` derives the backward pass by hand.

On a CPU, `tape/native` runs that in C.
"""

from torch import Tensor

from regard.ops.backends import choose
from regard.ops.lstmn import fused, naive
from regard.ops.lstmn.naive import OUTPUTS, lstmn_step
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring, tape_question
from regard.ops.tape.native import tape_recurrence
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
    (p, n), slots = S.shape, initial[-1].shape[1] + inputs.shape[1]
    question = tape_question(
        "lstmn", U, (inputs, *initial[:-1]), slots, (2 * n, n, p), scoring, span, state_mask
    )
    chosen = choose(question)
    if isinstance(scoring, AdditiveScoring | DotScoring) and chosen != "naive":
        if chosen == "C":
            cell = "lstm" if output == "tanh" else "lstm-plain"
            given = (inputs, mask, initial, W, U, b, S, scoring, span, reverse, state_mask)
            return tape_recurrence(cell, False, *given)
        return fused.lstmn_sequence(
            inputs, mask, initial, W, U, b, S, scoring, output, span, reverse, state_mask
        )
    return naive.lstmn_sequence(inputs, mask, initial, W, U, b, S, scoring, output, span, reverse, state_mask)
