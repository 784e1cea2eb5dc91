"""What a whole sequence-to-sequence model is made of.

Encoder and decoder put together: p(y ∣ x) = Π_t p(y_t ∣ y_<t, x).
"""

from dataclasses import dataclass, field

from torch import Tensor

from regard.batches.pad import PairBatch
from regard.config import Config, one_of
from regard.errors import ConfigError
from regard.layers import Embedding, Output
from regard.models.decoders import build_decoder
from regard.models.decoders.config import BahdanauConfig, DecoderConfig
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.state import EncodedSource, at_positions, real_positions

TIES = ("none", "target", "all")
INITIALIZATIONS = ("glorot", "bahdanau", "sutskever", "luong")


@dataclass(frozen=True)
class ModelConfig(Config):
    """A whole encoder–decoder."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig = field(default_factory=BahdanauConfig)
    tie: str = "none"
    """Share matrices: none; target (the target embedding is the output matrix); all (the source's too)."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.tie", self.tie, TIES)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        self.decoder.check_encoder(self.encoder)
        m = self.decoder.embedding_size
        read = self.decoder.output_size
        if self.tie != "none" and read != m:
            raise ConfigError(
                f'model.tie = "{self.tie}": the output matrix reads {read} units and the target embedding '
                f"has {m}; make them equal to share one matrix"
            )
        if self.tie == "all" and self.encoder.embedding_size != m:
            raise ConfigError(
                f'model.tie = "all": the source embedding has {self.encoder.embedding_size} units and the '
                f"target embedding {m}; make them equal to share one matrix"
            )


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
        annotations, forward_last, backward_last, memories = self.encoder.forward_with_memories(
            source_ids, source_mask
        )
        attention = self.decoder.attention
        keys = None if attention is None else attention.keys(annotations)
        values = None if attention is None else attention.values(annotations)
        return EncodedSource(annotations, source_mask, keys, forward_last, backward_last, values, memories)

    def readouts(self, batch: PairBatch, real: Tensor) -> Readouts:
        """Read given pairs by teacher forcing, up to the output matrix: what a loss that never has all logits needs.

        Args:
            batch: the pairs.
            real: (N,), the `real_positions` of its targets.
        """
        encoded = self.encode(batch.source_ids, batch.source_mask)
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, encoded)
        return Readouts(at_positions(unrolled.readout, real), unrolled.alpha)

    def forward(self, batch: PairBatch) -> TeacherForced:
        """Score given pairs by teacher forcing."""
        read = self.readouts(batch, real_positions(batch.target_mask))
        return TeacherForced(self.decoder.output(read.readout), read.alpha)
