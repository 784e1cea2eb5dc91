"""Luong, Pham & Manning 2015: the recurrence first, then the current state attends.

h_t = f(h_{t−1}, [y_{t−1}; h̃_{t−1}]);  α_t from h_t;  h̃_t = tanh(W_c [c_t; h_t]);  p(y_t) = softmax(W_s h̃_t).
The paper's h̄_s are our annotations, its a_t our alpha, h̃_t the attentional state. Without input feeding the
recurrence does not depend on attention, so a whole sentence takes one recurrent call and one attention call (one per
step with coverage, where a step depends on the alphas before it). With `copy`, p(y_t) is the mixture of a
pointer-generator, whose gate reads h_t, c_t and y_{t−1}.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from regard import ops
from regard.layers import (
    Attention,
    AttentionalReadout,
    Embedding,
    Output,
    PointerGenerator,
)
from regard.layers.recurrent import DropoutMasks
from regard.models.decoders.config import LuongConfig
from regard.models.decoders.decoder import (
    Decoder,
    ProjectedStart,
    asked_source,
    attend_rows,
    build_decoder_attention,
    loop_reason,
)
from regard.models.encoder import joined_last
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops import Inputs
from regard.ops.affine import affine
from regard.ops.backends import tell_looped
from regard.ops.paths import untraced
from regard.ops.record import Letters
from regard.ops.unroll import State


class LuongDecoder(Decoder):
    """Luong's attention, global or local, with or without input feeding, over any cell and any energy.

    Attributes:
        F: the matrices of h̃_{t−1} in the recurrence, stacked as the cell stacks its gates; None without
            input feeding.
    """

    attention: Attention
    reading = ("new state", "readout")

    def __init__(
        self, config: LuongConfig, annotation_size: int, embedding: Embedding, output: Output
    ) -> None:
        n, l = config.state_size, config.readout_size
        super().__init__(config, embedding, output, input_size=config.embedding_size)
        self.attention = build_decoder_attention(config.attention, n, annotation_size)
        bottom = self.stack.layers[0]
        self.F: nn.Parameter | None = None
        if config.input_feeding:
            self.F = nn.Parameter(nn.init.xavier_uniform_(torch.empty(bottom.projected_size, l)))
        self.start = ProjectedStart(annotation_size, self.stack) if config.bridge == "project" else None
        self.readout = AttentionalReadout(n, self.attention.context_size, l)
        if config.copy:
            self.pointer = PointerGenerator(n, config.embedding_size, self.attention.context_size)

    def letters(self, whose: str) -> Letters:
        """The paper's h_t, h̄_s and a_t; the current state attends."""
        letters = super().letters(whose)
        if whose == "papers" and letters.state == "s":
            letters = replace(letters, state="h", source="h̄_s", alpha="a")
        term = "" if self.F is None else "F h̃_{t−1}"
        return replace(letters, query=f"{letters.state}_t", term=term, readout="h̃_t")

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last states, copied or projected; h̃_0 = 0."""
        if self.start is None:
            cells = self.stack.initial_states(joined_last(encoded.forward_last, encoded.backward_last))
        else:
            x = encoded.summary
            cells = self.start(x, self.stack)
        h = cells[0][0]
        fed = None if self.F is None else h.new_zeros(h.shape[0], self.F.shape[1])
        return DecoderState(cells, fed, self.attention.initial_state(encoded.mask))

    def _recur(
        self, projected: Tensor, state: DecoderState, masks: DropoutMasks | None, t: int
    ) -> tuple[Tensor, tuple[State, ...]]:
        """W E y_{t−1} + b and the last state → the top layer's output h_t, and each layer's new state."""
        if self.F is not None:
            assert state.attentional_state is not None, "input feeding needs the last attentional state"
            projected = projected + affine(state.attentional_state, self.F, packed=self.packed)
        return self.stack.step(projected, state.cells, masks, t)

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        if self.fused_step is not None and self.fused_step.applies(state, encoded):
            return self.fused_step.step(previous_ids, state, encoded)
        embedded = self._embed(previous_ids, encoded)  # (R, m)
        projected = self.stack.layers[0].project(embedded)  # (R, gn)
        top, cells = self._recur(projected, state, None, 0)
        context, alpha, carried = attend_rows(self.attention, top, encoded, state.attention)
        attentional_state = self.readout(top, context)  # (R, l)
        fed = attentional_state if self.F is not None else None
        logits = self.output(attentional_state)
        logits = self._mix_copies(logits, top, embedded, context, alpha, encoded)
        return StepOutput(logits, DecoderState(cells, fed, carried), alpha)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        embedded = self.dropout(self._embed(previous_ids, encoded))  # (B, Ty, m)
        state = self.initial_state(encoded)
        if self.F is None:
            tops, _ = self.stack(embedded, target_mask, state.cells)  # (B, Ty, n)
            assert encoded.keys is not None, "the source was encoded without keys"
            assert encoded.values is not None, "the source was encoded without values"
            context, alpha, _ = self.attention.attend_sequence(
                tops, encoded.keys, encoded.values, encoded.mask
            )
            readout = self.dropout(self.readout(tops, context))
            if self.pointer is None:
                return Unrolled(readout, alpha)
            log_probs = self._mix_copies(self.output(readout), tops, embedded, context, alpha, encoded)
            return Unrolled(None, alpha, log_probs)
        batch, num_steps = previous_ids.shape
        projected = self.stack.layers[0].project(embedded)  # (B, Ty, gn), all steps at once
        masks = self.stack.sample_masks(batch, num_steps, embedded)
        dropped = self.dropout.sample_mask(batch, num_steps, self.F.shape[1], embedded)
        return self._fed(embedded, projected, state, encoded, masks, dropped)

    @untraced
    def _fed(
        self,
        embedded: Tensor,
        projected: Tensor,
        state: DecoderState,
        encoded: EncodedSource,
        masks: DropoutMasks,
        dropped: Tensor | None,
    ) -> Unrolled:
        """Input feeding: E y_{t−1} (B, Ty, m) and W E y_{t−1} + b (B, Ty, gn), the dropout mask of h̃ (B, Ty, l) → h̃."""
        lacks = loop_reason(self, stacked=True)
        if self.pointer is not None:
            lacks = lacks or "a pointer's gate reads the states"
        if not lacks:
            assert state.attentional_state is not None, "input feeding needs the last attentional state"
            source, asking = asked_source(self.attention, encoded)
            weights = replace(
                self.stack.layers[0].weights(),
                W=None,
                b=None,
                F=self.F,
                W_c=self.readout.W_c.weight,
                source=asking,
                above=tuple(layer.weights() for layer in self.stack.layers[1:]),
            )
            inputs = Inputs(
                projected,
                source=source,
                state_mask=masks.recurrent[0],
                dropped=dropped,
                between=tuple(masks.between[1:]),
                state_masks=tuple(masks.recurrent[1:]),
            )
            bottom, *above = state.cells
            initial = (*bottom, state.attentional_state, *(part for layer in above for part in layer))
            outputs = ops.run(self.recurrence, inputs, weights, initial)
            assert outputs.source_alpha is not None
            return Unrolled(outputs.states, outputs.source_alpha)
        tell_looped("input feeding", lacks)
        readouts, alphas, tops, contexts = [], [], [], []
        for t in range(projected.shape[1]):
            top, cells = self._recur(projected[:, t], state, masks, t)
            context, alpha, carried = attend_rows(self.attention, top, encoded, state.attention)
            attentional_state = self.readout(top, context)  # (B, l)
            if dropped is not None:
                attentional_state = attentional_state * dropped[:, t]
            state = DecoderState(cells, attentional_state, carried)
            readouts.append(attentional_state)
            alphas.append(alpha)
            if self.pointer is not None:
                tops.append(top)
                contexts.append(context)
        readout, alpha = torch.stack(readouts, 1), torch.stack(alphas, 1)
        if self.pointer is None:
            return Unrolled(readout, alpha)
        gate_inputs = torch.stack(tops, 1), embedded, torch.stack(contexts, 1)
        return Unrolled(None, alpha, self._mix_copies(self.output(readout), *gate_inputs, alpha, encoded))
