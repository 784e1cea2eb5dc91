"""What a recurrence with a tape asks the backends; see `ops/backends`."""

from torch import Tensor

from regard.ops.backends import Name, Question, without
from regard.ops.kernels.choose import computing_dtype
from regard.ops.tape.persistent import tape_lacks
from regard.ops.tape.scoring import AdditiveScoring, DotScoring, Scoring


def tape_question(
    op: str,
    U: Tensor,
    tensors: tuple[Tensor, ...],
    slots: int,
    widths: tuple[int, ...],
    scoring: Scoring,
    span: int,
    state_mask: Tensor | None,
) -> Question:
    """What a recurrence with a tape is about to compute.

    Args:
        op: its name.
        U: its recurrent matrix.
        tensors: the inputs, and the parts of the first state.
        slots: of the tape at the end.
        widths: of its slots, states and keys.
        scoring: how queries are compared; only two families have fast paths.
        span: 0 for all slots.
        state_mask: dropout of states, if there is any.
    """
    if not isinstance(scoring, AdditiveScoring | DotScoring):
        own: dict[Name, str] = without(
            "its energy is neither additive nor a dot product", "Triton", "C", "torch"
        )
    else:
        own = without(tape_lacks(span, state_mask is not None, *widths), "Triton")
    return Question(op, U, tensors, slots, widths, computing_dtype(tensors[0]), own)
