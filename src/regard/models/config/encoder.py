"""What an encoder is made of."""

from dataclasses import dataclass

from regard.errors import ConfigError
from regard.models.config.stack import StackConfig


@dataclass(frozen=True)
class EncoderConfig(StackConfig):
    """source_ids → annotations."""

    place = "model.encoder"

    bidirectional: bool = True
    """Read the sentence both ways; annotations are then 2n wide."""
    reverse: bool = False
    """Read the source from its last word to its first (Sutskever et al. 2014, §3.3)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.reverse:
            raise ConfigError(
                "model.encoder: reverse means nothing to a bidirectional encoder; drop one of the two"
            )

    @property
    def annotation_size(self) -> int:
        """The width of an annotation h_j."""
        return self.state_size * (2 if self.bidirectional else 1)
