"""The sequence-to-sequence network, encoder and decoder: p(y ∣ x) = Π_t p(y_t ∣ y_<t, x).

In: a padded batch of ids. Out: logits and alpha by teacher forcing, or an `EncodedSource` for search. Knows nothing of
text, losses or search.
"""

from dataclasses import dataclass, field

from torch import Tensor

from regard.batches.pad import PairBatch, select_positions, token_positions
from regard.config import Config, one_of
from regard.errors import ConfigError
from regard.layers import Embedding, Output
from regard.models.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    Decoder,
    DeepFusionDecoder,
    LuongDecoder,
    SutskeverDecoder,
)
from regard.models.decoders.config import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    DeepFusionConfig,
    LuongConfig,
    SutskeverConfig,
)
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.state import EncodedSource

TIES = ("none", "target", "all")


@dataclass(frozen=True)
class ModelConfig(Config):
    """The encoder–decoder of a translator."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig = field(default_factory=BahdanauConfig)
    tie: str = "none"
    """Which matrices are shared: none; target (target embedding and output matrix); all (the source embedding, too)."""
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, sutskever or luong."""

    def __post_init__(self) -> None:
        one_of("model.tie", self.tie, TIES)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        self.decoder.check_encoder(self.encoder)
        m = self.decoder.embedding_size
        width = self.decoder.output_size
        if self.tie != "none" and width != m:
            raise ConfigError(
                f'model.tie = "{self.tie}": the output matrix reads {width} units and the target embedding '
                f"has {m}; make them equal to share one matrix"
            )
        if self.tie == "all" and self.encoder.embedding_size != m:
            raise ConfigError(
                f'model.tie = "all": the source embedding has {self.encoder.embedding_size} units and the '
                f"target embedding {m}; make them equal to share one matrix"
            )


@dataclass(frozen=True)
class Readouts:
    """The result of teacher forcing before the output matrix.

    Attributes:
        readout: (N, l), the input of the output matrix at the N real target words of the batch, row by row.
        alpha: (B, Ty, Tx), or None for a model without attention.
    """

    readout: Tensor
    alpha: Tensor | None


@dataclass(frozen=True)
class TeacherForced:
    """The result of teacher forcing.

    Attributes:
        logits: (N, Vy), for the N real target words of the batch, row by row.
        alpha: (B, Ty, Tx), or None for a model without attention.
    """

    logits: Tensor
    alpha: Tensor | None


def build_decoder(
    config: DecoderConfig, encoder: EncoderConfig, embedding: Embedding, output: Output
) -> Decoder:
    """The decoder of a configuration, over the annotations and states of the given encoder."""
    annotations = encoder.annotation_size
    match config:
        case BahdanauConfig():
            return BahdanauDecoder(config, annotations, encoder.state_size, embedding, output)
        case LuongConfig():
            return LuongDecoder(config, annotations, embedding, output)
        case ChoConfig():
            return ChoDecoder(config, annotations, embedding, output)
        case SutskeverConfig():
            return SutskeverDecoder(config, embedding, output)
        case DeepFusionConfig():
            return DeepFusionDecoder(config, annotations, embedding, output)
    raise TypeError(f"no decoder for {type(config).__name__}")


class Seq2Seq(Model):
    """A sequence-to-sequence model: encoder and decoder.

    Args:
        config: sizes and kinds.
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
        """Encode a padded batch (B, Tx) once, with the keys and values of the decoder's attention."""
        annotations, forward_last, backward_last, memories = self.encoder.forward_with_memories(
            source_ids, source_mask
        )
        attention = self.decoder.attention
        keys = None if attention is None else attention.keys(annotations)
        values = None if attention is None else attention.values(annotations)
        return EncodedSource(annotations, source_mask, keys, forward_last, backward_last, values, memories)

    def readouts(self, batch: PairBatch, positions: Tensor) -> Readouts:
        """Teacher forcing without the output matrix: for a loss that computes the logits in parts.

        Args:
            batch: the pairs.
            positions: (N,), the `token_positions` of its target mask.
        """
        encoded = self.encode(batch.source_ids, batch.source_mask)
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, encoded)
        return Readouts(select_positions(unrolled.readout, positions), unrolled.alpha)

    def forward(self, batch: PairBatch) -> TeacherForced:
        """Logits and alpha of given pairs, by teacher forcing."""
        result = self.readouts(batch, token_positions(batch.target_mask))
        return TeacherForced(self.decoder.output(result.readout), result.alpha)
