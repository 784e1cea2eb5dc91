"""The classifier: one text, or two, → the logits of the labels.

Two texts are encoded by the same encoder into u and v, and the head reads [u; v; |u − v|; u∘v] (Conneau et al. 2017,
InferSent, §3.1). Before they are pooled, the texts may attend to each other: each annotation is joined with the context
that it finds in the other text, as a decoder's state is with that of its source (shallow fusion of Cheng et al. 2016,
§4, here in both directions).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from regard.batches.pad import TextBatch
from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import POOLINGS, Bilinear, Embedding, Head, Pooled
from regard.models.attention import MAX_UNITS
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.state import EncodedSource
from regard.ops.record import Equation, record, scope

PAIR = {"pair": Equation("v = [v_1; v_2; |v_1 − v_2|; v_1 ∘ v_2]")}

BETWEEN = ("none", "attention")
"""What two texts know of each other before they are pooled."""

BETWEEN_TEXTS = ("between", 0)
"""The place of what the attention between two texts records."""

UNSIZED_POOLINGS = ("last", "mean", "max")
"""The poolings that are rules, without units of their own."""


@dataclass(frozen=True)
class ClassifierConfig(Config):
    """The classifier: an encoder, a pooling and a head."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"pooling_size": 256}

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    num_texts: int = 1
    """The number of texts per example: 1, or 2 for pairs such as a premise and a hypothesis."""
    between: str = "none"
    """What two texts know of each other before they are pooled: none, or attention (of each word to the other text)."""
    pooling: str = "attention"
    """How annotations become one vector: last (the encoder's last state), mean, max (of each unit) or attention."""
    pooling_size: int | None = None
    """a, the alignment units of attention pooling; the other poolings have none."""
    hidden_size: int = 0
    """The number of units of the head's hidden layer; 0 for no hidden layer."""
    dropout: float = 0.0
    """The probability of dropping a unit of the head's input and of its hidden layer."""
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen pooling does not have: alignment units."""
        pooling = options.get("pooling")
        if pooling not in UNSIZED_POOLINGS:
            return {}
        reason = f"the pooling {pooling!r} has no alignment units; leave it out, or choose attention"
        return {"pooling_size": reason}

    def __post_init__(self) -> None:
        in_range("model.num_texts", self.num_texts, 1, 2)
        one_of("model.between", self.between, BETWEEN)
        one_of("model.pooling", self.pooling, POOLINGS)
        if self.between != "none" and self.num_texts != 2:
            raise ConfigError(
                f'model.between = "{self.between}": there is one text; set model.num_texts to 2, or leave it out'
            )
        if self.between != "none" and self.pooling == "last":
            raise ConfigError(
                f'model.between = "{self.between}": the pooling last reads the encoder\'s last state alone; choose '
                "mean, max or attention"
            )
        self.fill_choices()
        self.check_choices("model")
        if self.pooling_size is not None:
            in_range("model.pooling_size", self.pooling_size, 1, MAX_UNITS)
        in_range("model.hidden_size", self.hidden_size, 0, MAX_UNITS)
        in_range("model.dropout", self.dropout, 0, below=1)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)


class Classified(NamedTuple):
    """A classifier's output for a batch.

    Attributes:
        logits: (B, labels).
        alphas: for each text of a row its pooling weights (B, T), EOS included; None for a pooling without
            weights.
    """

    logits: Tensor
    alphas: tuple[Tensor | None, ...]


class ClassifierNetwork(Model):
    """An encoder, a pooling and a head.

    Args:
        config: sizes and kinds.
        vocabulary_size: V.
        num_labels: the number of labels.
    """

    def __init__(self, config: ClassifierConfig, vocabulary_size: int, num_labels: int) -> None:
        super().__init__()
        self.config: ClassifierConfig = config
        self.encoder = Encoder(config.encoder, Embedding(vocabulary_size, config.encoder.embedding_size))
        d = config.encoder.annotation_size
        self.between = Bilinear(d, d) if config.between == "attention" else None
        width = d if self.between is None else d + self.between.context_size
        self.pooling = POOLINGS[config.pooling](width, config.pooling_size or 0)
        joined = width * (4 if config.num_texts == 2 else 1)
        self.head = Head(joined, num_labels, config.hidden_size, config.dropout)
        initialize(self, config.initialization)

    def encode(self, ids: Tensor, mask: Tensor) -> EncodedSource:
        """One text of each row → its annotations (B, T, d) and last states.

        Args:
            ids: (B, T), each row ended by EOS.
            mask: (B, T), True at real tokens.
        """
        annotations, forward_last, backward_last = self.encoder(ids, mask)
        return EncodedSource(annotations, mask, None, forward_last, backward_last)

    def pool(self, text: EncodedSource, other: EncodedSource | None = None) -> Pooled:
        """An encoded text of each row → one vector (B, d), or (B, 2d) where texts attend to each other.

        Args:
            text: from `encode`.
            other: the other text of each row, if the texts attend to each other.
        """
        pooled: Pooled
        if other is None:
            pooled = self.pooling(text.annotations, text.mask, text.summary)
            return pooled
        assert self.between is not None, "the texts of this classifier do not attend to each other"
        with scope(*BETWEEN_TEXTS):
            context = self.between(text.annotations, other.annotations, other.mask).context  # (B, T, d)
        pooled = self.pooling(torch.cat([text.annotations, context], dim=-1), text.mask)
        return pooled

    def forward(self, batch: TextBatch) -> Classified:
        """Logits (B, labels), and the pooling weights of each text."""
        texts = []
        for k, (ids, mask) in enumerate(zip(batch.ids, batch.masks, strict=True)):
            with scope("text", k):
                texts.append(self.encode(ids, mask))
        assert len(texts) == self.config.num_texts, (
            f"{len(texts)} texts for a classifier of {self.config.num_texts}"
        )
        pooled = []
        for k, text in enumerate(texts):
            with scope("text", k):
                pooled.append(self.pool(text, None if self.between is None else texts[1 - k]))
        vector = pooled[0].vector
        if len(pooled) == 2:
            u, v = vector, pooled[1].vector
            vector = torch.cat([u, v, (u - v).abs(), u * v], dim=-1)  # (B, 4d)
            record(PAIR, pair=vector)
        return Classified(self.head(vector), tuple(one.alpha for one in pooled))
