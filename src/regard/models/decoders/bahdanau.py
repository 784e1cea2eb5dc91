"""RNNsearch (Bahdanau et al. 2015, A.2.2): the previous state attends, and the context enters the recurrence.

e_i from s_{i−1};  c_i = Σ_j α_ij h_j;  s_i = f(s_{i−1}, y_{i−1}, c_i);  p(y_i) from (y_{i−1}, s_i, c_i).
With several layers, the top one's previous state attends and the context enters the bottom one. With `copy`, p(y_i) is
the mixture of a pointer-generator.

S. Wang's lecture counts contexts from 0: c_0 comes from s_0 and makes s_1 = tanh(A′ [x′_1; s_0; c_0] + b). His c_{j−1}
is the paper's c_j, and c_i here. His s_0 is h_m, the encoder's last state (`bridge = "copy"`); the paper's is
tanh(W_s ←h_1). His A′ is W, U and C side by side, over the cell rnn, and word j is chosen from s_j alone (`readout =
"state"`); the paper's readout is maxout.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from regard import ops
from regard.layers import (
    READOUTS,
    Attended,
    Attention,
    Embedding,
    MaxoutReadout,
    Output,
    PointerGenerator,
)
from regard.layers.recurrent import DropoutMasks
from regard.models.decoders.config import BahdanauConfig
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


class BahdanauDecoder(Decoder):
    """The decoder of RNNsearch, over any cell and any attention.

    Attributes:
        C: the context's matrices in the recurrence, stacked as the cell stacks its gates.
        start: s_0 = tanh(W_s ←h_1); a unidirectional encoder gives its last state in place of ←h_1. None for s_0 = h_m,
            which of a bidirectional encoder is [→h_m; ←h_1].
    """

    attention: Attention
    reading = ("previous state", "gates")

    def __init__(
        self,
        config: BahdanauConfig,
        annotation_size: int,
        start_size: int,
        embedding: Embedding,
        output: Output,
    ) -> None:
        m, n = config.embedding_size, config.state_size
        super().__init__(config, embedding, output, input_size=m)
        self.attention = build_decoder_attention(config.attention, n, annotation_size)
        bottom, r = self.stack.layers[0], self.attention.context_size
        self.C = nn.Parameter(nn.init.xavier_uniform_(torch.empty(bottom.projected_size, r)))
        self.start = ProjectedStart(start_size, self.stack) if config.bridge == "project" else None
        self.readout = READOUTS[config.readout](n, m, r, config.readout_size or 0)
        if config.copy:
            self.pointer = PointerGenerator(n, m, r)

    def letters(self, whose: str) -> Letters:
        """The paper counts steps by i, unless that is a gate of the cell or a slot of its past."""
        cell = self.stack.layers[0]
        by_t = whose == "slides" or cell.num_parts > 1 or cell.attends_to_past
        letters = super().letters(whose)
        readout = "t_t" if isinstance(self.readout, MaxoutReadout) else letters.readout
        start = letters.start if self.start is None else "←h_1"
        return replace(letters, index="t" if by_t else "i", term="C c_t", readout=readout, start=start)

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """s_0 = tanh(W_s ←h_1), or the encoder's last states."""
        if self.start is None:
            cells = self.stack.initial_states(joined_last(encoded.forward_last, encoded.backward_last))
        else:
            x = (encoded.backward_last or encoded.forward_last)[-1][0]  # (B, n)
            cells = self.start(x, self.stack)
        return DecoderState(cells, attention=self.attention.initial_state(encoded.mask))

    def _advance(
        self,
        projected: Tensor,
        state: DecoderState,
        encoded: EncodedSource,
        masks: DropoutMasks | None,
        i: int,
    ) -> tuple[Tensor, DecoderState, Attended]:
        """W E y_{i−1} + b and s_{i−1} → the top layer's output, s_i, and (c_i, α_i)."""
        attended = attend_rows(self.attention, state.cells[-1][0], encoded, state.attention)
        gates = projected + affine(attended.context, self.C, packed=self.packed)  # (R, gn)
        top, cells = self.stack.step(gates, state.cells, masks, i)
        return top, DecoderState(cells, attention=attended.state), attended

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        if self.fused_step is not None and self.fused_step.applies(state, encoded):
            return self.fused_step.step(previous_ids, state, encoded)
        embedded = self._embed(previous_ids, encoded)  # (R, m)
        projected = self.stack.layers[0].project(embedded)  # (R, gn)
        top, new, attended = self._advance(projected, state, encoded, None, 0)
        logits = self.output(self.readout(top, embedded, attended.context))
        logits = self._mix_copies(logits, top, embedded, attended.context, attended.alpha, encoded)
        return StepOutput(logits, new, attended.alpha)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        batch, num_steps = previous_ids.shape
        embedded = self.dropout(self._embed(previous_ids, encoded))  # (B, Ty, m)
        projected = self.stack.layers[0].project(embedded)  # (B, Ty, gn), all steps at once
        masks = self.stack.sample_masks(batch, num_steps, embedded)
        tops, contexts, alpha = self._recurrence(projected, encoded, masks)
        readout = self.dropout(self.readout(tops, embedded, contexts))
        if self.pointer is None:
            return Unrolled(readout, alpha)
        log_probs = self._mix_copies(self.output(readout), tops, embedded, contexts, alpha, encoded)
        return Unrolled(None, alpha, log_probs)

    @untraced
    def _recurrence(
        self, projected: Tensor, encoded: EncodedSource, masks: DropoutMasks
    ) -> tuple[Tensor, Tensor, Tensor]:
        """W E y_{i−1} + b for all steps → states (B, Ty, n), contexts (B, Ty, r), alpha (B, Ty, Tx)."""
        state = self.initial_state(encoded)
        lacks = loop_reason(self)
        if not lacks:
            source, asking = asked_source(self.attention, encoded)
            weights = replace(self.stack.layers[0].weights(), W=None, b=None, C=self.C, source=asking)
            inputs = Inputs(projected, source=source, state_mask=masks.recurrent[0])
            outputs = ops.run(self.recurrence, inputs, weights, state.cells[0])
            assert outputs.contexts is not None
            assert outputs.source_alpha is not None
            return outputs.states, outputs.contexts, outputs.source_alpha
        tell_looped("attending recurrence", lacks)
        tops, contexts, alphas = [], [], []
        for i in range(projected.shape[1]):
            top, state, attended = self._advance(projected[:, i], state, encoded, masks, i)
            tops.append(top)
            contexts.append(attended.context)
            alphas.append(attended.alpha)
        return torch.stack(tops, 1), torch.stack(contexts, 1), torch.stack(alphas, 1)
