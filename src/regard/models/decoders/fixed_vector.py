"""Decoders without attention, which know the source by a vector of fixed size: Cho et al. 2014, Sutskever et al. 2014.

Cho: s_0 = tanh(V c);  s_i = f(s_{i−1}, y_{i−1}, c);  p(y_i) from (y_{i−1}, s_i, c) through maxout. This is the network
that Bahdanau et al. call RNNencdec and compare with RNNsearch, over any cell. It differs from Cho et al.'s appendix in
two points: c is the encoder's last state itself, without their tanh(V h); and in the GRU the context enters the
candidate outside the reset gate, as in RNNsearch, while they reset it together with the state. With the readout
"state", p(y_i) is softmax(c + V s_i), as in the lectures, where that c is a bias.

Sutskever: the encoder's last states are the decoder's initial states. The paper's network has deep LSTMs of equal depth
and reads the source backwards (`encoder.reverse`).
"""

from dataclasses import replace

import torch
from torch import Tensor

from regard.layers import READOUTS, Embedding, Output
from regard.models.decoders.config import ChoConfig, SutskeverConfig
from regard.models.decoders.decoder import Decoder, ProjectedStart
from regard.models.encoder import joined_last
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops.record import Letters


class ChoDecoder(Decoder):
    """A decoder whose recurrence and readout read the summary of the source at every step."""

    def __init__(self, config: ChoConfig, summary_size: int, embedding: Embedding, output: Output) -> None:
        m = config.embedding_size
        super().__init__(config, embedding, output, input_size=m + summary_size)
        self.start = ProjectedStart(summary_size, self.stack)
        self.readout = READOUTS[config.readout](config.state_size, m, summary_size, config.readout_size or 0)

    def letters(self, whose: str) -> Letters:
        """One c for all steps."""
        letters = super().letters(whose)
        return replace(letters, context="c", term="C c", readout="t_t", start="c", memory="m")

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """s_0 = tanh(V c)."""
        c = encoded.summary
        return DecoderState(self.start(c, self.stack))

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        embedded = self.embedding(previous_ids)  # (R, m)
        hypotheses = embedded.shape[0] // encoded.mask.shape[0]
        context = encoded.summary.repeat_interleave(hypotheses, dim=0)  # (R, d)
        projected = self.stack.layers[0].project(torch.cat([embedded, context], dim=-1))  # (R, gn)
        top, cells = self.stack.step(projected, state.cells)
        return StepOutput(self.output(self.readout(top, embedded, context)), DecoderState(cells), None)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        context = encoded.summary.unsqueeze(1).expand(-1, embedded.shape[1], -1)  # (B, Ty, d)
        inputs = torch.cat([embedded, context], dim=-1)
        tops, _ = self.stack(inputs, target_mask, self.initial_state(encoded).cells)  # (B, Ty, n)
        return Unrolled(self.dropout(self.readout(tops, embedded, context)), None)


class SutskeverDecoder(Decoder):
    """A conditional language model: s_0 is the encoder's last state, layer by layer."""

    def __init__(self, config: SutskeverConfig, embedding: Embedding, output: Output) -> None:
        super().__init__(config, embedding, output, input_size=config.embedding_size)

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last states."""
        last = joined_last(encoded.forward_last, encoded.backward_last)
        return DecoderState(self.stack.initial_states(last))

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        projected = self.stack.layers[0].project(self.embedding(previous_ids))  # (R, gn)
        top, cells = self.stack.step(projected, state.cells)
        return StepOutput(self.output(top), DecoderState(cells), None)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        tops, _ = self.stack(embedded, target_mask, self.initial_state(encoded).cells)  # (B, Ty, n)
        return Unrolled(self.dropout(tops), None)
