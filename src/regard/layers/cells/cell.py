"""What every recurrent cell owns and offers: W, U and b, one step, and a whole sequence. A cell names its two ops.

In: inputs, or inputs already projected. Out: states. A state is a tuple, (h,) or (h, c) and whatever else the cell
carries, and belongs to the caller: a cell remembers nothing between calls.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.ops.affine import affine
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import State


class Cell(nn.Module):
    """A recurrence of `state_size` units over inputs of `input_size`.

    Args:
        input_size: m.
        state_size: n.
        query_width: how many rows of W, behind those of the gates, make a query of the input; mostly none.

    Attributes:
        W: input matrices, the gates' blocks of n rows stacked.
        U: recurrent matrices, stacked likewise.
        b: biases, stacked likewise.
    """

    num_gates: ClassVar[int]
    """How many blocks of n rows W, U and b have."""
    num_parts: ClassVar[int] = 1
    """How many tensors of a state stand for what was read: 1 for h, 2 for h and c."""
    num_recurrent: ClassVar[int] = 1
    """How many vectors of n units U meets."""
    step_op: ClassVar[Callable[..., Any]]
    """The equation of one step: (W x + b, previous state, U, …, state mask) → state (and alpha over its own past)."""
    sequence_op: ClassVar[Callable[..., tuple[Tensor, State]]]
    """The same over a padded batch: (inputs, mask, initial, W, U, b, …, reverse, state mask) → states, last."""

    def __init__(self, input_size: int, state_size: int, query_width: int = 0) -> None:
        super().__init__()
        self.input_size = input_size
        self.state_size = state_size
        self.query_width = query_width
        rows = self.num_gates * state_size
        self.W = nn.Parameter(torch.empty(rows + query_width, input_size))
        self.U = nn.Parameter(torch.empty(rows, self.num_recurrent * state_size))
        self.b = nn.Parameter(torch.empty(rows))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot's rule for each block of W, an orthogonal matrix for each block of U, zero biases."""
        rows = self.b.shape[0]
        for block in self.W.data[:rows].chunk(self.num_gates):
            nn.init.xavier_uniform_(block)
        if self.query_width:
            nn.init.xavier_uniform_(self.W.data[rows:])
        for block in self.U.data.chunk(self.num_gates):
            nn.init.orthogonal_(block)
        nn.init.zeros_(self.b)

    @property
    def projected_size(self) -> int:
        """How wide a projected input is: the gates', and the query's share where there is one."""
        return self.W.shape[0]

    def project(self, inputs: Float[Tensor, "*rows m"]) -> Float[Tensor, "*rows gn"]:
        """W x + b, for one step or for all steps at once; a query has no bias."""
        bias = nn.functional.pad(self.b, (0, self.query_width)) if self.query_width else self.b
        return affine(inputs, self.W, bias)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before anything was read, of the kind and on the device of `like`."""
        return tuple(like.new_zeros(batch, self.state_size) for _ in range(self.num_parts))

    def start_state(self, parts: State) -> State:
        """The state that starts from a given h (and c): the same, unless the cell carries more."""
        return parts

    def ends(self, state: State) -> State:
        """What a state says of what was read: h (and c)."""
        return state[: self.num_parts]

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
        state: State = self.step_op(projected, previous_state, self.U, *self.extra(), state_mask)
        return state

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

    def read(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
        """As `sequence`, and where each word looked in the past.

        Raises:
            ConfigError: this cell does not look there.
        """
        raise ConfigError(
            f"{type(self).__name__} does not attend to its own past, so there is nothing to show; a cell that does "
            "is rnn-read, rnn-sum, rnn-sum-keep or lstmn"
        )
