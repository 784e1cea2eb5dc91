"""Cells that attend to their own past: what they share, and the plain RNN in three forms.

The state holds a tape that grows by a slot a step: h (and c), what was read last, keys and values of all slots (and
their memories), and which slots are real. A state that is given becomes the tape's first slot.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.layers.attention import ENERGIES, Attention
from regard.layers.cells.cell import Cell
from regard.layers.cells.scoring import query_matrix_of, scoring_of
from regard.ops.self_attentive_rnn import read_step, self_attentive_rnn_sequence, sum_step
from regard.ops.shapes import Bool, Float
from regard.ops.tape import Scoring, read_tape
from regard.ops.unroll import State

MakeAttention = Callable[[int | None, int], Attention]
"""(query size, annotation size) → the attention; a query size of None asks for one whose queries come projected."""


def additive(query_size: int | None, annotation_size: int) -> Attention:
    """The papers' own: additive, with as many alignment units as the state has."""
    return ENERGIES["additive"](query_size, annotation_size, annotation_size)


class SelfAttentive(Cell):
    """A cell with a tape.

    Args:
        input_size: m.
        state_size: n.
        attention: makes the attention to the past; additive by default.
        span: how many real slots the tape keeps; 0 for all.

    Attributes:
        attention: to the past.
        S: the matrix of s_{t−1} in the query, for a cell that asks before its update; its W has the input's share
            behind the gates' rows. None for a cell that asks with its new state.
    """

    asks_first: ClassVar[bool] = True
    """Whether the past is read before the update, with x_t and s_{t−1}, or after it, with h_t."""
    S: nn.Parameter | None

    def __init__(
        self, input_size: int, state_size: int, attention: MakeAttention = additive, span: int = 0
    ) -> None:
        made = attention(None if self.asks_first else state_size, state_size)
        super().__init__(input_size, state_size, made.query_width if self.asks_first else 0)
        self.attention = made
        self.span = span
        query = nn.Parameter(torch.empty(made.query_width, state_size)) if self.asks_first else None
        self.register_parameter("S", query)
        if query is not None:
            nn.init.xavier_uniform_(query)

    @property
    def scoring(self) -> Scoring:
        """The attention as ops take it."""
        return scoring_of(self.attention)

    @property
    def query_matrix(self) -> Tensor | None:
        """What s_{t−1}, or h_t, is multiplied by to ask."""
        return self.S if self.asks_first else query_matrix_of(self.attention)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before anything was read: h (and c), nothing read, an empty tape."""
        n = self.state_size
        heads = (like.new_zeros(batch, n) for _ in range(self.num_parts + 1))
        keys = like.new_zeros(batch, 0, self.scoring.keys(self.W.new_zeros(1, 0, n)).shape[2])
        written = (like.new_zeros(batch, 0, n) for _ in range(self.num_parts))
        return *heads, keys, *written, torch.zeros(batch, 0, dtype=torch.bool, device=like.device)

    def start_state(self, parts: State) -> State:
        """The state that starts from a given h (and c): the first slot of the tape.

        Mixed precision narrows what is given; a state keeps the width of the parameters.
        """
        parts = tuple(part.to(self.U.dtype) for part in parts)
        h, scoring = parts[0], self.scoring
        written = h.unsqueeze(1)
        keys, values = scoring.keys(written), scoring.values(written)
        valid = torch.ones(h.shape[0], 1, dtype=torch.bool, device=h.device)
        summary = torch.zeros_like(h)
        if not self.asks_first:
            matrix = self.query_matrix
            summary, _ = read_tape(scoring, h if matrix is None else h @ matrix.T, keys, values, valid)
        state = (*parts, summary, keys, values, *(part.unsqueeze(1) for part in parts[1:]))
        return *(part.to(h.dtype) for part in state), valid

    def extra(self) -> tuple[Any, ...]:
        """The query's matrix, the scoring, and whatever else the ops take before the span."""
        return self.query_matrix, self.scoring

    def step(
        self,
        projected: Float[Tensor, "B gn"],
        previous_state: State,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> State:
        """One step from a projected input: see `step_op`."""
        state: State
        state, _ = self.step_op(projected, previous_state, self.U, *self.extra(), self.span, state_mask)
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
        states, last, _ = self.read(inputs, mask, initial, reverse, state_mask)
        return states, last


class _SelfAttentiveRNN(SelfAttentive):
    """The plain RNN with a tape, after Cheng et al. 2016, in one of `ops.self_attentive_rnn.FORMS`."""

    num_gates = 1
    form: ClassVar[str]

    def read(
        self,
        inputs: Float[Tensor, "B T m"],
        mask: Bool[Tensor, "B T"],
        initial: State,
        reverse: bool = False,
        state_mask: Float[Tensor, "B n"] | None = None,
    ) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
        """As `sequence`, and alpha: a row for each word, a column for each slot in the order of writing."""
        weights = (self.W, self.U, self.b, self.query_matrix)
        return self_attentive_rnn_sequence(
            inputs, mask, initial, *weights, self.scoring, self.form, self.span, reverse, state_mask
        )


class RNNRead(_SelfAttentiveRNN):
    """Reading before the update: h_t = tanh(W x_t + U s_t + b), s_t = Σ_{i<t} α_i h_i, α from x_t, s_{t−1} and h_i."""

    form = "read"
    step_op = staticmethod(read_step)


class RNNSum(_SelfAttentiveRNN):
    """Summing up after it: h_t = tanh(W x_t + U s_{t−1} + b), s_t = Σ_{i≤t} α_i h_i, α from h_t and h_i."""

    form = "sum"
    asks_first = False
    step_op = staticmethod(sum_step)


class RNNSumKeep(RNNSum):
    """As `RNNSum`, keeping the old state: h_t = tanh(W x_t + U [s_{t−1}; h_{t−1}] + b)."""

    form = "sum-keep"
    num_recurrent = 2
