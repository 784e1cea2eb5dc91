"""The tagger: words → the logits of the tags, for each word.

In: a padded batch of words. Out: one row of logits per word; EOS and padding get none.
"""

from dataclasses import dataclass, field

from torch import Tensor

from regard.batches.pad import WordBatch
from regard.config import Config, one_of
from regard.layers import Dropout, Embedding, Output
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.model import INITIALIZATIONS, Model, initialize


@dataclass(frozen=True)
class TaggerConfig(Config):
    """The tagger: an encoder and an output matrix at every word."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""

    def __post_init__(self) -> None:
        one_of("model.initialization", self.initialization, INITIALIZATIONS)


class TaggerNetwork(Model):
    """An encoder, and an output matrix at every word.

    Args:
        config: sizes and kinds.
        vocabulary_size: V.
        num_tags: the number of tags.
    """

    def __init__(self, config: TaggerConfig, vocabulary_size: int, num_tags: int) -> None:
        super().__init__()
        self.config: TaggerConfig = config
        self.encoder = Encoder(config.encoder, Embedding(vocabulary_size, config.encoder.embedding_size))
        self.dropout = Dropout(config.encoder.dropout, config.encoder.variational)
        self.output = Output(config.encoder.annotation_size, num_tags, bias=config.encoder.bias)
        initialize(self, config.initialization)

    def forward(self, batch: WordBatch) -> Tensor:
        """Logits (N, tags) for the N words of the batch, row by row."""
        annotations, _, _ = self.encoder(batch.ids, batch.mask)  # (B, T, d)
        logits: Tensor = self.output(self.dropout(annotations)[batch.word_mask])
        return logits
