"""What a describer is made of.

A vector of features → a sentence, as for captions.

The features, projected, take the place of what an encoder would have read: a cho decoder's summary c, or a sutskever
decoder's first states, layer by layer (a memory c starts at zero). Before that they are standardised, by what the
training set was like, so that raw measurements will do. To search, they are a source of one position, so
that ``LengthLimit(extra=N)`` allows N tokens whatever its ratio.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.batches.pad import CaptionBatch, feature_mask
from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import Embedding, Output, Standardize
from regard.models.decoders import ChoDecoder, Decoder, SutskeverDecoder
from regard.models.decoders.config import ChoConfig, DecoderConfig, SutskeverConfig
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.seq2seq import INITIALIZATIONS, Readouts, TeacherForced
from regard.models.state import EncodedSource, at_positions, real_positions

ACTIVATIONS = ("tanh", "identity")


@dataclass(frozen=True)
class CaptionerConfig(Config):
    """A vector of features → a sentence."""

    legal_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"decoder": ("cho", "sutskever")}
    choice_defaults: ClassVar[Mapping[str, Any]] = {"summary_size": 256}

    decoder: DecoderConfig = field(default_factory=ChoConfig)
    """cho or sutskever: a vector has no words to attend to."""
    summary_size: int | None = None
    """The width of the vector c that a cho decoder sees; sutskever's is its state_size, a vector for each layer."""
    activation: str = "tanh"
    """What follows the features' projection: tanh or identity."""
    tie: bool = False
    """The embedding is the output matrix too; both sizes must agree."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen decoder does not have: a summary with a width of its own."""
        decoder = options.get("decoder")
        kind = decoder.get("kind") if isinstance(decoder, Mapping) else getattr(decoder, "kind", None)
        if kind != "sutskever":
            return {}
        return {
            "summary_size": "a sutskever decoder starts from vectors as wide as its states; leave it out and set "
            "model.decoder.state_size, or choose cho"
        }

    def __post_init__(self) -> None:
        one_of("model.activation", self.activation, ACTIVATIONS)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        if self.decoder.kind not in self.legal_kinds["decoder"]:
            raise ConfigError(
                f'model.decoder.kind = "{self.decoder.kind}": it attends to the words of a source, and a vector of '
                f"features has none; choose {' or '.join(self.legal_kinds['decoder'])}"
            )
        self.fill_choices()
        self.check_choices("model")
        if self.summary_size is not None:
            in_range("model.summary_size", self.summary_size, 1)
        m, read = self.decoder.embedding_size, self.decoder.output_size
        if self.tie and read != m:
            raise ConfigError(
                f"model.tie: the output matrix reads {read} units and the embedding has {m}; set "
                f"model.decoder.embedding_size = {read} to share one matrix"
            )

    @property
    def vector_sizes(self) -> tuple[int, ...]:
        """The widths of what the features are projected to: one summary, or a first state for each layer."""
        if self.summary_size is None:
            return (self.decoder.state_size,) * self.decoder.num_layers
        return (self.summary_size,)


class CaptionerNetwork(Model):
    """A projection of the features, and a decoder that needs no words to attend to.

    Args:
        config: what it is made of.
        feature_size: f.
        vocabulary_size: V.

    Attributes:
        standardize: raw features → those of mean 0 and variance 1; as made it changes nothing.
        W_f: the projections: one to the summary, or one to each layer's first state.
    """

    def __init__(self, config: CaptionerConfig, feature_size: int, vocabulary_size: int) -> None:
        super().__init__()
        self.config: CaptionerConfig = config
        embedding = Embedding(vocabulary_size, config.decoder.embedding_size)
        output = Output(config.decoder.output_size, vocabulary_size, embedding.E if config.tie else None)
        self.standardize = Standardize(feature_size)
        projections = [nn.Linear(feature_size, size) for size in config.vector_sizes]
        for layer in projections:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.W_f = nn.ModuleList(projections)
        self.decoder = _build_decoder(config, embedding, output)
        initialize(self, config.initialization)

    def encode(self, features: Tensor) -> EncodedSource:
        """Raw features (B, f) → what the decoder may know, as if it had been read."""
        standard = self.standardize(features)
        vectors = [layer(standard) for layer in self.W_f]
        if self.config.activation == "tanh":
            vectors = [vector.tanh() for vector in vectors]
        parts = self.decoder.stack.layers[0].num_parts
        last = tuple((vector, *(torch.zeros_like(vector) for _ in range(parts - 1))) for vector in vectors)
        return EncodedSource(vectors[-1].unsqueeze(1), feature_mask(features), None, last, ())

    def readouts(self, batch: CaptionBatch, real: Tensor) -> Readouts:
        """Read given descriptions by teacher forcing, up to the output matrix; see `Seq2Seq.readouts`."""
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, self.encode(batch.features))
        return Readouts(at_positions(unrolled.readout, real), None)

    def forward(self, batch: CaptionBatch) -> TeacherForced:
        """Score given descriptions by teacher forcing."""
        read = self.readouts(batch, real_positions(batch.target_mask))
        return TeacherForced(self.decoder.output(read.readout), read.alpha)


def _build_decoder(config: CaptionerConfig, embedding: Embedding, output: Output) -> Decoder:
    match config.decoder:
        case ChoConfig():
            return ChoDecoder(config.decoder, config.vector_sizes[0], embedding, output)
        case SutskeverConfig():
            return SutskeverDecoder(config.decoder, embedding, output)
    raise TypeError(f"no describer's decoder for {type(config.decoder).__name__}")
