"""Luong, Pham & Manning 2015: the recurrence first, then the current state attends.

h_t = f(h_{t−1}, [y_{t−1}; h̃_{t−1}]);  α_t from h_t;  h̃_t = tanh(W_c [c_t; h_t]);  p(y_t) = softmax(W_s h̃_t).
The paper's h̄_s are our annotations, its a_t our alpha, h̃_t the attentional state. Without input feeding the
recurrence does not depend on attention, so a whole sentence takes one recurrent call and one attention call (as
many as steps where a step must know where the ones before it looked).
"""

import torch
from torch import Tensor, nn

from regard.layers import Attention, AttentionalReadout, Embedding, Output
from regard.layers.recurrent import Noise
from regard.models.config import LuongConfig
from regard.models.decoders.decoder import Decoder, ProjectedStart, attend_rows, attention_of
from regard.models.encoder import joined_last
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops.unroll import State


class LuongDecoder(Decoder):
    """Luong's attention, global or local, with or without input feeding, over any cell and any energy.

    Attributes:
        F: the matrices of h̃_{t−1} in the recurrence, stacked as the cell stacks its gates; None without
            input feeding.
    """

    attention: Attention

    def __init__(
        self, config: LuongConfig, annotation_size: int, embedding: Embedding, output: Output
    ) -> None:
        n, l = config.state_size, config.readout_size
        super().__init__(config, embedding, output, input_size=config.embedding_size)
        self.attention = attention_of(config.attention, n, annotation_size)
        bottom = self.stack.layers[0]
        self.F: nn.Parameter | None = None
        if config.input_feeding:
            self.F = nn.Parameter(nn.init.xavier_uniform_(torch.empty(bottom.projected_size, l)))
        self.start = ProjectedStart(annotation_size, self.stack) if config.bridge == "project" else None
        self.readout = AttentionalReadout(n, annotation_size, l)

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last states, copied or projected; h̃_0 = 0."""
        if self.start is None:
            cells = self.stack.start_states(joined_last(encoded.forward_last, encoded.backward_last))
        else:
            x = encoded.summary
            cells = self.start(x, self.stack)
        h = cells[0][0]
        fed = None if self.F is None else h.new_zeros(h.shape[0], self.F.shape[1])
        return DecoderState(cells, fed, self.attention.start(encoded.mask))

    def _recur(
        self, projected: Tensor, state: DecoderState, noise: Noise | None, t: int
    ) -> tuple[Tensor, tuple[State, ...]]:
        """W E y_{t−1} + b and the last state → (h_t handed on, the new cells)."""
        if self.F is not None:
            assert state.attentional_state is not None, "input feeding needs the last attentional state"
            projected = projected + state.attentional_state @ self.F.T
        return self.stack.step(projected, state.cells, noise, t)

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        projected = self.stack.layers[0].project(self.embedding(previous_ids))  # (R, gn)
        top, cells = self._recur(projected, state, None, 0)
        context, alpha, carried = attend_rows(self.attention, top, encoded, state.attention)
        attentional_state = self.readout(top, context)  # (R, l)
        fed = attentional_state if self.F is not None else None
        return StepOutput(self.output(attentional_state), DecoderState(cells, fed, carried), alpha)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        state = self.initial_state(encoded)
        if self.F is None:
            tops, _ = self.stack(embedded, target_mask, state.cells)  # (B, Ty, n)
            assert encoded.keys is not None, "the source was read without keys"
            assert encoded.values is not None, "the source was read without values"
            context, alpha, _ = self.attention.whole(tops, encoded.keys, encoded.values, encoded.mask)
            return Unrolled(self.dropout(self.readout(tops, context)), alpha)
        batch, num_steps = previous_ids.shape
        projected = self.stack.layers[0].project(embedded)  # (B, Ty, gn), all steps at once
        noise = self.stack.draw_noise(batch, num_steps, embedded)
        dropped = self.dropout.draw(batch, num_steps, self.F.shape[1], embedded)
        readouts, alphas = [], []
        for t in range(num_steps):
            top, cells = self._recur(projected[:, t], state, noise, t)
            context, alpha, carried = attend_rows(self.attention, top, encoded, state.attention)
            attentional_state = self.readout(top, context)  # (B, l)
            if dropped is not None:
                attentional_state = attentional_state * dropped[:, t]
            state = DecoderState(cells, attentional_state, carried)
            readouts.append(attentional_state)
            alphas.append(alpha)
        return Unrolled(torch.stack(readouts, 1), torch.stack(alphas, 1))
