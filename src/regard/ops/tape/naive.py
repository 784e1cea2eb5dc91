"""Reading a tape and writing to it, a step at a time, in autograd's sight.

Attention over nothing is the zero vector: a row without a real slot reads 0 and its alpha is 0. That is the rule
for the first word, and for words behind padding on the left.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float
from regard.ops.tape.scoring import Scoring


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
        What was read, and alpha.
    """
    num_slots = keys.shape[1]
    if (
        num_slots == 0
    ):  # one slot that nobody may read, so that every energy and normaliser has a row to work on
        keys, values = (tape.new_zeros(tape.shape[0], 1, tape.shape[2]) for tape in (keys, values))
        valid = valid.new_zeros(valid.shape[0], 1)
    some = valid.any(dim=1, keepdim=True)  # (B, 1)
    context, alpha = scoring.attend(query.unsqueeze(1), keys, values, valid | ~some)
    return torch.where(some, context[:, 0], 0.0), torch.where(some, alpha[:, 0], 0.0)[:, :num_slots]


def extend(
    tape: Float[Tensor, "B t p"], slot: Float[Tensor, "B p"], real: Bool[Tensor, "B 1"] | None, span: int
) -> Float[Tensor, "B t2 p"]:
    """The tape with one slot more, zero where the position is padding; of its last `span` slots only, unless 0."""
    if real is not None:
        slot = torch.where(real, slot, 0.0)
    return cut(torch.cat([tape, slot.unsqueeze(1)], dim=1), span)


def extend_mask(
    valid: Bool[Tensor, "B t"], real: Bool[Tensor, "B 1"] | None, span: int
) -> Bool[Tensor, "B t2"]:
    """The tape's mask with one slot more."""
    slot = valid.new_ones(valid.shape[0], 1) if real is None else real
    return cut(torch.cat([valid, slot], dim=1), span)


def cut(tape: Tensor, span: int) -> Tensor:
    """The last `span` slots; all of them when it is 0."""
    return tape[:, -span:] if span else tape


def kept(
    real: Bool[Tensor, "B 1"] | None, new: Float[Tensor, "B n"], old: Float[Tensor, "B n"]
) -> Float[Tensor, "B n"]:
    """The new state at a real word, the old one at padding."""
    return new if real is None else torch.where(real, new, old)
