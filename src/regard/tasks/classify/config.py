"""A run that learns to classify: labelled texts, one or two to a label, a tokenizer, a classifier."""

from dataclasses import dataclass, field
from typing import ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import label_metrics
from regard.models import ClassifierConfig
from regard.tasks.config import (
    PretrainedEncoderConfig,
    RunConfig,
    TextTokenizerConfig,
    forwards_only,
    unfreezes_what_is_trained,
)
from regard.text.formats.columns import SEPARATORS


@dataclass(frozen=True)
class LabelledDataConfig(Config):
    """Where the labelled texts come from, and which are fit to learn from."""

    train: tuple[str, ...] = ()
    """One file: a label and a text on each line, or a label and two texts; .gz, .xz and .bz2 are read as they are."""
    valid: tuple[str, ...] = ()
    """The validation texts, likewise; without any, some training texts of each label are set aside."""
    columns: tuple[int, ...] = ()
    """Where the label and then each text stand, counted from 1; by default the label first, then the texts."""
    separator: str = "tab"
    """tab; or space for a label, a blank and one text."""
    header: bool = False
    """Whether the first line names the columns, and is passed over."""
    max_length: int = 200
    """Training texts of more tokens are left out, and counted."""

    def __post_init__(self) -> None:
        for name in ("train", "valid"):
            if len(getattr(self, name)) > 1:
                raise ConfigError(
                    f"data.{name}: {len(getattr(self, name))} files; give one, with a label and its text on each line"
                )
        one_of("data.separator", self.separator, SEPARATORS)
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class ClassifyRun(RunConfig):
    """A whole run of the task ``classify``."""

    task = "classify"
    selections: ClassVar[tuple[str, ...]] = (
        "loss",
        *(key for key, metric in label_metrics() if not metric.tags_only),
    )

    data: LabelledDataConfig = field(default_factory=LabelledDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: ClassifierConfig = field(default_factory=ClassifierConfig)
    pretrained: PretrainedEncoderConfig = field(default_factory=PretrainedEncoderConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = self.model.num_texts + 1
        if self.data.columns and len(self.data.columns) != wanted:
            raise ConfigError(
                f"data.columns: {list(self.data.columns)}; with model.num_texts = {self.model.num_texts} give "
                f"{wanted}, the label's and then each text's, as {list(range(1, wanted + 1))}"
            )
        forwards_only(self.pretrained, self.model.encoder)
        unfreezes_what_is_trained(self.pretrained, self.training)
