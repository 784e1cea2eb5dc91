"""The self-attentive RNN: `naive` states three forms; for two families of energies `fused` derives them by hand.

On a CPU, `tape/native` runs that in C.
"""

from torch import Tensor

from regard.ops.backends import choose
from regard.ops.self_attentive_rnn import fused, naive
from regard.ops.self_attentive_rnn.naive import FORMS, read_step, sum_step
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring, tape_question
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
    n, p, slots = U.shape[0], initial[2].shape[2], initial[-1].shape[1] + inputs.shape[1]
    tensors, name = (inputs, *initial[:-1]), f"self-attentive rnn, {form}"
    chosen = choose(tape_question(name, U, tensors, slots, (n, p), scoring, span, state_mask))
    if isinstance(scoring, AdditiveScoring | DotScoring) and chosen != "naive":
        if chosen == "C":
            given = (inputs, mask, initial, W, U, b, S, scoring, span, reverse, state_mask)
            return tape_recurrence("tanh", form != "read", *given)
        return fused.self_attentive_rnn_sequence(
            inputs, mask, initial, W, U, b, S, scoring, form, span, reverse, state_mask
        )
    return naive.self_attentive_rnn_sequence(
        inputs, mask, initial, W, U, b, S, scoring, form, span, reverse, state_mask
    )
