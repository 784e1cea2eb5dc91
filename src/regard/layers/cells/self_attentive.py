"""Cells that attend to their own past: the plain RNN in three forms, and the LSTMN.

The state holds a tape that grows by a slot at each step: h (and c), the last summary s, keys and values of all slots
(and their memories), and the mask of the slots. An initial h (and c) becomes the tape's first slot.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.layers.attention import Additive, Attention
from regard.layers.cells.cell import Cell
from regard.ops import Asking, Read, Recurrence, Weights
from regard.ops.recurrence import Asks, Energy
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring, read_tape
from regard.ops.unroll import State

AttentionFactory = Callable[[int | None, int], Attention]
"""(query size, annotation size) → the attention; a query size of None is for queries that come projected."""


def additive(query_size: int | None, annotation_size: int) -> Attention:
    """Additive attention, as in Cheng et al. 2016, with as many alignment units as the state has."""
    return Additive(query_size, annotation_size, annotation_size)


class LayerScoring:
    """An attention layer without a fused form, called step by step."""

    def __init__(self, attention: Attention) -> None:
        self.attention = attention

    def keys(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t p"]:
        """See `Attention.keys`."""
        return self.attention.keys(states)

    def values(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t n"]:
        """See `Attention.values`."""
        return self.attention.values(states)

    def attend(
        self,
        query: Float[Tensor, "B Q p"],
        keys: Float[Tensor, "B t k"],
        values: Float[Tensor, "B t d"],
        mask: Bool[Tensor, "B t"],
    ) -> tuple[Float[Tensor, "B Q d"], Float[Tensor, "B Q t"]]:
        """See `Attention.attend`."""
        context, alpha, _ = self.attention.attend(query, keys, values, mask)
        return context, alpha


def scoring_of(attention: Attention) -> Scoring:
    """An attention as the ops take it: its weights if the op has a fused form for it, else the layer itself."""
    weights = attention.fast_weights
    if weights is None or attention.projects_values:
        return LayerScoring(attention)
    if weights.v_a is None:
        return DotScoring(weights.W_k, weights.scale)
    assert weights.W_k is not None, "additive energies multiply their keys"
    return AdditiveScoring(weights.W_k, weights.v_a)


def energy_of(attention: Attention) -> Energy:
    """The family of its energies, as `scoring_of` gives them to the ops."""
    weights = attention.fast_weights
    if weights is None or attention.projects_values:
        return "other"
    return "dot" if weights.v_a is None else "additive"


def _query_matrix_of(attention: Attention) -> Tensor | None:
    """The query's matrix, if the scoring from `scoring_of` does not multiply by it."""
    weights = attention.fast_weights
    return None if weights is None or attention.projects_values else weights.W_q


class SelfAttentive(Cell):
    """Base of the cells that keep a tape of their past states (Cheng et al. 2016); called as every `Cell` is.

    An initial h (and c) becomes the first slot of the tape. A returned state, given as `initial`, continues its tape.

    Args:
        input_size: m.
        state_size: n.
        attention: makes the attention to the past; additive by default.
        span: how many real slots the tape keeps; 0 for all.
        bias: whether b is trained; if not, it is zero and no parameter.

    Attributes:
        attention: to the past.
        S: the matrix of s_{t−1} in the query, for a cell that attends before its update; the input's matrix in the
            query is in the last rows of W. None for a cell that attends with its new state.
    """

    attends_to_past = True
    attends_first: ClassVar[bool] = True
    """Whether the cell attends before its update, with x_t and s_{t−1}, or after it, with h_t."""
    S: nn.Parameter | None

    def __init__(
        self,
        input_size: int,
        state_size: int,
        attention: AttentionFactory = additive,
        span: int = 0,
        *,
        bias: bool = True,
    ) -> None:
        own_past = attention(None if self.attends_first else state_size, state_size)
        query_width = own_past.query_width if self.attends_first else 0
        super().__init__(input_size, state_size, query_width, bias=bias)
        self.attention = own_past
        self.span = span
        query = nn.Parameter(torch.empty(own_past.query_width, state_size)) if self.attends_first else None
        self.register_parameter("S", query)
        if query is not None:
            nn.init.xavier_uniform_(query)

    @property
    def scoring(self) -> Scoring:
        """The attention as the ops take it."""
        return scoring_of(self.attention)

    @property
    def query_matrix(self) -> Tensor | None:
        """The matrix that makes a query of s_{t−1}, or of h_t."""
        return self.S if self.attends_first else _query_matrix_of(self.attention)

    def zero_state(self, batch: int, like: Tensor) -> State:
        """The state before the first word: zero h (and c), a zero summary, an empty tape."""
        n = self.state_size
        heads = (like.new_zeros(batch, n) for _ in range(self.num_parts + 1))
        keys = like.new_zeros(batch, 0, self.scoring.keys(self.W.new_zeros(1, 0, n)).shape[2])
        written = (like.new_zeros(batch, 0, n) for _ in range(self.num_parts))
        return *heads, keys, *written, torch.zeros(batch, 0, dtype=torch.bool, device=like.device)

    def initial_state(self, parts: State) -> State:
        """The state with the given h (and c), each (B, n), in the first slot of the tape.

        Mixed precision may narrow h and c; the state has the dtype of the parameters.
        """
        parts = tuple(part.to(self.U.dtype) for part in parts)
        h, scoring = parts[0], self.scoring
        written = h.unsqueeze(1)
        keys, values = scoring.keys(written), scoring.values(written)
        valid = torch.ones(h.shape[0], 1, dtype=torch.bool, device=h.device)
        summary = torch.zeros_like(h)
        if not self.attends_first:
            matrix = self.query_matrix
            summary, _ = read_tape(scoring, h if matrix is None else h @ matrix.T, keys, values, valid)
        state = (*parts, summary, keys, values, *(part.unsqueeze(1) for part in parts[1:]))
        return *(part.to(h.dtype) for part in state), valid

    @cached_property
    def _description(self) -> Recurrence:
        asks: Asks = "last read" if self.attends_first else "new state"
        past = Read(energy_of(self.attention), asks, "state", self.span)
        return Recurrence(self.kind, past=past, keeps=self.num_recurrent > 1)

    def weights(self) -> Weights:
        """With those of the attention."""
        return replace(super().weights(), past=Asking(self.query_matrix, self.scoring))


class RNNRead(SelfAttentive):
    """Attends before the update: h_t = tanh(W x_t + U s_t + b), s_t = Σ_{i<t} α_i h_i, α from x_t, s_{t−1} and h_i.

        outputs, (h, *tape) = RNNRead(m, n)(x)      # x (B, T, m), outputs (B, T, n), h (B, n)

    Arguments as for `SelfAttentive`.
    """

    kind = "rnn"
    num_gates = 1


class RNNSum(SelfAttentive):
    """Attends after the update: h_t = tanh(W x_t + U s_{t−1} + b), s_t = Σ_{i≤t} α_i h_i, α from h_t and h_i.

        outputs, (h, *tape) = RNNSum(m, n)(x)       # x (B, T, m), outputs (B, T, n), h (B, n)

    Arguments as for `SelfAttentive`.
    """

    kind = "rnn"
    num_gates = 1
    attends_first = False


class RNNSumKeep(RNNSum):
    """`RNNSum` that also reads the old state: h_t = tanh(W x_t + U [s_{t−1}; h_{t−1}] + b).

    Arguments as for `SelfAttentive`.
    """

    num_recurrent = 2


class LSTMN(SelfAttentive):
    """The LSTMN, an LSTM over Σ α_i h_i and Σ α_i c_i (Cheng, Dong & Lapata 2016).

    s_t = Σ_{i<t} α_i h_i and c′_t = Σ_{i<t} α_i c_i take the places of h_{t−1} and c_{t−1}; α from x_t, s_{t−1}, h_i.
    With the energy qkv, s_t = Σ α_i W_V h_i: values are projected, memories never. Several heads would give the
    memories only their mean, so `StackConfig` refuses them.

        outputs, (h, c, *tape) = LSTMN(m, n)(x)     # x (B, T, m), outputs (B, T, n), h and c (B, n)

    Args:
        input_size: m.
        state_size: n.
        attention: makes the attention to the past; additive by default.
        span: how many real slots the tape keeps; 0 for all.
        output: one of `ops.lstmn.OUTPUTS`: tanh for h = o∘tanh(c), plain for h = o∘c.
        bias: whether b is trained; if not, it is zero and no parameter.
    """

    kind = "lstm"
    num_gates = 4
    num_parts = 2
    forget_block = 1

    def __init__(
        self,
        input_size: int,
        state_size: int,
        attention: AttentionFactory = additive,
        span: int = 0,
        output: str = "tanh",
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(input_size, state_size, attention, span, bias=bias)
        self.output = output

    @cached_property
    def _description(self) -> Recurrence:
        return replace(super()._description, cell="lstm" if self.output == "tanh" else "lstm-plain")

    def memories(self, state: State) -> Float[Tensor, "B t n"]:
        """The memory c of every slot on a state's tape."""
        return state[5]
