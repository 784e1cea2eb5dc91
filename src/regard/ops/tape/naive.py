"""Reading a tape and writing to it, a step at a time, visible to autograd.

Attention over nothing is the zero vector: a row without a real slot reads 0 and its alpha is 0. That is the rule
for the first word, and for words after padding on the left.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.ops.record import Equation, record, scope
from regard.ops.shapes import Bool, Float
from regard.ops.tape.scoring import Scoring
from regard.ops.unroll import State

EQUATIONS = {"alpha": Equation("s^t_i = softmax_i(a^t_i)", "α_i = softmax_i(e_i)", "past")}


def read_tape(
    scoring: Scoring,
    query: Float[Tensor, "B p"],
    keys: Float[Tensor, "B t kp"],
    values: Float[Tensor, "B t d"],
    valid: Bool[Tensor, "B t"],
) -> tuple[Float[Tensor, "B d"], Float[Tensor, "B t"]]:
    """Σ_i α_i v_i over the real slots.

    Args:
        scoring: how the query is compared with the keys.
        query: one for each row, projected.
        keys: of the slots.
        values: of the slots.
        valid: True where a slot holds a real word.

    Returns:
        The weighted mean of the values, and alpha.
    """
    num_slots = keys.shape[1]
    if num_slots == 0:  # one masked slot, so that every energy and normaliser has a row to work on
        keys, values = (tape.new_zeros(tape.shape[0], 1, tape.shape[2]) for tape in (keys, values))
        valid = valid.new_zeros(valid.shape[0], 1)
    some = valid.any(dim=1, keepdim=True)  # (B, 1)
    with scope("past"):
        context, alpha = scoring.attend(query.unsqueeze(1), keys, values, valid | ~some)
        alpha = torch.where(some, alpha[:, 0], 0.0)[:, :num_slots]  # (B, t)
        record(EQUATIONS, alpha=alpha)
    return torch.where(some, context[:, 0], 0.0), alpha


def extend(
    tapes: Sequence[Float[Tensor, "B t _"]],
    valid: Bool[Tensor, "B t"],
    slots: Sequence[Float[Tensor, "B _"]],
    real: Bool[Tensor, "B 1"] | None,
    span: int,
) -> State:
    """Each tape with one slot more, and at the end their mask.

    Args:
        tapes: keys, values and whatever else is written.
        valid: the tapes' mask.
        slots: what is written, one for each tape; it takes the tape's precision.
        real: False where the position is padding, which writes an empty slot; None where none is.
        span: see `cut`.
    """
    new = valid.new_ones(valid.shape[0], 1) if real is None else real
    slots = [slot if real is None else torch.where(real, slot, 0.0) for slot in slots]
    grown = [
        torch.cat([tape, slot.unsqueeze(1).to(tape.dtype)], dim=1)
        for tape, slot in zip(tapes, slots, strict=True)
    ]
    return cut(grown, torch.cat([valid, new], dim=1), span)


def cut(tapes: Sequence[Float[Tensor, "B t _"]], valid: Bool[Tensor, "B t"], span: int) -> State:
    """The tapes cut to a span, and at the end their mask.

    A span counts real slots: in each row only the last `span` of them stay valid. Leading slots that are valid in no
    row are dropped, so that tapes are longer than the span only where padding lies between.

    Args:
        tapes: keys, values and whatever else is written.
        valid: the tapes' mask.
        span: how many real slots a row keeps; 0 for all.
    """
    if not span or valid.shape[1] <= span:
        return (*tapes, valid)
    valid = valid & (valid.flip(1).cumsum(dim=1).flip(1) <= span)
    unread = int((valid.any(dim=0).cumsum(dim=0) == 0).sum())
    first = min(unread, valid.shape[1] - span)
    return (*(tape[:, first:] for tape in tapes), valid[:, first:])


def kept(
    real: Bool[Tensor, "B 1"] | None, new: Float[Tensor, "B n"], old: Float[Tensor, "B n"]
) -> Float[Tensor, "B n"]:
    """The new state at a real word, the old one at padding; in the precision of the old one."""
    new = new.to(old.dtype)
    return new if real is None else torch.where(real, new, old)
