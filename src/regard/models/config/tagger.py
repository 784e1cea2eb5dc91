"""What a tagger is made of."""

from dataclasses import dataclass, field

from regard.configuration import Config, one_of
from regard.models.config.encoder import EncoderConfig
from regard.models.config.seq2seq import INITIALIZATIONS


@dataclass(frozen=True)
class TaggerConfig(Config):
    """Words → a tag for each."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
