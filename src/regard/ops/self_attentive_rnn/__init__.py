"""The self-attentive RNN: `naive` states three forms; for two families of energies `fused` derives them by hand.

On a CPU, `tape/native` runs that in C.
"""

from torch import Tensor

from regard.ops.native import native_applies
from regard.ops.paths import fused_wanted
from regard.ops.self_attentive_rnn import fused, naive
from regard.ops.self_attentive_rnn.naive import FORMS, read_step, sum_step
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring
from regard.ops.tape.native import tape_recurrence
from regard.ops.unroll import State

__all__ = ["FORMS", "read_step", "self_attentive_rnn_sequence", "sum_step"]


def self_attentive_rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "np m"],
    U: Float[Tensor, "n nk"],
    b: Float[Tensor, "n"],
    S: Float[Tensor, "p n"] | None,
    scoring: Scoring,
    form: str,
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """One of `FORMS` over a padded batch, by the fastest path that applies."""
    if fused_wanted() and isinstance(scoring, AdditiveScoring | DotScoring):
        if native_applies(U, inputs, *initial[:-1]):
            given = (inputs, mask, initial, W, U, b, S, scoring, span, reverse, state_mask)
            return tape_recurrence("tanh", form != "read", *given)
        return fused.self_attentive_rnn_sequence(
            inputs, mask, initial, W, U, b, S, scoring, form, span, reverse, state_mask
        )
    return naive.self_attentive_rnn_sequence(
        inputs, mask, initial, W, U, b, S, scoring, form, span, reverse, state_mask
    )
