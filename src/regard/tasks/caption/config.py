"""The configuration of the task ``caption``: feature vectors with captions, a tokenizer, a decoder."""

from dataclasses import dataclass, field

from regard.config import Config, in_range
from regard.errors import ConfigError
from regard.evaluation.metrics import selectable, validation_metrics
from regard.models import CaptionerConfig
from regard.tasks.config import RunConfig, TextTokenizerConfig


@dataclass(frozen=True)
class CaptionDataConfig(Config):
    """The files of features and captions, and their filter."""

    train: tuple[str, ...] = ()
    """Two files: features (.npy, .arrow, .feather, .parquet), and their captions, one line per row."""
    valid: tuple[str, ...] = ()
    """The validation files, of the same form; without them, some rows are split off the training files."""
    column: str = ""
    """The column of a table that holds the features as lists; by default its only one."""
    standardize: bool = True
    """Standardize each feature to mean 0 and variance 1 over the training rows; the model stores both numbers."""
    max_length: int = 100
    """Training captions with more tokens than this are left out; a note says how many."""

    def __post_init__(self) -> None:
        for name in ("train", "valid"):
            files = getattr(self, name)
            if len(files) not in (0, 2):
                raise ConfigError(
                    f"data.{name}: {len(files)} file{'s' * (len(files) > 1)}; give two, the features and then the "
                    f"captions, as --{name} features.npy --{name} captions.txt"
                )
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class CaptionRun(RunConfig):
    """A whole run of the task ``caption``."""

    task = "caption"

    data: CaptionDataConfig = field(default_factory=CaptionDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: CaptionerConfig = field(default_factory=CaptionerConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return selectable(validation_metrics())
