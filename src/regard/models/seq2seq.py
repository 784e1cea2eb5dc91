"""Encoder and decoder put together: p(y ∣ x) = Π_t p(y_t ∣ y_<t, x)."""

from dataclasses import dataclass

from torch import Tensor

from regard.batches.batch import Batch
from regard.errors import ConfigError
from regard.layers import Embedding, Output
from regard.models.config import ModelConfig
from regard.models.decoders import build_decoder
from regard.models.encoder import Encoder
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.positions import at_positions, real_positions
from regard.models.state import EncodedSource


@dataclass(frozen=True)
class Readouts:
    """What a model has to say of given pairs, before the output matrix says it.

    Attributes:
        readout: (N, l), what the matrix reads at the N real target positions of the batch, row by row.
        alpha: (B, Ty, Tx), or None for a model without attention.
    """

    readout: Tensor
    alpha: Tensor | None


@dataclass(frozen=True)
class TeacherForced:
    """What a model says of given pairs.

    Attributes:
        logits: (N, Vy), for the N real target positions of the batch, row by row.
        alpha: (B, Ty, Tx), or None for a model without attention.
    """

    logits: Tensor
    alpha: Tensor | None


class Seq2Seq(Model):
    """A sequence-to-sequence model.

    Args:
        config: what it is made of.
        source_size: Vx, the source vocabulary.
        target_size: Vy, the target vocabulary.

    Raises:
        ConfigError: one matrix is to be shared by vocabularies of different sizes.
    """

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        if config.tie == "all" and source_size != target_size:
            raise ConfigError(
                f'model.tie = "all": the source vocabulary has {source_size} entries and the target '
                f'vocabulary {target_size}; share one vocabulary, or use tie = "target"'
            )
        self.config: ModelConfig = config
        target_embedding = Embedding(target_size, config.decoder.embedding_size)
        shared = target_embedding.E if config.tie == "all" else None
        source_embedding = Embedding(source_size, config.encoder.embedding_size, shared)
        tied = target_embedding.E if config.tie != "none" else None
        output = Output(config.decoder.output_size, target_size, tied)
        self.encoder = Encoder(config.encoder, source_embedding)
        self.decoder = build_decoder(config.decoder, config.encoder, target_embedding, output)
        initialize(self, config.initialization)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> EncodedSource:
        """Read the source once; the decoder's keys and values come with it."""
        annotations, forward_last, backward_last, memories = self.encoder.with_memories(
            source_ids, source_mask
        )
        attention = self.decoder.attention
        keys = None if attention is None else attention.keys(annotations)
        values = None if attention is None else attention.values(annotations)
        return EncodedSource(annotations, source_mask, keys, forward_last, backward_last, values, memories)

    def readouts(self, batch: Batch, real: Tensor) -> Readouts:
        """Read given pairs by teacher forcing, up to the output matrix: what a loss that never has all logits needs.

        Args:
            batch: the pairs.
            real: (N,), the `real_positions` of its targets.
        """
        encoded = self.encode(batch.source_ids, batch.source_mask)
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, encoded)
        return Readouts(at_positions(unrolled.readout, real), unrolled.alpha)

    def forward(self, batch: Batch) -> TeacherForced:
        """Score given pairs by teacher forcing."""
        read = self.readouts(batch, real_positions(batch.target_mask))
        return TeacherForced(self.decoder.output(read.readout), read.alpha)
