"""The loops over time that the naive recurrences share.

In: one step as a function, the inputs, the mask. Out: the state at each real word, and the last state.
A padded position leaves the state as it was, so padding on either side changes nothing. `unroll` is for states
of one size; `unroll_attending` for those that hold a tape and grow.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.ops.record import scope
from regard.ops.shapes import Bool, Float

State = tuple[Tensor, ...]
"""The state of a recurrence, batch first in every part: h (B, n), then c (B, n) if there is one, then anything else.

A recurrence that attends to its own past carries its last summary (B, n), its tapes (B, t, ·), and at the end their
mask (B, t), False at the slots of padded positions.
"""

PlainState = tuple[Float[Tensor, "B n"], ...]
"""The state of a recurrence without a tape: (h,) or (h, c), each (B, n)."""


def unroll(
    step: Callable[[Tensor, PlainState], PlainState],
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """Apply `step` to each position in turn.

    Args:
        step: (x_t, state_{t-1}) → state_t; the first part of the state is h.
        inputs: x_1 … x_T.
        mask: True at real words.
        initial: the state before the first word.
        reverse: read from the last position to the first; states stay at their words' positions.

    Returns:
        h at every position (zero on padding), and the state after the last word read.
    """
    num_steps = inputs.shape[1]
    states: list[Tensor] = [inputs] * num_steps
    state = initial
    for t in reversed(range(num_steps)) if reverse else range(num_steps):
        real = mask[:, t, None]
        with scope("step", t):
            new = step(inputs[:, t], state)
        state = tuple(torch.where(real, after, before) for after, before in zip(new, state, strict=True))
        states[t] = torch.where(real, state[0], 0.0)  # (B, n)
    return torch.stack(states, dim=1), state  # (B, T, n)


AttendingStep = Callable[[Tensor, State, Tensor], tuple[State, Tensor]]
"""(x_t, state_{t−1}, real (B, 1)) → (state_t, alpha over the slots read); the step itself skips padding."""


def unroll_attending(
    step: AttendingStep,
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    reverse: bool = False,
    own: bool = False,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """Apply a step that attends to its own past to each position in turn.

    Args:
        step: see `AttendingStep`; the slots it reads are the last ones there are.
        inputs: x_1 … x_T.
        mask: True at real words.
        initial: the state before the first word, with a tape of t0 slots.
        reverse: read from the last position to the first; states stay at their words' positions.
        own: whether a step reads the slot it has just written, too.

    Returns:
        h at every position (zero on padding), the state after the last word read, and alpha: a row for each
        position (zero on padding), a column for each of the t0 + T slots in the order in which they were written.
    """
    num_steps, num_first = inputs.shape[1], initial[-1].shape[1]
    states: list[Tensor] = [inputs] * num_steps
    rows: list[Tensor] = [inputs] * num_steps
    state = initial
    for count, t in enumerate(reversed(range(num_steps)) if reverse else range(num_steps)):
        real = mask[:, t, None]
        with scope("step", t):
            state, alpha = step(inputs[:, t], state, real)
        states[t] = torch.where(real, state[0], 0.0)  # (B, n)
        end = num_first + count + own  # of the slots read
        left, right = end - alpha.shape[1], num_first + num_steps - end
        rows[t] = torch.nn.functional.pad(torch.where(real, alpha, 0.0), (left, right))
    return torch.stack(states, dim=1), state, torch.stack(rows, dim=1)
