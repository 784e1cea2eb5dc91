"""The captioner: a vector of features → a sentence, as in Vinyals et al. 2015, with the features given.

The projected features take the place of an encoder's last states: the summary c of a cho decoder, or the initial states
of a sutskever decoder, layer by layer (a memory c starts at zero). Features come raw: they are standardised by the
statistics of the training set. For search they are a source of length 1, so ``SearchOptions(max_extra=N)`` allows N
tokens whatever its ratio.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.batches.pad import CaptionBatch, feature_mask, select_positions, token_positions
from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import Embedding, Output, Standardize
from regard.models.attention import MAX_UNITS
from regard.models.decoders import ChoDecoder, Decoder, SutskeverDecoder
from regard.models.decoders.config import ChoConfig, DecoderConfig, SutskeverConfig
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.seq2seq import Readouts, TeacherForced
from regard.models.state import EncodedSource
from regard.ops.record import Equation, record

ACTIVATIONS = ("tanh", "identity")

EQUATIONS = {
    "features": Equation("x = (features − mean) / scale"),
    "tanh": Equation("c = tanh(W_f x + b_f)"),
    "identity": Equation("c = W_f x + b_f"),
}
"""Of the encoder; of the last two, one."""


@dataclass(frozen=True)
class CaptionerConfig(Config):
    """The captioner: a projection of the features and a decoder."""

    allowed_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"decoder": ("cho", "sutskever")}
    choice_defaults: ClassVar[Mapping[str, Any]] = {"summary_size": 256}

    decoder: DecoderConfig = field(default_factory=ChoConfig)
    """The decoder, cho or sutskever: a vector has no words to attend to."""
    summary_size: int | None = None
    """The width of the vector c of a cho decoder; a sutskever decoder has vectors of its state_size, one per layer."""
    activation: str = "tanh"
    """The activation after the projection of the features: tanh or identity."""
    tie: bool = False
    """Whether the output matrix is the embedding matrix; their widths must then be equal."""
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""

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
        if self.decoder.kind not in self.allowed_kinds["decoder"]:
            raise ConfigError(
                f'model.decoder.kind = "{self.decoder.kind}": it attends to the words of a source, and a vector of '
                f"features has none; choose {' or '.join(self.allowed_kinds['decoder'])}"
            )
        self.fill_choices()
        self.check_choices("model")
        if self.summary_size is not None:
            in_range("model.summary_size", self.summary_size, 1, MAX_UNITS)
        m, width = self.decoder.embedding_size, self.decoder.output_size
        if self.tie and width != m:
            raise ConfigError(
                f"model.tie: the output matrix reads {width} units and the embedding has {m}; set "
                f"model.decoder.embedding_size = {width} to share one matrix"
            )

    @property
    def vector_sizes(self) -> tuple[int, ...]:
        """The widths of the projections of the features: one summary, or an initial state per layer."""
        if self.summary_size is None:
            return (self.decoder.state_size,) * self.decoder.num_layers
        return (self.summary_size,)


class CaptionerNetwork(Model):
    """A projection of the features, and a decoder that needs no words to attend to.

    Args:
        config: sizes and kinds.
        feature_size: f.
        vocabulary_size: V.

    Attributes:
        standardize: raw features → features of mean 0 and variance 1; the identity before its `fit`.
        W_f: the projections: one to the summary, or one to each layer's initial state.
    """

    def __init__(self, config: CaptionerConfig, feature_size: int, vocabulary_size: int) -> None:
        super().__init__()
        self.config: CaptionerConfig = config
        embedding = Embedding(vocabulary_size, config.decoder.embedding_size)
        tied = embedding.E if config.tie else None
        output = Output(config.decoder.output_size, vocabulary_size, tied, bias=config.decoder.bias)
        self.standardize = Standardize(feature_size)
        projections = [nn.Linear(feature_size, size) for size in config.vector_sizes]
        for layer in projections:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.W_f = nn.ModuleList(projections)
        self.decoder = _build_decoder(config, embedding, output)
        initialize(self, config.initialization)

    def encode(self, features: Tensor) -> EncodedSource:
        """Raw features (B, f) → an encoded source of length 1."""
        standard = self.standardize(features)
        vectors = [layer(standard) for layer in self.W_f]
        if self.config.activation == "tanh":
            vectors = [vector.tanh() for vector in vectors]
        record(EQUATIONS, **{"features": standard, self.config.activation: vectors[-1]})
        parts = self.decoder.stack.layers[0].num_parts
        last = tuple((vector, *(torch.zeros_like(vector) for _ in range(parts - 1))) for vector in vectors)
        return EncodedSource(vectors[-1].unsqueeze(1), feature_mask(features), None, last, ())

    def readouts(self, batch: CaptionBatch, positions: Tensor) -> Readouts:
        """Teacher forcing without the output matrix; see `Seq2Seq.readouts`."""
        unrolled = self.decoder(batch.previous_ids, batch.target_mask, self.encode(batch.features))
        assert unrolled.readout is not None, "its decoders have one softmax"
        return Readouts(select_positions(unrolled.readout, positions), None)

    def forward(self, batch: CaptionBatch) -> TeacherForced:
        """Logits of given captions, by teacher forcing."""
        result = self.readouts(batch, token_positions(batch.target_mask))
        return TeacherForced(self.decoder.output(result.readout), result.alpha)


def _build_decoder(config: CaptionerConfig, embedding: Embedding, output: Output) -> Decoder:
    match config.decoder:
        case ChoConfig():
            return ChoDecoder(config.decoder, config.vector_sizes[0], embedding, output)
        case SutskeverConfig():
            return SutskeverDecoder(config.decoder, embedding, output)
    raise TypeError(f"no captioner's decoder for {type(config.decoder).__name__}")
