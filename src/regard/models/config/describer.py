"""What a describer is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from regard.configuration import Config, in_range, one_of
from regard.errors import ConfigError
from regard.models.config.decoders import ChoConfig, DecoderConfig, SutskeverConfig
from regard.models.config.seq2seq import INITIALIZATIONS

ACTIVATIONS = ("tanh", "identity")


@dataclass(frozen=True)
class DescriberConfig(Config):
    """A vector of features → a sentence."""

    legal_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"decoder": ("cho", "sutskever")}

    decoder: DecoderConfig = field(default_factory=ChoConfig)
    """cho or sutskever: a vector has no words to attend to."""
    summary_size: int = 256
    """The width of the vector c that a cho decoder sees; sutskever's is its state_size, a vector for each layer."""
    activation: str = "tanh"
    """What follows the features' projection: tanh or identity."""
    tie: bool = False
    """The embedding is the output matrix too; both sizes must agree."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.activation", self.activation, ACTIVATIONS)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        in_range("model.summary_size", self.summary_size, 1)
        if self.decoder.kind not in self.legal_kinds["decoder"]:
            raise ConfigError(
                f'model.decoder.kind = "{self.decoder.kind}": it attends to the words of a source, and a vector of '
                f"features has none; choose {' or '.join(self.legal_kinds['decoder'])}"
            )
        if isinstance(self.decoder, SutskeverConfig) and self.summary_size != DescriberConfig.summary_size:
            raise ConfigError(
                f"model.summary_size = {self.summary_size}: a sutskever decoder starts from vectors as wide as its "
                "states; leave it out and set model.decoder.state_size, or choose cho"
            )
        m, read = self.decoder.embedding_size, self.decoder.output_size
        if self.tie and read != m:
            raise ConfigError(
                f"model.tie: the output matrix reads {read} units and the embedding has {m}; set "
                f"model.decoder.embedding_size = {read} to share one matrix"
            )

    @property
    def vector_sizes(self) -> tuple[int, ...]:
        """The widths of what the features are projected to: one summary, or a first state for each layer."""
        if isinstance(self.decoder, SutskeverConfig):
            return (self.decoder.state_size,) * self.decoder.num_layers
        return (self.summary_size,)
