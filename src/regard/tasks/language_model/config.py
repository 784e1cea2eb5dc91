"""A run that learns a language: lines of text, a tokenizer, a model that predicts each token from those before it."""

from dataclasses import dataclass, field
from typing import ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.models import LanguageModelConfig
from regard.tasks.config import RunConfig, TextTokenizerConfig
from regard.text import MODES


@dataclass(frozen=True)
class TextDataConfig(Config):
    """Where the text comes from, and how it is read."""

    train: tuple[str, ...] = ()
    """Files of text, one or more; .gz, .xz and .bz2 are read as they are."""
    valid: tuple[str, ...] = ()
    """The validation text, likewise; without any, some of the training text is set aside."""
    mode: str = "sentences"
    """sentences, each line by itself; or continuous, one line after the other with the state carried."""
    steps: int = 35
    """Of continuous text: the tokens of a window, beyond which no gradient goes back."""
    max_length: int = 100
    """Of sentences: training lines of more tokens are left out, and counted."""

    def __post_init__(self) -> None:
        one_of("data.mode", self.mode, MODES)
        in_range("data.steps", self.steps, 1)
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class LanguageModelRun(RunConfig):
    """A whole run of the task ``lm``."""

    task = "language_model"
    selections: ClassVar[tuple[str, ...]] = ("loss", "token_accuracy")

    data: TextDataConfig = field(default_factory=TextDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: LanguageModelConfig = field(default_factory=LanguageModelConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data.mode == "continuous" and self.model.attends_to_whole_past:
            raise ConfigError(
                f'data.mode = "continuous": {self.model.cell} cells attend to all they have read, which grows without '
                f"end; set model.memory.span (to {self.data.steps}, say), or read sentences"
            )
