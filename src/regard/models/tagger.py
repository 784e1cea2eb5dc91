"""Words → a tag for each: as many out as in."""

from torch import Tensor

from regard.batches.tagged import WordBatch
from regard.layers import Dropout, Embedding, Output
from regard.models.config.tagger import TaggerConfig
from regard.models.encoder import Encoder
from regard.models.initialize import initialize
from regard.models.model import Model


class Tagger(Model):
    """An encoder, and an output matrix at every word.

    Args:
        config: what it is made of.
        vocabulary_size: V.
        num_tags: how many tags there are.
    """

    def __init__(self, config: TaggerConfig, vocabulary_size: int, num_tags: int) -> None:
        super().__init__()
        self.config: TaggerConfig = config
        self.encoder = Encoder(config.encoder, Embedding(vocabulary_size, config.encoder.embedding_size))
        self.dropout = Dropout(config.encoder.dropout, config.encoder.variational)
        self.output = Output(config.encoder.annotation_size, num_tags)
        initialize(self, config.initialization)

    def forward(self, batch: WordBatch) -> Tensor:
        """Logits (N, tags) for the N words of the batch, row by row."""
        annotations, _, _ = self.encoder(batch.ids, batch.mask)  # (B, T, d)
        logits: Tensor = self.output(self.dropout(annotations)[batch.word_mask])
        return logits
