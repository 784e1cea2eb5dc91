"""What a training run is, whatever its task: data, tokenizers, model, training. One TOML file says it all.

task = "translate"                # translate, lm, classify, tag or describe
preset = "rnnsearch-small"        # where to start from; everything below overrides it
[data]
train = ["train.de", "train.en"]  # two parallel files, or one tab-separated file
valid = ["val.de", "val.en"]
[tokenizer]
source = "word"
[model.decoder.attention]
energy = "dot"
[training]
max_epochs = 10
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from regard.configuration import Config, one_of
from regard.training.config.training import TrainingConfig


@dataclass(frozen=True)
class RunConfig(Config):
    """Base of the tasks' runs; ``task`` in a file chooses among `variants`, the first by default."""

    variant_key: ClassVar[str] = "task"
    selections: ClassVar[tuple[str, ...]]
    """The numbers of its validation that can make a checkpoint the best; all but the loss are better when greater."""

    data: Any
    tokenizer: Any
    model: Any
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(max_epochs=10))

    def __post_init__(self) -> None:
        one_of("training.select", self.training.select, self.selections)
