"""The classifier: one text, or two, → the logits of the labels.

Two texts are encoded by the same encoder into u and v, and the head reads [u; v; |u − v|; u∘v] (Conneau et al. 2017,
InferSent, §3.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from regard.batches.pad import TextBatch
from regard.config import Config, in_range, one_of
from regard.layers import POOLINGS, Embedding, Head, Pooled
from regard.models.attention import MAX_UNITS
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.state import EncodedSource
from regard.ops.record import Equation, record, scope

PAIR = {"pair": Equation("v = [v_1; v_2; |v_1 − v_2|; v_1 ∘ v_2]")}

UNSIZED_POOLINGS = ("last", "mean")
"""The poolings that are rules, without units of their own."""


@dataclass(frozen=True)
class ClassifierConfig(Config):
    """The classifier: an encoder, a pooling and a head."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"pooling_size": 256}

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    num_texts: int = 1
    """The number of texts per example: 1, or 2 for pairs such as a premise and a hypothesis."""
    pooling: str = "attention"
    """How annotations become one vector: last (the encoder's last state), mean, or attention (a weighted mean)."""
    pooling_size: int | None = None
    """a, the alignment units of attention pooling; the other poolings have none."""
    hidden_size: int = 0
    """The number of units of the head's hidden layer; 0 for no hidden layer."""
    dropout: float = 0.0
    """The probability of dropping a unit of the head's input and of its hidden layer."""
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, sutskever or luong."""

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
        one_of("model.pooling", self.pooling, POOLINGS)
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
            parameters.
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
        self.pooling = POOLINGS[config.pooling](config.encoder.annotation_size, config.pooling_size or 0)
        joined = config.encoder.annotation_size * (4 if config.num_texts == 2 else 1)
        self.head = Head(joined, num_labels, config.hidden_size, config.dropout)
        initialize(self, config.initialization)

    def pool(self, ids: Tensor, mask: Tensor) -> Pooled:
        """One text of each row → one vector (B, d).

        Args:
            ids: (B, T), each row ended by EOS.
            mask: (B, T), True at real tokens.
        """
        annotations, forward_last, backward_last = self.encoder(ids, mask)
        last = EncodedSource(annotations, mask, None, forward_last, backward_last).summary
        pooled: Pooled = self.pooling(annotations, mask, last)
        return pooled

    def forward(self, batch: TextBatch) -> Classified:
        """Logits (B, labels), and the pooling weights of each text."""
        pooled = []
        for k, (ids, mask) in enumerate(zip(batch.ids, batch.masks, strict=True)):
            with scope("text", k):
                pooled.append(self.pool(ids, mask))
        assert len(pooled) == self.config.num_texts, (
            f"{len(pooled)} texts for a classifier of {self.config.num_texts}"
        )
        vector = pooled[0].vector
        if len(pooled) == 2:
            u, v = vector, pooled[1].vector
            vector = torch.cat([u, v, (u - v).abs(), u * v], dim=-1)  # (B, 4d)
            record(PAIR, pair=vector)
        return Classified(self.head(vector), tuple(one.alpha for one in pooled))
