"""How a model of any task learns, when it is looked at, and when it stops.

What a training run is, whatever its task: data, tokenizers, model, training. One TOML file says it all.

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

What the tasks of one text have in common: how its lines become tokens, and which model its encoder begins as.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from regard.config import Config, in_range, one_of
from regard.device import DEVICES
from regard.errors import ConfigError
from regard.models import EncoderConfig
from regard.tasks import TASKS
from regard.text import KINDS

OPTIMIZERS = ("adam", "adamw", "sgd", "adadelta")
SCHEDULES = ("constant", "linear", "cosine", "inverse-sqrt", "decay", "plateau")
PRECISIONS = ("32", "bf16", "16")


@dataclass(frozen=True)
class TrainingConfig(Config):
    """How the model learns, when it is looked at, and when it stops."""

    optimizer: str = "adam"
    """adam, adamw, sgd or adadelta."""
    learning_rate: float = 0.001
    """The learning rate at its highest."""
    momentum: float = 0.0
    """Of sgd."""
    weight_decay: float = 0.0
    """Of adamw and sgd."""
    schedule: str = "constant"
    """constant; linear and cosine fall to zero at the last update; inverse-sqrt; decay; plateau."""
    warmup: int = 0
    """Over so many updates the rate rises from zero; over a tenth of the run where that is less."""
    decay_from: float = 0.0
    """Of the schedule decay: the epoch after which the rate first falls."""
    decay_every: float = 1.0
    """Of the schedule decay: the epochs between two falls."""
    decay_factor: float = 0.5
    """Of the schedule decay: what the rate is multiplied by at each fall."""
    plateau_decay: float = 0.5
    """Of the schedule plateau: the factor after a validation that did not improve."""
    clip: float = 1.0
    """The greatest norm of the gradient; 0 for no limit."""
    normalize: str = "tokens"
    """What the loss is a mean over: tokens (or tags, or labels), or sentences as the first papers had it."""
    label_smoothing: float = 0.0
    """The share of probability spread evenly over the whole vocabulary, or over all labels."""
    depth_decay: float = 1.0
    """Discriminative rates: each layer below the head learns at so many times the rate of the one above it."""
    unfreeze_every: float = 0.0
    """Gradual thawing: the head learns first, and one more layer after so many epochs each; 0 for all at once."""
    batch_sentences: int = 64
    """The most sentences in a batch, or the streams of continuous text that are read side by side."""
    batch_tokens: int = 4000
    """The most tokens in a batch, of the longer side, padding counted; continuous text has data.steps a stream."""
    accumulate: int = 1
    """Batches to an update."""
    precision: str = "32"
    """32, bf16 or 16 (mixed)."""
    device: str = "auto"
    """auto, cpu or cuda."""
    max_updates: int = 0
    """Stop after so many updates; 0 for no limit."""
    max_epochs: float = 0.0
    """Stop after so many passes over the data; 0 for no limit."""
    max_minutes: float = 0.0
    """Stop after so many minutes; 0 for no limit."""
    validate_every: int = 0
    """Updates between two validations; 0 for once an epoch."""
    validation_sentences: int = 500
    """How many validation sentences are decoded freely each time, where the task decodes; the loss is of all."""
    select: str = "loss"
    """What makes a checkpoint the best: loss, or another number of the task's validation, such as bleu or accuracy."""
    patience: int = 0
    """Stop after so many validations without a better one; 0 for never."""
    seed: int = 1
    """Of weights, order and dropout."""
    tensorboard: bool = False
    """Write TensorBoard files beside the journal."""

    def __post_init__(self) -> None:
        one_of("training.optimizer", self.optimizer, OPTIMIZERS)
        one_of("training.schedule", self.schedule, SCHEDULES)
        one_of("training.normalize", self.normalize, ("tokens", "sentences"))
        one_of("training.precision", self.precision, PRECISIONS)
        one_of("training.device", self.device, DEVICES)
        for name in ("batch_sentences", "batch_tokens", "accumulate", "validation_sentences"):
            in_range(f"training.{name}", getattr(self, name), 1)
        for name in (
            *("learning_rate", "weight_decay", "warmup", "decay_from", "clip", "unfreeze_every"),
            *("max_updates", "max_epochs", "max_minutes", "validate_every", "patience"),
        ):
            in_range(f"training.{name}", getattr(self, name), 0)
        in_range("training.momentum", self.momentum, 0, below=1)
        if self.momentum and self.optimizer != "sgd":
            raise ConfigError(
                f"training.momentum is of sgd, and training.optimizer is {self.optimizer}; drop it"
            )
        if self.weight_decay and self.optimizer not in ("adamw", "sgd"):
            raise ConfigError(
                f"training.weight_decay is of adamw and sgd, and training.optimizer is {self.optimizer}; "
                "drop it, or choose adamw"
            )
        if not self.decay_every > 0:
            raise ConfigError(f"training.decay_every: {self.decay_every:g}; it must be above 0")
        in_range("training.decay_factor", self.decay_factor, 0, 1)
        in_range("training.plateau_decay", self.plateau_decay, 0, 1)
        in_range("training.depth_decay", self.depth_decay, 0, 1)
        in_range("training.label_smoothing", self.label_smoothing, 0, below=1)
        if not (self.max_updates or self.max_epochs or self.max_minutes or self.patience):
            raise ConfigError(
                "training: it would never end; set max_updates, max_epochs, max_minutes or patience"
            )
        if self.schedule in ("linear", "cosine") and self.open_ended:
            raise ConfigError(
                f'training.schedule = "{self.schedule}" falls to zero at the end; '
                "set max_updates, max_epochs or max_minutes"
            )

    @property
    def open_ended(self) -> bool:
        """Whether patience alone ends the run, so that no one can say how much of it is over."""
        return not (self.max_updates or self.max_epochs or self.max_minutes)


@dataclass(frozen=True)
class RunConfig(Config):
    """Base of the tasks' runs; ``task`` in a file chooses one of `TASKS`, the first by default."""

    task: ClassVar[str]
    selections: ClassVar[tuple[str, ...]]
    """The numbers of its validation that can make a checkpoint the best; all but the loss are better when greater."""

    data: Any
    tokenizer: Any
    model: Any
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(max_epochs=10))

    def __post_init__(self) -> None:
        one_of("training.select", self.training.select, self.selections)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], place: str) -> Self:
        """Build the run of the task that ``task`` names; see `Config.from_mapping`."""
        if cls is not RunConfig:
            return super().from_mapping(mapping, place)
        task = mapping.get("task", next(iter(TASKS)))
        one_of(f"{place}.task" if place else "task", task, TASKS)
        rest = {key: value for key, value in mapping.items() if key != "task"}
        return TASKS[task].run_config().from_mapping(rest, place)  # type: ignore[return-value]

    def to_mapping(self) -> dict[str, Any]:
        """The whole configuration as nested plain values, the task first."""
        return {"task": self.task, **super().to_mapping()}


@dataclass(frozen=True)
class TextTokenizerConfig(Config):
    """How lines become tokens."""

    text: str = "word"
    """char, word, bpe or unigram."""
    text_size: int = 10_000
    """The most tokens of the vocabulary."""
    min_frequency: int = 1
    """How often a word must occur to have a token of its own."""
    lowercase: bool = False
    """Lower all text before all else."""

    def __post_init__(self) -> None:
        one_of("tokenizer.text", self.text, KINDS)
        in_range("tokenizer.text_size", self.text_size, 5)
        in_range("tokenizer.min_frequency", self.min_frequency, 1)


@dataclass(frozen=True)
class PretrainedEncoderConfig(Config):
    """Which trained language model the encoder begins as."""

    encoder: str = ""
    """A folder of a language model; its tokenizer is taken over, and the encoder takes its cell and sizes."""


def forwards_only(pretrained: PretrainedEncoderConfig, encoder: EncoderConfig) -> None:
    """Raise where an encoder that reads backwards is to begin as a language model, which reads forwards."""
    if pretrained.encoder and encoder.reverse:
        raise ConfigError(
            "model.encoder.reverse reads from the last word to the first, and the language model of pretrained.encoder "
            "read the other way; drop one of the two"
        )


def unfreezes_what_is_trained(pretrained: PretrainedEncoderConfig, training: TrainingConfig) -> None:
    """Raise where layers that no one has trained are to lie frozen while the head learns."""
    if training.unfreeze_every and not pretrained.encoder:
        raise ConfigError(
            f"training.unfreeze_every = {training.unfreeze_every:g} keeps the encoder frozen at first, and it "
            "has not been trained; name a language model's folder, as --set pretrained.encoder=FOLDER, or set "
            "training.unfreeze_every to 0"
        )
