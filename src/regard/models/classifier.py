"""One text, or two, → a label.

Two texts are read by the same encoder into u and v, and joined as [u; v; |u − v|; u∘v] (Conneau et al. 2017, InferSent,
§3.1), so that the head sees where they differ and where they agree.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.batches.labelled import TextBatch
from regard.layers import POOLINGS, Embedding, Head, Pooled
from regard.models.config.classifier import ClassifierConfig
from regard.models.encoder import Encoder
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.state import EncodedSource


class Classified(NamedTuple):
    """What a classifier says of a batch.

    Attributes:
        logits: (B, labels).
        alphas: for each text of a row its pooling weights (B, T), the end mark's among them; None for a pooling
            that learns none.
    """

    logits: Tensor
    alphas: tuple[Tensor | None, ...]


class Classifier(Model):
    """An encoder, a pooling and a head.

    Args:
        config: what it is made of.
        vocabulary_size: V.
        num_labels: how many labels there are.
    """

    def __init__(self, config: ClassifierConfig, vocabulary_size: int, num_labels: int) -> None:
        super().__init__()
        self.config: ClassifierConfig = config
        self.encoder = Encoder(config.encoder, Embedding(vocabulary_size, config.encoder.embedding_size))
        self.pooling = POOLINGS[config.pooling](config.encoder.annotation_size, config.pooling_size)
        joined = config.encoder.annotation_size * (4 if config.num_texts == 2 else 1)
        self.head = Head(joined, num_labels, config.hidden_size, config.dropout)
        initialize(self, config.initialization)

    def pool(self, ids: Tensor, mask: Tensor) -> Pooled:
        """One text of each row → one vector (B, d).

        Args:
            ids: (B, T), each row ended by the end mark.
            mask: (B, T), True where a real token stands.
        """
        annotations, forward_last, backward_last = self.encoder(ids, mask)
        last = EncodedSource(annotations, mask, None, forward_last, backward_last).summary
        pooled: Pooled = self.pooling(annotations, mask, last)
        return pooled

    def forward(self, batch: TextBatch) -> Classified:
        """Logits of every label, for each row."""
        pooled = [self.pool(ids, mask) for ids, mask in zip(batch.ids, batch.masks, strict=True)]
        assert len(pooled) == self.config.num_texts, (
            f"{len(pooled)} texts for a classifier of {self.config.num_texts}"
        )
        vector = pooled[0].vector
        if len(pooled) == 2:
            u, v = vector, pooled[1].vector
            vector = torch.cat([u, v, (u - v).abs(), u * v], dim=-1)  # (B, 4d)
        return Classified(self.head(vector), tuple(one.alpha for one in pooled))
