"""What a whole sequence-to-sequence model is made of."""

from dataclasses import dataclass, field

from regard.configuration import Config, one_of
from regard.errors import ConfigError
from regard.models.config.decoders import BahdanauConfig, DecoderConfig
from regard.models.config.encoder import EncoderConfig

TIES = ("none", "target", "all")
INITIALIZATIONS = ("glorot", "bahdanau", "sutskever", "luong")


@dataclass(frozen=True)
class ModelConfig(Config):
    """A whole encoder–decoder."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig = field(default_factory=BahdanauConfig)
    tie: str = "none"
    """Share matrices: none; target (the target embedding is the output matrix); all (the source's too)."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.tie", self.tie, TIES)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        self.decoder.check_encoder(self.encoder)
        m = self.decoder.embedding_size
        read = self.decoder.output_size
        if self.tie != "none" and read != m:
            raise ConfigError(
                f'model.tie = "{self.tie}": the output matrix reads {read} units and the target embedding '
                f"has {m}; make them equal to share one matrix"
            )
        if self.tie == "all" and self.encoder.embedding_size != m:
            raise ConfigError(
                f'model.tie = "all": the source embedding has {self.encoder.embedding_size} units and the '
                f"target embedding {m}; make them equal to share one matrix"
            )
