"""The sequence-to-sequence network, encoder and decoder: p(y ∣ x) = Π_t p(y_t ∣ y_<t, x).

In: a padded batch of ids. Out: logits and alpha by teacher forcing, or an `EncodedSource` for search. Knows nothing of
text, losses or search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.batches.pad import PairBatch, known_ids, select_positions, token_positions
from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import AlignmentAttention, Embedding, Output
from regard.models.attention import MAX_UNITS
from regard.models.decoders import (
    BahdanauDecoder,
    ChoDecoder,
    Decoder,
    DeepFusionDecoder,
    HardMonotonicDecoder,
    LuongDecoder,
    SutskeverDecoder,
)
from regard.models.decoders.config import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    DeepFusionConfig,
    HardMonotonicConfig,
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
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""
    alignment_size: int = 0
    """The units of an alignment attention, which knows the word it aligns (--guided); 0 for none."""

    def __post_init__(self) -> None:
        in_range("model.alignment_size", self.alignment_size, 0, MAX_UNITS)
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
    """The result of teacher forcing before the output matrix; of a decoder with a mixture, its log-probabilities.

    Attributes:
        readout: (N, l), the input of the output matrix at the N real target words of the batch, row by row; None for a
            mixture.
        alpha: (B, Ty, Tx), or None for a model without attention.
        log_probs: (N, Vy), of a mixture; see `Unrolled`.
        alignment: (B, Ty, Tx), the weights of the alignment attention; None for a model without.
    """

    readout: Tensor | None
    alpha: Tensor | None
    log_probs: Tensor | None = None
    alignment: Tensor | None = None


@dataclass(frozen=True)
class TeacherForced:
    """The result of teacher forcing.

    Attributes:
        logits: (N, Vy), for the N real target words of the batch, row by row; log-probabilities where the decoder has
            a mixture.
        alpha: (B, Ty, Tx), or None for a model without attention.
        alignment: (B, Ty, Tx), the weights of the alignment attention; None for a model without.
    """

    logits: Tensor
    alpha: Tensor | None
    alignment: Tensor | None = None


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
        case HardMonotonicConfig():
            return HardMonotonicDecoder(config, annotations, embedding, output)
    raise TypeError(f"no decoder for {type(config).__name__}")


class Seq2Seq(Model):
    """A sequence-to-sequence model: encoder and decoder.

    Args:
        config: sizes and kinds.
        source_size: Vx, the source vocabulary.
        target_size: Vy, the target vocabulary.

    Attributes:
        alignment: the alignment attention, or None.
        copy_map: (Vx,), the target word that each source word is copied as, −1 where there is none; a buffer, saved
            with the weights. Equal ids, as of one shared vocabulary, until `set_copy_map`. None for a decoder that
            does not copy.

    Raises:
        ConfigError: one matrix is to be shared by vocabularies of different sizes; the alignment attention has no
            readout to ask with.
    """

    alignment: AlignmentAttention | None
    copy_map: Tensor | None

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
        output = Output(config.decoder.output_size, target_size, tied, bias=config.decoder.bias)
        self.encoder = Encoder(config.encoder, source_embedding)
        self.decoder = build_decoder(config.decoder, config.encoder, target_embedding, output)
        copy_map = None
        if self.decoder.pointer is not None:
            same = torch.arange(source_size)
            copy_map = torch.where(same < target_size, same, -1)
        self.register_buffer("copy_map", copy_map)
        self.alignment = None
        if config.alignment_size:
            if self.decoder.is_mixture:
                raise ConfigError(
                    f"model.alignment_size = {config.alignment_size}: an alignment attention asks with the decoder's "
                    "readout, and one that copies or is hard monotonic has none; set it to 0"
                )
            widths = config.decoder.output_size, config.encoder.annotation_size
            self.alignment = AlignmentAttention(*widths, source_size, target_size, config.alignment_size)
        initialize(self, config.initialization)

    def set_copy_map(self, target_ids: Sequence[int]) -> None:
        """Say which target word each source word is copied as.

        Args:
            target_ids: one for each of the Vx source words; −1 for a word that cannot be copied.
        """
        assert self.copy_map is not None, "the decoder does not copy"
        self.copy_map.copy_(torch.tensor(target_ids))

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> EncodedSource:
        """Encode a padded batch (B, Tx) once, with the keys and values of the decoder's attention.

        For a decoder that copies, the ids may be those of the extended vocabulary, from Vx on, except in training.
        """
        source_ids, copy_ids, num_unknowns = self._extend_vocabulary(source_ids)
        annotations, forward_last, backward_last, memories = self.encoder.forward_with_memories(
            source_ids, source_mask
        )
        keys, values = self.decoder.keys_and_values(annotations)
        return EncodedSource(
            annotations,
            source_mask,
            keys,
            forward_last,
            backward_last,
            values,
            memories,
            copy_ids=copy_ids,
            num_unknowns=num_unknowns,
        )

    def _extend_vocabulary(self, source_ids: Tensor) -> tuple[Tensor, Tensor | None, int]:
        """Source ids (B, Tx) → those the encoder reads, what they are copied as (B, Tx), and K.

        The extended vocabulary of See et al. 2017 (§2.2): the source id Vx + k, the k-th word of its sentence that the
        vocabulary does not have, is read as the unknown word and copied as the target id Vy + k. In training there are
        no such ids: all unknown words are one.
        """
        if self.copy_map is None:
            return source_ids, None, 0
        if self.training:
            return source_ids, self.copy_map[source_ids], 0
        number = source_ids - len(self.copy_map)  # k, negative inside the vocabulary
        known = known_ids(source_ids, len(self.copy_map))
        copy_ids = torch.where(number < 0, self.copy_map[known], len(self.decoder.embedding.E) + number)
        return known, copy_ids, int(number.max().clamp_min(-1)) + 1

    def readouts(self, batch: PairBatch, positions: Tensor) -> Readouts:
        """Teacher forcing without the output matrix: for a loss that computes the logits in parts.

        Args:
            batch: the pairs.
            positions: (N,), the `token_positions` of its target mask.
        """
        encoded = self.encode(batch.source_ids, batch.source_mask)
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, encoded)
        if unrolled.log_probs is not None:
            return Readouts(None, unrolled.alpha, select_positions(unrolled.log_probs, positions))
        assert unrolled.readout is not None, "a decoder gives readouts or log-probabilities"
        alignment = None
        if self.alignment is not None:
            source = encoded.annotations, batch.source_ids, encoded.mask
            alignment = self.alignment(unrolled.readout, batch.target_ids, *source, batch.target_mask)
        return Readouts(select_positions(unrolled.readout, positions), unrolled.alpha, alignment=alignment)

    def forward(self, batch: PairBatch) -> TeacherForced:
        """Logits and alpha of given pairs, by teacher forcing."""
        result = self.readouts(batch, token_positions(batch.target_mask))
        logits = self.decoder.output(result.readout) if result.log_probs is None else result.log_probs
        return TeacherForced(logits, result.alpha, result.alignment)
