"""Deep fusion (Cheng, Dong & Lapata 2016, Eqs. 11–16): an LSTMN that reads the source's two tapes beside its own.

The source is read by an lstmn, one way; its hidden states and its memories are what the decoder attends to, and a gate
lets what was found among the memories straight into the decoder's own. The decoder starts with the encoder's last
state in the first slot of its tape, and p(y_t) = softmax(W_o h_t).
"""

import torch
from torch import Tensor, nn

from regard.layers import LSTMN, Attention, Embedding, Output
from regard.layers.cells.self_attentive import scoring_of
from regard.models.decoders.config import DeepFusionConfig
from regard.models.decoders.decoder import Decoder, attention_of
from regard.models.state import DecoderState, EncodedSource, StepOutput, Unrolled
from regard.ops.deep_fusion import Alphas, Fusion, SourceTape, deep_fusion, deep_fusion_step
from regard.ops.unroll import State


class DeepFusionDecoder(Decoder):
    """The decoder of deep fusion; its one layer is an lstmn, and what joins it from the source is here.

    Attributes:
        attention: to the source; its queries come projected, as the rows of `W_r` behind those of the gate and `S_r`.
        W_r: the word's matrix in the gate r, and below it in the query to the source, (n + q, m).
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
        self.attention = attention_of(config.attention, None, annotation_size)
        width = self.attention.query_width
        gate = torch.empty(n, m)
        query = torch.empty(width, m)
        self.W_r = nn.Parameter(torch.cat([nn.init.xavier_uniform_(part) for part in (gate, query)]))
        self.b_r = nn.Parameter(torch.zeros(n))
        self.R = nn.Parameter(nn.init.orthogonal_(torch.empty(n, n)))
        self.S_r = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, n)))

    @property
    def cell(self) -> LSTMN:
        """The one layer."""
        (cell,) = self.stack.layers
        assert isinstance(cell, LSTMN), "the configuration allows no other cell"
        return cell

    def initial_state(self, encoded: EncodedSource) -> DecoderState:
        """The encoder's last state in slot 0; nothing of the source read yet."""
        h, c, summary, *tapes = self.cell.initial_state(encoded.forward_last[-1])
        return DecoderState(((h, c, summary, torch.zeros_like(h), *tapes),))

    def _project(self, embedded: Tensor) -> Tensor:
        """(…, m) → the shares of the word in gates, r and both queries, in the order of `ops/deep_fusion`."""
        cell = self.cell
        gates, query = torch.split(cell.project(embedded), [cell.b.shape[0], cell.query_width], dim=-1)
        bias = nn.functional.pad(self.b_r, (0, self.S_r.shape[0]))
        rest = nn.functional.linear(embedded, self.W_r, bias)
        gate, source_query = torch.split(rest, [self.b_r.shape[0], self.S_r.shape[0]], dim=-1)
        return torch.cat([gates, gate, query, source_query], dim=-1)

    def _fusion(self) -> Fusion:
        cell = self.cell
        assert cell.S is not None, "the lstmn asks before its update"
        return Fusion(cell.U, self.R, cell.S, self.S_r, cell.scoring, scoring_of(self.attention))

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step; see `Decoder.step`."""
        projected = self._project(self.embedding(previous_ids))  # (R, 5n + p + q)
        source, options = source_tape(encoded), (self.cell.output, self.cell.span)
        cells: State
        cells, (p, _) = deep_fusion_step(projected, state.cells[0], source, self._fusion(), *options)
        return StepOutput(self.output(cells[0]), DecoderState((cells,)), p)

    def forward(self, previous_ids: Tensor, target_mask: Tensor, encoded: EncodedSource) -> Unrolled:
        """A whole target sentence; see `Decoder.forward`."""
        states, (p, _) = self._unroll(previous_ids, encoded)
        return Unrolled(self.dropout(states), p)

    def forward_with_alpha(self, previous_ids: Tensor, encoded: EncodedSource) -> Alphas:
        """Where each step looked: in the source (B, Ty, Tx), and in its own past (B, Ty, 1 + Ty), slot 0 the start."""
        return self._unroll(previous_ids, encoded)[1]

    def _unroll(self, previous_ids: Tensor, encoded: EncodedSource) -> tuple[Tensor, Alphas]:
        embedded = self.dropout(self.embedding(previous_ids))  # (B, Ty, m)
        batch, num_steps = previous_ids.shape
        masks = self.stack.sample_masks(batch, num_steps, embedded)
        (initial,) = self.initial_state(encoded).cells
        return deep_fusion(
            self._project(embedded),
            initial,
            source_tape(encoded),
            self._fusion(),
            self.cell.output,
            self.cell.span,
            masks.recurrent[0],
        )


def source_tape(encoded: EncodedSource) -> SourceTape:
    """The source as deep fusion reads it."""
    assert encoded.keys is not None, "the source was read without keys"
    assert encoded.values is not None, "the source was read without values"
    assert encoded.memories is not None, "the source was read without memories"
    return SourceTape(encoded.keys, encoded.values, encoded.memories, encoded.visible)
