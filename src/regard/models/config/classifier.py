"""What a classifier is made of."""

from dataclasses import dataclass, field

from regard.configuration import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import POOLINGS
from regard.models.config.attention import UNSIZED_POOLINGS
from regard.models.config.encoder import EncoderConfig
from regard.models.config.seq2seq import INITIALIZATIONS


@dataclass(frozen=True)
class ClassifierConfig(Config):
    """One text, or two, → a label."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    num_texts: int = 1
    """1; or 2 for pairs, such as a premise and a hypothesis."""
    pooling: str = "attention"
    """last (the state the encoder ended in), mean (of the annotations) or attention (a learnt weighted mean)."""
    pooling_size: int = 256
    """a, the alignment units of attention pooling; the others have none."""
    hidden_size: int = 0
    """The units of the head's hidden layer; 0 for none."""
    dropout: float = 0.0
    """On what the head reads, and on its hidden layer."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        in_range("model.num_texts", self.num_texts, 1, 2)
        one_of("model.pooling", self.pooling, POOLINGS)
        in_range("model.pooling_size", self.pooling_size, 1)
        if self.pooling in UNSIZED_POOLINGS and self.pooling_size != ClassifierConfig.pooling_size:
            raise ConfigError(
                f"model.pooling_size = {self.pooling_size}: the pooling {self.pooling!r} has no units of its own; "
                "leave it out, or choose attention"
            )
        in_range("model.hidden_size", self.hidden_size, 0)
        in_range("model.dropout", self.dropout, 0, below=1)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
