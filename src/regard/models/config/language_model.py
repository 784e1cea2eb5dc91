"""What a language model is made of."""

from dataclasses import dataclass

from regard.configuration import one_of
from regard.errors import ConfigError
from regard.models.config.seq2seq import INITIALIZATIONS
from regard.models.config.stack import StackConfig, remembers


@dataclass(frozen=True)
class LanguageModelConfig(StackConfig):
    """Words → the next word: an embedding, a stack of recurrent layers, an output matrix."""

    place = "model"

    cell: str = "lstm"
    """As for an encoder, any cell there is."""
    tie: bool = False
    """The embedding is the output matrix too; both sizes must agree."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        if self.tie and self.embedding_size != self.state_size:
            raise ConfigError(
                f"model.tie: the output matrix reads {self.state_size} units and the embedding has "
                f"{self.embedding_size}; set model.embedding_size = {self.state_size} to share one matrix"
            )

    @property
    def attends(self) -> bool:
        """Whether its cells attend to their own past."""
        return remembers(self.cell)

    @property
    def remembers_everything(self) -> bool:
        """Whether its memory grows with all it reads: its cells attend to the whole past, not to a span of it."""
        return self.attends and (self.memory is None or self.memory.span == 0)
