"""The configuration of the task ``classify``: labelled texts, a tokenizer, a classifier."""

from dataclasses import dataclass, field

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import label_metrics, selectable
from regard.models import ClassifierConfig
from regard.tasks.config import LabelRunConfig, TextTokenizerConfig
from regard.text.formats.columns import SEPARATORS


@dataclass(frozen=True)
class LabelledDataConfig(Config):
    """The files of labelled texts, and their filter."""

    train: tuple[str, ...] = ()
    """One file with a label and one or two texts per line; also .gz, .xz or .bz2."""
    valid: tuple[str, ...] = ()
    """The validation file, of the same form; without it, some texts of each label are split off the training file."""
    columns: tuple[str, ...] = ()
    """Columns of the label and of each text, numbers from 1 or names of the header row; by default the label first."""
    separator: str = "tab"
    """What separates the columns: tab, or space: the label, a space, and one text."""
    header: bool = False
    """Skip the first line, which names the columns."""
    max_length: int = 200
    """Training texts with more tokens than this are left out; a note says how many."""

    def __post_init__(self) -> None:
        for name in ("train", "valid"):
            if len(getattr(self, name)) > 1:
                raise ConfigError(
                    f"data.{name}: {len(getattr(self, name))} files; give one, with a label and its text per line"
                )
        one_of("data.separator", self.separator, SEPARATORS)
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class ClassifyRun(LabelRunConfig):
    """A whole run of the task ``classify``."""

    task = "classify"

    data: LabelledDataConfig = field(default_factory=LabelledDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: ClassifierConfig = field(default_factory=ClassifierConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return selectable(key for key, metric in label_metrics() if not metric.tags_only)

    def __post_init__(self) -> None:
        super().__post_init__()
        num_columns = self.model.num_texts + 1
        if self.data.columns and len(self.data.columns) != num_columns:
            raise ConfigError(
                f"data.columns: [{', '.join(map(str, self.data.columns))}]; with model.num_texts = "
                f"{self.model.num_texts} give {num_columns}, the label's and then each text's, as "
                f"{list(range(1, num_columns + 1))}"
            )
