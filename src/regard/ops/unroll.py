"""The loop over time that every naive recurrence shares.

In: one step as a function, the inputs, the mask. Out: the state at each real word, and the last state.
A padded position leaves the state as it was, so padding on either side changes nothing.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float

State = tuple[Float[Tensor, "B n"], ...]
"""What a recurrence carries: (h,) or (h, c), each (B, n)."""


def unroll(
    step: Callable[[Tensor, State], State],
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], State]:
    """Apply `step` to each position in turn.

    Args:
        step: (x_t, state_{t-1}) → state_t; the first part of the state is h.
        inputs: x_1 … x_T.
        mask: True where a real word stands.
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
        new = step(inputs[:, t], state)
        state = tuple(torch.where(real, after, before) for after, before in zip(new, state, strict=True))
        states[t] = torch.where(real, state[0], 0.0)  # (B, n)
    return torch.stack(states, dim=1), state  # (B, T, n)
