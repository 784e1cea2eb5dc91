"""What every recurrent cell owns and offers: W, U and b, one step, and a whole sequence. A cell names its two ops.

In: inputs, or inputs already projected. Out: states. A state is a tuple, (h,) or (h, c), and belongs to the
caller: a cell remembers nothing between calls.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class Cell(nn.Module):
    """A recurrence of `state_size` units over inputs of `input_size`.

    Attributes:
        W: input matrices, the gates' blocks of n rows stacked.
        U: recurrent matrices, stacked likewise.
        b: biases, stacked likewise.
    """

    num_gates: ClassVar[int]
    """How many blocks of n rows W, U and b have."""
    num_parts: ClassVar[int] = 1
    """How many tensors make a state: 1 for h, 2 for h and c."""
    step_op: ClassVar[Callable[..., State]]
    """The equation of one step: (W x + b, previous state, U, …, state mask) → state."""
    sequence_op: ClassVar[Callable[..., tuple[Tensor, State]]]
    """The same over a padded batch: (inputs, mask, initial, W, U, b, …, reverse, state mask) → states, last."""

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.state_size = state_size
        self.W = nn.Parameter(torch.empty(self.num_gates * state_size, input_size))
        self.U = nn.Parameter(torch.empty(self.num_gates * state_size, state_size))
        self.b = nn.Parameter(torch.empty(self.num_gates * state_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot's rule for each block of W, an orthogonal matrix for each block of U, zero biases."""
        for block in self.W.data.chunk(self.num_gates):
            nn.init.xavier_uniform_(block)
        for block in self.U.data.chunk(self.num_gates):
            nn.init.orthogonal_(block)
        nn.init.zeros_(self.b)

    def project(self, inputs: Float[Tensor, "*rows m"]) -> Float[Tensor, "*rows gn"]:
        """W x + b, for one step or for all steps at once."""
        return nn.functional.linear(inputs, self.W, self.b)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before anything was read, of the kind and on the device of `like`."""
        return tuple(like.new_zeros(batch, self.state_size) for _ in range(self.num_parts))

    def extra(self) -> tuple[Any, ...]:
        """What the cell's ops take after U (in a step) and after b (over a sequence); mostly nothing."""
        return ()

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous_state: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step from a projected input: see `step_op`."""
        return self.step_op(projected, previous_state, self.U, *self.extra(), state_mask)

    def sequence(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State]:
        """A whole padded batch: h at each word, and the last state; see `sequence_op`."""
        return self.sequence_op(
            inputs, mask, initial, self.W, self.U, self.b, *self.extra(), reverse, state_mask
        )
