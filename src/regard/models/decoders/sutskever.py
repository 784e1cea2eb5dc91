"""Sutskever et al. 2014: the encoder's last states are the decoder's initial states, and all it knows of the source.

The paper's network has deep LSTMs of equal depth and reads the source backwards (`encoder.reverse`).
"""

from torch import Tensor

from regard.layers import Embedding, Output
from regard.models.decoders.config import SutskeverConfig
from regard.models.decoders.decoder import Decoder
from regard.models.encoder import joined_last
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled


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
