"""A run that learns to describe: vectors of features, the text that describes each, a decoder."""

from dataclasses import dataclass, field
from typing import ClassVar

from regard.config import Config, in_range
from regard.errors import ConfigError
from regard.models import CaptionerConfig
from regard.tasks.config import RunConfig, TextTokenizerConfig
from regard.tasks.generation import SELECTIONS


@dataclass(frozen=True)
class CaptionDataConfig(Config):
    """Where features and descriptions come from, and which are fit to learn from."""

    train: tuple[str, ...] = ()
    """Two files: features (.npy, .arrow, .feather, .parquet), and the text that describes them, a line for each row."""
    valid: tuple[str, ...] = ()
    """To validate with, likewise; without any, some of the training rows are set aside."""
    column: str = ""
    """The column of a table that holds the features as lists; by default the only one there is."""
    standardize: bool = True
    """Bring each feature to mean 0, variance 1 over the training rows; the model keeps both, and takes raw features."""
    max_length: int = 100
    """Training descriptions of more tokens are left out, and counted."""

    def __post_init__(self) -> None:
        for name in ("train", "valid"):
            files = getattr(self, name)
            if len(files) not in (0, 2):
                raise ConfigError(
                    f"data.{name}: {len(files)} file{'s' * (len(files) > 1)}; give two, the features and then the "
                    f"text, as --{name} features.npy --{name} text.txt"
                )
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class CaptionRun(RunConfig):
    """A whole run of the task ``describe``."""

    task = "caption"
    selections: ClassVar[tuple[str, ...]] = SELECTIONS

    data: CaptionDataConfig = field(default_factory=CaptionDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: CaptionerConfig = field(default_factory=CaptionerConfig)
