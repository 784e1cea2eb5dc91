"""What a recurrence is, as a value, and what it takes and gives. Each backend interprets this, and nothing else.

A step has up to four parts: it reads a memory (the source, its own past, or both), it updates its cell, it writes what
it may read later, and it gives a readout. A `Recurrence` says which of them there are and in which order; the tensors
come as `Inputs`, `Weights` and a state, and go as `Outputs`. `ops/dispatch` computes it; the letters are in README.md.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from torch import Tensor

from regard.ops.native import PackedWeights
from regard.ops.tape.scoring import Scoring
from regard.ops.unroll import State

Asks = Literal["previous state", "new state", "last read"]
"""What makes a step's query: s_{i−1}, before the update; h_t, after it; or x_t and what the last step read."""

Enters = Literal["gates", "state", "memory", "readout"]
"""Where that which was read goes: into the gates, by C; in the place of the previous state; by a gate of its own into
the memory (deep fusion); or into the readout h̃_t = tanh(W_c [c_t; h_t]), which is fed to the next step."""

Energy = Literal["additive", "dot", "other"]
"""v_aᵀ tanh(q + k), scale · qᵀk, or one that only its layer computes."""

BLOCKS = {
    "rnn": 1,
    "rnn-sigmoid": 1,
    "lstm": 4,
    "lstm-plain": 4,
    "lstm-peephole": 4,
    "lstm-1997": 3,
    "lstm-no-input": 3,
    "lstm-no-forget": 3,
    "lstm-no-output": 3,
    "gru": 3,
    "gru-torch": 3,
    "mut1": 3,
    "mut3": 3,
}
"""The cells, and the number of blocks of n rows in W. ``lstm-plain`` is the LSTM with h = o ∘ c."""


@dataclass(frozen=True)
class Read:
    """One attention within a step.

    Attributes:
        energy: how a query is compared with the keys.
        asks: what makes the query.
        enters: where that which was read goes.
        span: how many real slots of the own past are read; 0 for all.
    """

    energy: Energy
    asks: Asks
    enters: Enters
    span: int = 0


@dataclass(frozen=True)
class Recurrence:
    """A recurrence.

    Attributes:
        cell: one of `BLOCKS`.
        source: how a step reads the source; None if it does not.
        past: how a step reads the states before it; None if it has the last one only.
        keeps: whether U meets h_{t−1}, too, where what was read takes its place.
        layers: how many cells there are, each reading the one below; the top one asks. More than one only with a
            readout.
    """

    cell: str
    source: Read | None = None
    past: Read | None = None
    keeps: bool = False
    layers: int = 1

    @property
    def name(self) -> str:
        """What `regard.ops.explain` calls it."""
        if self.past is not None:
            if self.source is not None:
                return "deep fusion"
            if self.has_memory:
                return "lstmn"
            form = "read" if self.past.asks == "last read" else "sum-keep" if self.keeps else "sum"
            return f"self-attentive {self.cell}, {form}"
        if self.source is None:
            return self.cell
        if self.source.enters == "gates":
            return f"attending {self.cell}"
        return f"input feeding {self.cell}" + (f", {self.layers} layers" if self.layers > 1 else "")

    @property
    def has_memory(self) -> bool:
        """Whether the state is (h, c)."""
        return self.cell.startswith("lstm")

    @property
    def reads(self) -> tuple[Read, ...]:
        """All there are."""
        return tuple(read for read in (self.source, self.past) if read is not None)


class Source(NamedTuple):
    """A sentence to attend to.

    Attributes:
        keys: what queries are compared with, (B, Tx, a).
        values: what is read, (B, Tx, d).
        mask: True at real words, (B, Tx).
        memories: what deep fusion reads beside the values, (B, Tx, n).
    """

    keys: Tensor
    values: Tensor
    mask: Tensor
    memories: Tensor | None = None


@dataclass(frozen=True)
class Inputs:
    """What a recurrence runs over.

    Attributes:
        x: x_1 … x_T (B, T, m), or W x + b (B, T, gn) where `Weights` have no W. A query that depends on x_t has its
            part of W x after the gates: that to the own past, then that to the source.
        mask: (B, T), True at real words; None if nothing is padded. Padding leaves the state as it was.
        source: to attend to.
        reverse: read from the last position to the first; states stay at their words' positions.
        state_mask: variational dropout of what U meets, (B, n); one mask for all steps.
        dropped: what the readouts h̃_t are multiplied by before anything reads them, (B, T, l), a constant.
        between: for each layer above the first one, what its input is multiplied by, (B, T, n), or None; constants.
        state_masks: for each of them, variational dropout of what its U meets, (B, n), or None.
    """

    x: Tensor
    mask: Tensor | None = None
    source: Source | None = None
    reverse: bool = False
    state_mask: Tensor | None = None
    dropped: Tensor | None = None
    between: tuple[Tensor | None, ...] = ()
    state_masks: tuple[Tensor | None, ...] = ()


class Asking(NamedTuple):
    """How a memory is compared with.

    Attributes:
        matrix: of what asks, (p, n); None where that itself is the query.
        scoring: its energies, and the keys of what is written.
    """

    matrix: Tensor | None
    scoring: Scoring


@dataclass(frozen=True)
class Weights:
    """The matrices of a recurrence; blocks are stacked as the cell's naive definition has them.

    Attributes:
        U: of the previous state, or of what takes its place, (gn, n).
        W: of the input, (gn, m), with the queries' rows below; None where inputs come projected.
        b: (gn,).
        p: peepholes of input, forget and output gate, (3n,).
        b_U: the second bias of the candidate, (n,), of ``gru-torch`` and ``mut1``.
        C: of the context in the gates, (gn, d).
        F: of h̃_{t−1} in the gates, (gn, l).
        W_c: of the readout, (l, d + n).
        R: of what was read of the source, in the gate of deep fusion, (n, n).
        source: how the source is compared with.
        past: how the own past is compared with.
        above: W, U, b (and p, b_U) of each layer above the first one, from below.
        packed: what of these was packed for decoding; the caller's.
    """

    U: Tensor
    W: Tensor | None = None
    b: Tensor | None = None
    p: Tensor | None = None
    b_U: Tensor | None = None  # noqa: N815 (the letters of the equation)
    C: Tensor | None = None
    F: Tensor | None = None
    W_c: Tensor | None = None
    R: Tensor | None = None
    source: Asking | None = None
    past: Asking | None = None
    above: "tuple[Weights, ...]" = ()
    packed: PackedWeights | None = None


class Outputs(NamedTuple):
    """What a recurrence gives.

    Attributes:
        states: h_t (B, T, n), zero on padding; of one with a readout, h̃_t (B, T, l).
        last: the state after the last word, of a recurrence that does not attend to the source.
        alpha: over the own past, (B, T, slots): a row for each position, a column for each slot in their order.
        source_alpha: over the source, (B, T, Tx).
        contexts: what was read of the source, where it enters the gates, (B, T, d).
    """

    states: Tensor
    last: State = ()
    alpha: Tensor | None = None
    source_alpha: Tensor | None = None
    contexts: Tensor | None = None


class Parts(NamedTuple):
    """A state by its parts; None for those that a recurrence does not have.

    Attributes:
        h: (B, n).
        c: the memory, (B, n).
        summary: what the last step read of the own past, (B, n).
        reading: what the last step read of the source, (B, n).
        fed: h̃, (B, l).
        tapes: keys (B, t, p), values and memories (B, t, n) of the own past.
        valid: (B, t), True where a slot of the tapes holds a real word.
        above: h (and c) of each layer above the first one.
    """

    h: Tensor
    c: Tensor | None
    summary: Tensor | None = None
    reading: Tensor | None = None
    fed: Tensor | None = None
    tapes: State = ()
    valid: Tensor | None = None
    above: tuple[State, ...] = ()


def parts_of(recurrence: Recurrence, state: State) -> Parts:
    """H (and c), then h̃ if it is fed, and the layers above; or the summary, reading, tapes and mask of the own past."""
    memory = 1 + recurrence.has_memory
    h, c, rest = state[0], state[1] if memory == 2 else None, state[memory:]
    if recurrence.past is None:
        above = tuple(rest[k : k + memory] for k in range(1, len(rest), memory))
        return Parts(h, c, fed=rest[0] if rest else None, above=above)
    summary, *tapes, valid = rest
    reading = tapes.pop(0) if recurrence.source is not None else None
    return Parts(h, c, summary, reading, None, tuple(tapes), valid)
