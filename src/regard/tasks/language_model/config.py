"""The configuration of the task ``language_model``: lines of text, a tokenizer, a language model."""

from dataclasses import dataclass, field

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import selectable
from regard.models import LanguageModelConfig
from regard.tasks.config import RunConfig, TextTokenizerConfig
from regard.text import MODES


@dataclass(frozen=True)
class TextDataConfig(Config):
    """The files of text, and how they are read."""

    train: tuple[str, ...] = ()
    """One or more files of text; also .gz, .xz or .bz2."""
    valid: tuple[str, ...] = ()
    """The validation files; without them, some of the training text is split off."""
    mode: str = "sentences"
    """sentences: each line separately; continuous: all lines as one text, with the state carried over."""
    steps: int = 35
    """Mode continuous: tokens per window, the length of truncated backpropagation through time."""
    max_length: int = 100
    """Mode sentences: training lines with more tokens than this are left out; a note says how many."""

    def __post_init__(self) -> None:
        one_of("data.mode", self.mode, MODES)
        in_range("data.steps", self.steps, 1)
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class LanguageModelRun(RunConfig):
    """A whole run of the task ``language_model``."""

    task = "language_model"

    data: TextDataConfig = field(default_factory=TextDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: LanguageModelConfig = field(default_factory=LanguageModelConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return selectable(["token_accuracy"])

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data.mode == "continuous" and self.model.attends_to_whole_past:
            raise ConfigError(
                f'data.mode = "continuous": {self.model.cell} cells attend to all they have read, which grows without '
                f"end; set model.memory.span (to {self.data.steps}, say), or read sentences"
            )
