"""The values that pass between encoder, decoder and search, and the step that search needs of a decoder.

Nothing is kept on a module between calls: what a step needs goes in and comes out as a value. Knows nothing of
vocabularies or of search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from regard.layers import AttentionState
from regard.ops.unroll import State


def _select_states(states: Sequence[State], rows: Tensor) -> tuple[State, ...]:
    return tuple(tuple(part.index_select(0, rows) for part in state) for state in states)


@dataclass(frozen=True)
class EncodedSource:
    """A batch of sources as the decoder sees it.

    Attributes:
        annotations: h_j, (B, Tx, d).
        mask: (B, Tx), True at real words.
        keys: what queries are compared with, (B, Tx, p); None for a decoder that does not attend.
        forward_last: each layer's state after the last word read.
        backward_last: each layer's ←h_1; empty for a unidirectional encoder.
        values: what the context is a weighted mean of, (B, Tx, d), mostly the annotations; None if `keys` is.
        memories: the top layer's c_j, (B, Tx, n), of a unidirectional lstmn; None for other encoders.
        forced: forced attention: the word that the next step of each sentence must attend to, (B,), counted from 0,
            negative for a sentence whose attention is free; None if all are.
        copy_ids: the target word that each source word is copied as, (B, Tx), negative where there is none; None for a
            decoder that does not copy.
        num_unknowns: K, the ids from Vy on, of words outside the vocabulary that a sentence of the batch has and that
            can only be copied.
    """

    annotations: Tensor
    mask: Tensor
    keys: Tensor | None
    forward_last: tuple[State, ...]
    backward_last: tuple[State, ...]
    values: Tensor | None = None
    memories: Tensor | None = None
    forced: Tensor | None = None
    copy_ids: Tensor | None = None
    num_unknowns: int = 0

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
            None if self.copy_ids is None else self.copy_ids.index_select(0, rows),
            self.num_unknowns,
        )

    def padded(self, length: int) -> "EncodedSource":
        """The same sources with padding up to `length` words."""
        missing = length - self.mask.shape[1]
        if missing == 0:
            return self

        def pad(part: Tensor | None, value: float = 0) -> Tensor | None:
            beside = (0, 0) * (0 if part is None else part.dim() - 2)
            return None if part is None else torch.nn.functional.pad(part, (*beside, 0, missing), value=value)

        of_words = ("annotations", "mask", "keys", "values", "memories")
        parts = {name: pad(getattr(self, name)) for name in of_words}
        return replace(self, copy_ids=pad(self.copy_ids, -1), **parts)  # type: ignore[arg-type]

    def with_forced_attention(self, positions: Tensor | None) -> "EncodedSource":
        """The same source for a step with forced attention to `positions` (B,); see `forced`."""
        return replace(self, forced=positions)

    @property
    def visible(self) -> Tensor:
        """The words that the next step may attend to, (B, Tx): all real ones, or the forced one."""
        if self.forced is None:
            return self.mask
        one_hot = torch.nn.functional.one_hot(self.forced.clamp_min(0), self.mask.shape[1]).bool()
        return torch.where((self.forced >= 0).unsqueeze(1), one_hot, self.mask)

    @property
    def summary(self) -> Tensor:
        """The fixed vector c: the top layer's last state, of both directions if there are two, (B, d)."""
        ends = [self.forward_last[-1][0]]
        if self.backward_last:
            ends.append(self.backward_last[-1][0])
        return torch.cat(ends, dim=-1)


@dataclass(frozen=True)
class DecoderState:
    """What one step of a decoder needs from the last; R rows, one for each hypothesis.

    Attributes:
        cells: each layer's state, (R, n) tensors.
        attentional_state: h̃ of the last step, (R, l), for input feeding; None without it.
        attention: the attention's state (the step's number, the coverage, where a hard alignment may be), R rows each;
            mostly empty.
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
        logits: (R, Vy); of a decoder with a mixture, its log-probabilities, (R, Vy + K) of one that copies.
        state: for the next step.
        alpha: (R, Tx), or None for a decoder that does not attend.
    """

    logits: Tensor
    state: DecoderState
    alpha: Tensor | None


@dataclass(frozen=True)
class Unrolled:
    """The result of a decoder run over given target words: readouts, or else the log-probabilities of a mixture.

    Attributes:
        readout: the input of the output matrix at each step, (B, Ty, l); None for a decoder with a mixture.
        alpha: (B, Ty, Tx), or None for a decoder that does not attend.
        log_probs: log p(y_i ∣ …) of each word, (B, Ty, Vy), where that is not the softmax of one readout: of a decoder
            that copies, or sums over hard alignments.
    """

    readout: Tensor | None
    alpha: Tensor | None
    log_probs: Tensor | None = None


class Stepper(Protocol):
    """What search needs: a decoder, or anything with the same two methods.

    One with a shortlist also has an attribute `words`, (S,), the ids of the logits' columns. Each step returns new
    tensors: search keeps alpha and may overwrite the logits.
    """

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The state before the first word."""
        ...

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R = B·K rows, the K hypotheses of a sentence consecutive."""
        ...
