"""The base of the decoders: an initial state, one step for search, and a whole target sentence for training.

`step` and `forward` give the same numbers; `forward` moves out of the loop what does not depend on the last state. A
step may have more rows of state than there are sentences: R = B·K hypotheses, K per sentence, share one copy of the
source.
"""

import copy
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Protocol, Self

from torch import Tensor, nn

from regard.batches.pad import known_ids
from regard.errors import ConfigError
from regard.layers import (
    Attended,
    Attention,
    AttentionState,
    Dropout,
    Embedding,
    Output,
    PointerGenerator,
    RecurrentStack,
    build_attention,
)
from regard.models.attention import AttentionConfig
from regard.models.decoders.config import DecoderConfig
from regard.models.stack import build_stack
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops import Asking, Read, Recurrence, Source
from regard.ops.native import PackedWeights
from regard.ops.paths import fused_wanted
from regard.ops.record import Equation, Letters, record, scope
from regard.ops.recurrence import Asks, Energy, Enters
from regard.ops.tape import AdditiveScoring, DotScoring
from regard.ops.unroll import State

START = {"state": Equation("s_0 = tanh(W_s ⟨start⟩ + b_s)")}

NO_SHORTLIST = (
    "shortlist: the decoder copies from the source or has hard attention, and its words are not chosen by one softmax; "
    "leave the shortlist out"
)


class FusedStep(Protocol):
    """A whole decoder step in one call over packed weights; `inference` makes one when it packs a model."""

    def applies(self, state: DecoderState, encoded: EncodedSource) -> bool:
        """Whether it computes this step; if not, the decoder's own code does."""
        ...

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; arguments as for `Decoder.step`."""
        ...

    def over(self, output: Output) -> "FusedStep":
        """The same step with another output matrix, such as that of a shortlist."""
        ...


class Decoder(nn.Module, ABC):
    """An embedding, a stack of cells and an output matrix; subclasses wire them.

    Args:
        config: sizes and kinds.
        embedding: E_y; the model makes it, as it may be shared.
        output: the output matrix; the model makes it, too.
        input_size: the width of the bottom layer's input.

    Attributes:
        attention: None for a decoder that sees the source as one fixed vector.
        fused_step: the step of a packed model in one call; None in training, and for decoders that have none.
        words: the ids of the logits' columns, (S,), of a decoder with a shortlist; None for the whole vocabulary.
        pointer: the mixture with copies of the source; None for a decoder that does not copy.
        packed: its matrices as they were packed for decoding; None in training.
    """

    fused_step: FusedStep | None = None
    words: Tensor | None = None
    packed: PackedWeights | None = None
    reading: ClassVar[tuple[Asks, Enters] | None] = None
    """What asks the source, and where the context goes, of a decoder whose steps the ops have as one recurrence."""
    pointer: PointerGenerator | None

    def __init__(self, config: DecoderConfig, embedding: Embedding, output: Output, input_size: int) -> None:
        super().__init__()
        self.attention: Attention | None = None
        self.register_module("pointer", None)
        self.embedding = embedding
        self.output = output
        self.dropout = Dropout(config.dropout, config.variational)
        self.stack = build_stack(RecurrentStack, config, input_size)

    @cached_property
    def recurrence(self) -> Recurrence:
        """All its steps as the ops compute them, where `loop_reason` is empty."""
        recurrence, attention = self.stack.layers[0].recurrence, self.attention
        assert recurrence is not None
        assert attention is not None
        assert attention.fast_weights is not None
        assert self.reading is not None
        energy: Energy = "dot" if attention.fast_weights.v_a is None else "additive"
        return replace(recurrence, source=Read(energy, *self.reading), layers=len(self.stack.layers))

    @property
    def is_mixture(self) -> bool:
        """Whether p(y_i ∣ …) is a mixture, and not the softmax of one readout."""
        return self.pointer is not None

    def keys_and_values(self, annotations: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """What a step compares its query with, and what it reads there, computed once per sentence."""
        if self.attention is None:
            return None, None
        return self.attention.keys(annotations), self.attention.values(annotations)

    def letters(self, whose: str) -> Letters:
        """How its equations are written; see `Letters`.

        A cell that attends to its own past keeps its letters, h and i, and the annotations are then written h̄_j.

        Args:
            whose: one of `ops.record.LETTERS`.
        """
        own = self.stack.layers[0].attends_to_past
        slides, state = whose == "slides", "h" if own else "s"
        return Letters(
            state=state,
            source="h̄_j" if own else "h_i" if slides else "h_j",
            alpha="a" if slides else "α",
            query=f"{state}_{{t−1}}",
            word="y_{t−1}" if slides else "E y_{t−1}",
            readout=f"{state}_t",
            memory="c" if self.attention is None else "m",
        )

    @abstractmethod
    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The state before the first word, one row per sentence."""

    @abstractmethod
    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step.

        Args:
            previous_ids: y_{i−1}, (R,), R a multiple of the number of sentences.
            state: from `initial_state` or the last step, R rows.
            encoded: the source, B rows.
        """

    @abstractmethod
    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence by teacher forcing.

        Args:
            previous_ids: y_0 … y_{Ty−1}, (B, Ty).
            target_mask: (B, Ty), True where a word is to be predicted.
            encoded: the source, B rows.
        """

    def _mix_copies(
        self,
        logits: Tensor,
        state: Tensor,
        embedded: Tensor,
        context: Tensor,
        alpha: Tensor,
        encoded: EncodedSource,
    ) -> Tensor:
        """The log-probabilities of a decoder that copies, (…, Vy + K); the logits as they are of one that does not.

        Args:
            logits: of the vocabulary, (…, Vy).
            state: s_i, (…, n).
            embedded: E y_{i−1}, (…, m).
            context: c_i, (…, d).
            alpha: α_i, (…, Tx).
            encoded: the source; its rows are shared by consecutive rows of the others.
        """
        if self.pointer is None:
            return logits
        assert encoded.copy_ids is not None, "the source was encoded without copy_ids"
        log_probs: Tensor = self.pointer(
            logits, state, embedded, context, alpha, encoded.copy_ids, encoded.num_unknowns
        )
        return log_probs

    def _embed(self, previous_ids: Tensor, encoded: EncodedSource) -> Tensor:
        """E y_{i−1}; that of the unknown word for a word that was copied from outside the vocabulary."""
        if encoded.num_unknowns:
            previous_ids = known_ids(previous_ids, len(self.embedding.E))
        embedded: Tensor = self.embedding(previous_ids)
        return embedded

    def shortlist(self, ids: Tensor) -> Self:
        """The same decoder with logits for some words only.

        Args:
            ids: (S,), in the order of the logits' columns; EOS must be among them.

        Raises:
            ConfigError: the decoder copies, or sums over hard alignments: its mixture is over the whole vocabulary.
        """
        if self.is_mixture:
            raise ConfigError(NO_SHORTLIST)
        short = copy.copy(self)
        short._modules = {**self._modules, "output": self.output.restricted(ids)}
        short.words = ids
        short.fused_step = None if self.fused_step is None else self.fused_step.over(short.output)
        return short


def loop_reason(decoder: Decoder, *, stacked: bool = False) -> str:
    """Why a decoder's steps are not one recurrence of the ops, a clause; empty if they are.

    Args:
        decoder: which.
        stacked: whether several layers can be one recurrence.
    """
    layers, attention = decoder.stack.layers, decoder.attention
    # on the naive path the stack steps, which records every layer
    if len(layers) > 1 and not (stacked and fused_wanted()):
        return f"it has {len(layers)} layers"
    if len(layers) > 1 and decoder.stack.residual:
        return "its layers have residual connections"
    recurrence = layers[0].recurrence
    if recurrence is None or recurrence.reads:
        return f"its cell is {type(layers[0]).__name__}"
    energy = None if attention is None else attention.fast_weights
    # on the naive path, keys of an energy as printed are not multiplied, as the ops expect them to be
    if energy is None or (energy.as_printed and not fused_wanted()):
        return "its attention is not a softmax of additive energies or dot products of one head"
    return ""


def asked_source(attention: Attention, encoded: EncodedSource) -> tuple[Source, Asking]:
    """The source, and how it is compared with, of a decoder that is one recurrence."""
    assert encoded.keys is not None, "the source was encoded without keys"
    assert encoded.values is not None, "the source was encoded without values"
    energy = attention.fast_weights
    assert energy is not None
    scoring = DotScoring(None, energy.scale) if energy.v_a is None else AdditiveScoring(None, energy.v_a)
    return Source(encoded.keys, encoded.values, encoded.mask), Asking(energy.W_q, scoring)


def attend_rows(
    attention: Attention, state: Tensor, encoded: EncodedSource, carried: AttentionState
) -> Attended:
    """Attend with R states to B sentences, R a multiple of B.

    Args:
        attention: the layer.
        state: (R, n), the hypotheses of a sentence consecutive.
        encoded: the source, with keys and values.
        carried: the attention's state, R rows.

    Returns:
        Context (R, d), alpha (R, Tx), and the attention's next state.
    """
    assert encoded.keys is not None, "the source was encoded without keys"
    assert encoded.values is not None, "the source was encoded without values"
    query = state.reshape(encoded.mask.shape[0], -1, state.shape[-1])  # (B, K, n)
    context, alpha, carried = attention.attend(
        query, encoded.keys, encoded.values, encoded.mask, carried, encoded.forced
    )
    return Attended(context.flatten(0, 1), alpha.flatten(0, 1), carried)


def build_decoder_attention(
    config: AttentionConfig, query_size: int | None, annotation_size: int
) -> Attention:
    """The attention of a decoder's configuration; `query_size` is None for queries that come projected."""
    return build_attention(
        config.energy,
        query_size,
        annotation_size,
        config.size or 0,
        heads=config.heads,
        normalizer=config.normalizer,
        window=config.window,
        window_size=config.window_size or 0,
        coverage=config.coverage,
        scaled=config.scaled is not False,
        value_size=config.value_size or 0,
    )


class ProjectedStart(nn.Module):
    """s_0 = tanh(W_s x) for each layer (Bahdanau et al. 2015, A.2.2); a memory c starts at zero."""

    def __init__(self, input_size: int, stack: RecurrentStack) -> None:
        super().__init__()
        layers = [nn.Linear(input_size, cell.state_size) for cell in stack.layers]
        for layer in layers:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.W_s = nn.ModuleList(layers)

    def forward(self, x: Tensor, stack: RecurrentStack) -> tuple[State, ...]:
        """Each layer's initial state, from x (B, d)."""
        starts = [layer(x).tanh() for layer in self.W_s]
        for k, start in enumerate(starts):
            with scope("layer", k):
                record(START, state=start)
        zero = stack.recurrent_parts(stack.zero_state(x.shape[0], x))
        return stack.initial_states([(h, *rest) for h, (_, *rest) in zip(starts, zero, strict=True)])
