"""What a tagger is made of.

Words → a tag for each: as many out as in.
"""

from dataclasses import dataclass, field

from torch import Tensor

from regard.batches.pad import WordBatch
from regard.config import Config, one_of
from regard.layers import Dropout, Embedding, Output
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.initialize import initialize
from regard.models.model import Model
from regard.models.seq2seq import INITIALIZATIONS


@dataclass(frozen=True)
class TaggerConfig(Config):
    """Words → a tag for each."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.initialization", self.initialization, INITIALIZATIONS)


class TaggerNetwork(Model):
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
