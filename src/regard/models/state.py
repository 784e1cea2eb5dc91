"""Where real tokens stand in a batch, so that what comes after the recurrence is computed for them alone.

The values that pass between encoder, decoder and search. Nothing is kept on a module between calls.

What search needs of a decoder, and nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from regard.layers import AttentionState
from regard.ops.unroll import State


def real_positions(mask: Tensor) -> Tensor:
    """The numbers of the N real positions of a batch, row by row: (B, T) → (N,).

    How many there are is asked of the device. A GPU answers when its work is done, so ask before giving it any.
    """
    return mask.flatten().nonzero().squeeze(1)


def at_positions(values: Tensor, positions: Tensor) -> Tensor:
    """The values at some positions of a batch: (B, T, …) → (N, …).

    The same as by the mask, and sooner: the way back is a copy of rows.
    """
    return values.flatten(0, 1).index_select(0, positions)


def _select_states(states: Sequence[State], rows: Tensor) -> tuple[State, ...]:
    return tuple(tuple(part.index_select(0, rows) for part in state) for state in states)


@dataclass(frozen=True)
class EncodedSource:
    """What the decoder may know of the source.

    Attributes:
        annotations: h_j, (B, Tx, d).
        mask: True where a real word stands, (B, Tx).
        keys: what queries are compared with, (B, Tx, p); None for a decoder that does not attend.
        forward_last: each layer's state after the last word read.
        backward_last: each layer's ←h_1; empty for an encoder that reads one way.
        values: what a context is a mean of, (B, Tx, d), mostly the annotations; None where `keys` is.
        memories: the top layer's c_j, (B, Tx, n), of an lstmn that reads one way; None elsewhere.
        forced: the word that the next step of each sentence must look at, (B,), counted from 0, negative where it
            looks freely; None where all do.
    """

    annotations: Tensor
    mask: Tensor
    keys: Tensor | None
    forward_last: tuple[State, ...]
    backward_last: tuple[State, ...]
    values: Tensor | None = None
    memories: Tensor | None = None
    forced: Tensor | None = None

    def select(self, rows: Tensor) -> "EncodedSource":
        """The sentences at `rows`, in that order."""
        return EncodedSource(
            self.annotations.index_select(0, rows),
            self.mask.index_select(0, rows),
            None if self.keys is None else self.keys.index_select(0, rows),
            _select_states(self.forward_last, rows),
            _select_states(self.backward_last, rows),
            None if self.values is None else self.values.index_select(0, rows),
            None if self.memories is None else self.memories.index_select(0, rows),
            None if self.forced is None else self.forced.index_select(0, rows),
        )

    def with_forced_attention(self, positions: Tensor | None) -> "EncodedSource":
        """The same source for a step whose attention is told where to look; see `forced`."""
        return replace(self, forced=positions)

    @property
    def visible(self) -> Tensor:
        """The words the next step may look at, (B, Tx): all real ones, or the one it must."""
        if self.forced is None:
            return self.mask
        one_hot = torch.nn.functional.one_hot(self.forced.clamp_min(0), self.mask.shape[1]).bool()
        return torch.where((self.forced >= 0).unsqueeze(1), one_hot, self.mask)

    @property
    def summary(self) -> Tensor:
        """The fixed vector c: the top layer's last state, both ways where there are two, (B, d)."""
        ends = [self.forward_last[-1][0]]
        if self.backward_last:
            ends.append(self.backward_last[-1][0])
        return torch.cat(ends, dim=-1)


@dataclass(frozen=True)
class DecoderState:
    """What one step needs from the last; R rows, one for each hypothesis.

    Attributes:
        cells: each layer's state, (R, n) tensors.
        attentional_state: h̃ of the last step, (R, l), for input feeding; None elsewhere.
        attention: what the attention carries (the step's number, the coverage), R rows each; mostly nothing.
    """

    cells: tuple[State, ...]
    attentional_state: Tensor | None = None
    attention: AttentionState = ()

    def select(self, rows: Tensor) -> "DecoderState":
        """The hypotheses at `rows`, in that order."""
        attentional_state = (
            None if self.attentional_state is None else self.attentional_state.index_select(0, rows)
        )
        (attention,) = _select_states([self.attention], rows)
        return DecoderState(_select_states(self.cells, rows), attentional_state, attention)


@dataclass(frozen=True)
class StepOutput:
    """One step of a decoder.

    Attributes:
        logits: (R, Vy).
        state: for the next step.
        alpha: (R, Tx), or None for a decoder that does not attend.
    """

    logits: Tensor
    state: DecoderState
    alpha: Tensor | None


@dataclass(frozen=True)
class Unrolled:
    """A decoder run over given words.

    Attributes:
        readout: what the output matrix reads at each step, (B, Ty, l).
        alpha: (B, Ty, Tx), or None for a decoder that does not attend.
    """

    readout: Tensor
    alpha: Tensor | None


class Stepper(Protocol):
    """A model's decoder, or anything that steps like one.

    One whose logits are over a shortlist has an attribute `words` besides, (V,), the ids of their columns. Each step's
    logits and alpha are new tensors: the search keeps alpha, and may overwrite the logits.
    """

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The state before the first word."""
        ...

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R = B·K rows."""
        ...
