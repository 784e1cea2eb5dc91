"""Deep fusion (Cheng, Dong & Lapata 2016, Eqs. 11–16): an LSTMN that attends to the source's two tapes and to its own.

The encoder is a unidirectional lstmn. The decoder attends to its hidden states and to its memories, and a gate adds the
weighted memories to the decoder's own. The first slot of the decoder's tape is the encoder's last state, and p(y_t) =
softmax(W_o h_t).
"""

from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor, nn

from regard import ops
from regard.layers import LSTMN, Attention, Embedding, Output
from regard.layers.cells.self_attentive import energy_of, scoring_of
from regard.models.decoders.config import DeepFusionConfig
from regard.models.decoders.decoder import Decoder, build_decoder_attention
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops import Asking, Inputs, Read, Recurrence, Source, Weights
from regard.ops.deep_fusion import Alphas
from regard.ops.record import Letters, scope


class DeepFusionDecoder(Decoder):
    """The decoder of deep fusion: one layer of an lstmn, and the gate and query to the source.

    Attributes:
        attention: to the source; its queries come projected, by the last rows of `W_r` and by `S_r`.
        W_r: the word's matrices in the gate r and, below, in the query to the source, (n + q, m).
        b_r: the gate's bias.
        R: γ̃_t's matrix in the gate.
        S_r: γ̃_{t−1}'s matrix in the query to the source.
    """

    attention: Attention

    def __init__(
        self, config: DeepFusionConfig, annotation_size: int, embedding: Embedding, output: Output
    ) -> None:
        m, n = config.embedding_size, config.state_size
        super().__init__(config, embedding, output, input_size=m)
        self.attention = build_decoder_attention(config.attention, None, annotation_size)
        width = self.attention.query_width
        gate = torch.empty(n, m)
        query = torch.empty(width, m)
        self.W_r = nn.Parameter(torch.cat([nn.init.xavier_uniform_(part) for part in (gate, query)]))
        self.b_r = nn.Parameter(torch.zeros(n))
        self.R = nn.Parameter(nn.init.orthogonal_(torch.empty(n, n)))
        self.S_r = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, n)))

    @property
    def cell(self) -> LSTMN:
        """The single layer."""
        (cell,) = self.stack.layers
        assert isinstance(cell, LSTMN), "the configuration allows only lstmn"
        return cell

    def letters(self, whose: str) -> Letters:
        """Of the cell; there is no context c beside its memory."""
        return replace(super().letters(whose), memory="c")

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last state in slot 0 of the tape, and a zero summary of the source."""
        h, c, summary, *tapes = self.cell.initial_state(encoded.forward_last[-1])
        return DecoderState(((h, c, summary, torch.zeros_like(h), *tapes),))

    def _project(self, embedded: Tensor) -> Tensor:
        """(…, m) → the word's terms in the gates, in r and in both queries, in the order of `ops/deep_fusion`."""
        cell = self.cell
        gates, query = torch.split(cell.project(embedded), [cell.b.shape[0], cell.query_width], dim=-1)
        bias = nn.functional.pad(self.b_r, (0, self.S_r.shape[0]))
        rest = nn.functional.linear(embedded, self.W_r, bias)
        gate, source_query = torch.split(rest, [self.b_r.shape[0], self.S_r.shape[0]], dim=-1)
        return torch.cat([gates, gate, query, source_query], dim=-1)

    @cached_property
    def recurrence(self) -> Recurrence:
        """The cell's, which reads the source, too."""
        recurrence = self.cell.recurrence
        assert recurrence is not None
        return replace(recurrence, source=Read(energy_of(self.attention), "last read", "memory"))

    def _weights(self) -> Weights:
        asking = Asking(self.S_r, scoring_of(self.attention))
        return replace(self.cell.weights(), W=None, b=None, R=self.R, source=asking)

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        projected = self._project(self.embedding(previous_ids))  # (R, 5n + p + q)
        with scope("layer"):
            outputs = ops.step(
                self.recurrence, projected, self._weights(), state.cells[0], source=source_tape(encoded)
            )
        return StepOutput(self.output(outputs.states), DecoderState((outputs.last,)), outputs.source_alpha)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        states, (p, _) = self._unroll(previous_ids, encoded)
        return Unrolled(self.dropout(states), p)

    def forward_with_alpha(self, previous_ids: Tensor, encoded: EncodedSource) -> Alphas:
        """Alpha over the source (B, Ty, Tx) and over the decoder's own past (B, Ty, 1 + Ty), slot 0 its start."""
        return self._unroll(previous_ids, encoded)[1]

    def _unroll(self, previous_ids: Tensor, encoded: EncodedSource) -> tuple[Tensor, Alphas]:
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        batch, num_steps = previous_ids.shape
        masks = self.stack.sample_masks(batch, num_steps, embedded)
        (initial,) = self.initial_state(encoded).cells
        inputs = Inputs(self._project(embedded), source=source_tape(encoded), state_mask=masks.recurrent[0])
        outputs = ops.run(self.recurrence, inputs, self._weights(), initial)
        assert outputs.alpha is not None
        assert outputs.source_alpha is not None
        return outputs.states, Alphas(outputs.source_alpha, outputs.alpha)


def source_tape(encoded: EncodedSource) -> Source:
    """The source's tapes, and the words that this step may attend to."""
    assert encoded.keys is not None, "the source was encoded without keys"
    assert encoded.values is not None, "the source was encoded without values"
    assert encoded.memories is not None, "the source was encoded without memories"
    return Source(encoded.keys, encoded.values, encoded.visible, encoded.memories)
