"""The configuration of a training run: what every task's run shares. One TOML file holds all of it.

task = "translate"                # one of `TASKS`: translate, language_model, classify, tag, caption, align
preset = "rnnsearch-small"        # where to start from, in place of a plan; everything below overrides it
[data]
train = ["train.de", "train.en"]  # two parallel files, or one tab-separated file
valid = ["val.de", "val.en"]
[tokenizer]
source = "word"
[model.decoder.attention]
energy = "dot"
[training]
max_epochs = 10

The sentence below each field is its help in ``regard train --list-options``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from regard.config import Config, in_range, one_of
from regard.device import DEVICES, MAX_THREADS
from regard.errors import ConfigError
from regard.models import EncoderConfig
from regard.tasks import TASKS
from regard.text import KINDS, NORMALIZATIONS
from regard.text.tokenizer import MAX_SIZE

OPTIMIZERS = ("adam", "adamw", "sgd", "adadelta")
SCHEDULES = ("constant", "linear", "cosine", "inverse-sqrt", "decay", "plateau")
PRECISIONS = ("32", "bf16", "16")


@dataclass(frozen=True)
class TrainingConfig(Config):
    """The optimization: steps, batches, validations, and when to stop."""

    optimizer: str = "adam"
    """The optimizer: adam, adamw, sgd or adadelta."""
    learning_rate: float = 0.001
    """The peak learning rate."""
    momentum: float = 0.0
    """Momentum of sgd."""
    weight_decay: float = 0.0
    """Weight decay of adamw and sgd."""
    schedule: str = "constant"
    """The learning rate over time: constant, linear or cosine (to zero at the end), inverse-sqrt, decay or plateau."""
    warmup: int = 0
    """Updates over which the learning rate rises from zero; at most a tenth of the run."""
    decay_from: float = 0.0
    """Schedule decay: the epoch after which the learning rate first decays."""
    decay_every: float = 1.0
    """Schedule decay: the number of epochs between decays."""
    decay_factor: float = 0.5
    """Schedule decay: the factor of each decay."""
    plateau_decay: float = 0.5
    """Schedule plateau: the factor after a validation without improvement."""
    clip: float = 1.0
    """Clip the gradient to this norm; 0 for no clipping."""
    normalize: str = "tokens"
    """What the loss is averaged over: tokens (tags, labels), or sentences, as in the first papers."""
    label_smoothing: float = 0.0
    """The share of the target probability that is spread evenly over the vocabulary, or over all labels."""
    depth_decay: float = 1.0
    """Discriminative learning rates: the factor from each layer to the one below it, from the head down; 1 for none."""
    unfreeze_every: float = 0.0
    """Gradual unfreezing: epochs after which one more layer is trained, from the head down; 0 trains all at once."""
    batch_sentences: int = 64
    """Maximum number of sentences in a batch; for continuous text, the number of parallel streams."""
    batch_tokens: int = 4000
    """Maximum tokens in a batch, of the longer side, with padding; continuous text has data.steps per stream."""
    accumulate: int = 1
    """Batches per update (gradient accumulation)."""
    precision: str = "32"
    """The precision: 32, or mixed: bf16 or 16."""
    device: str = "auto"
    """The device: cpu, cuda, or auto (a GPU if there is one)."""
    threads: int = 0
    """The number of threads; 0 on a CPU for as many as the model's size and the machine's load suggest."""
    max_updates: int = 0
    """Stop after this number of updates; 0 for no limit."""
    max_epochs: float = 0.0
    """Stop after this number of passes over the data; 0 for no limit."""
    max_minutes: float = 0.0
    """Stop after this number of minutes; 0 for no limit."""
    validate_every: int = 0
    """Updates from one validation to the next; 0 for once per epoch."""
    validation_sentences: int = 500
    """Validation sentences, at even intervals, that are decoded for BLEU and the like; the loss is of all of them."""
    select: str = "loss"
    """The score that selects the best checkpoint: loss, or another validation score, such as bleu or accuracy."""
    patience: int = 0
    """Early stopping: stop after this number of validations without improvement; 0 for never."""
    start_from: str = ""
    """The folder of a trained model of this task (--from): the run starts from its weights, tokenizers and labels."""
    extend_vocabulary: bool = False
    """Add the words, characters and labels that only the new data have to those of training.start_from."""
    prepare_above: float = 128.0
    """Megabytes of training text above which it is prepared as a store first, in FOLDER/data; 0 for never."""
    checkpoint_minutes: float = 10.0
    """Minutes from one checkpoint to the next, beside those at validations; 0 for validations only."""
    keep_last: int = 2
    """Checkpoints to keep, from the newest on; a damaged one is replaced by the one before it when a run is resumed."""
    keep_best: int = 1
    """Best checkpoints to keep in checkpoints/, by training.select; the best of them is always best.safetensors."""
    moving_average: float = 0.0
    """Decay of a moving average of the weights, as 0.999, that is validated and saved in their place; 0 for none."""
    average_best: int = 0
    """At the end, average this many of the best checkpoints; the mean is the best model if it validates better."""
    seed: int = 1
    """The random seed of weights, batch order and dropout."""
    split_seed: int = 0
    """The random seed of the validation split, where validation examples are split off; 0 for training.seed."""
    tensorboard: bool = False
    """Also write TensorBoard files, beside the training log."""

    def __post_init__(self) -> None:
        one_of("training.optimizer", self.optimizer, OPTIMIZERS)
        one_of("training.schedule", self.schedule, SCHEDULES)
        one_of("training.normalize", self.normalize, ("tokens", "sentences"))
        one_of("training.precision", self.precision, PRECISIONS)
        one_of("training.device", self.device, DEVICES)
        for name in (
            *("batch_sentences", "batch_tokens", "accumulate", "validation_sentences"),
            *("keep_last", "keep_best"),
        ):
            in_range(f"training.{name}", getattr(self, name), 1)
        for name in (
            *("learning_rate", "weight_decay", "warmup", "decay_from", "clip", "unfreeze_every"),
            *("max_updates", "max_epochs", "max_minutes", "validate_every", "patience"),
            *("checkpoint_minutes", "average_best", "prepare_above"),
        ):
            in_range(f"training.{name}", getattr(self, name), 0)
        in_range("training.threads", self.threads, 0, MAX_THREADS)
        for name in ("seed", "split_seed"):
            in_range(f"training.{name}", getattr(self, name), 0, 2**32 - 1)
        in_range("training.momentum", self.momentum, 0, below=1)
        in_range("training.moving_average", self.moving_average, 0, below=1)
        if self.momentum and self.optimizer != "sgd":
            raise ConfigError(
                f"training.momentum is for sgd, and training.optimizer is {self.optimizer}; leave it out"
            )
        if self.weight_decay and self.optimizer not in ("adamw", "sgd"):
            raise ConfigError(
                f"training.weight_decay is for adamw and sgd, and training.optimizer is {self.optimizer}; "
                "leave it out, or choose adamw"
            )
        if self.extend_vocabulary and not self.start_from:
            raise ConfigError(
                "training.extend_vocabulary adds to the vocabulary of a trained model; name its folder, as --from MODEL"
            )
        if not self.decay_every > 0:
            raise ConfigError(f"training.decay_every: {self.decay_every:g}; it must be above 0")
        in_range("training.decay_factor", self.decay_factor, 0, 1)
        in_range("training.plateau_decay", self.plateau_decay, 0, 1)
        in_range("training.depth_decay", self.depth_decay, 0, 1)
        in_range("training.label_smoothing", self.label_smoothing, 0, below=1)
        if not (self.max_updates or self.max_epochs or self.max_minutes or self.patience):
            raise ConfigError(
                "training: nothing ends the run; set max_updates, max_epochs, max_minutes or patience"
            )
        if self.schedule in ("linear", "cosine") and self.open_ended:
            raise ConfigError(
                f'training.schedule = "{self.schedule}" falls to zero at the end; '
                "set max_updates, max_epochs or max_minutes"
            )

    @property
    def seed_of_split(self) -> int:
        """The seed with which validation examples are split off."""
        return self.split_seed or self.seed

    @property
    def open_ended(self) -> bool:
        """Whether patience alone ends the run, so that its length is unknown."""
        return not (self.max_updates or self.max_epochs or self.max_minutes)


@dataclass(frozen=True)
class RunConfig(Config):
    """A training run; ``task`` names which of `TASKS`, by default the first."""

    task: ClassVar[str]

    data: Any
    tokenizer: Any
    model: Any
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(max_epochs=10))

    def __post_init__(self) -> None:
        one_of("training.select", self.training.select, self.selections())

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """The scores of its validation that ``training.select`` can name, by their keys in `METRICS`."""
        return ("loss",)

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


def check_pair_files(train: Sequence[str], valid: Sequence[str], columns: Sequence[str]) -> None:
    """Raise where the files of sentence pairs, or the columns of a tab-separated one, are too many or too few."""
    for name, files in (("train", train), ("valid", valid)):
        if len(files) > 2:
            raise ConfigError(f"data.{name}: {len(files)} files; give two parallel ones, or one TSV")
    if len(columns) not in (0, 2):
        raise ConfigError(
            f"data.columns: [{', '.join(map(str, columns))}]; give two columns, source and target, as [1, 2]"
        )


@dataclass(frozen=True)
class TextTokenizerConfig(Config):
    """The tokenizer of a task with one text."""

    text: str = "word"
    """The kind of tokens: char, word, bpe or unigram."""
    text_size: int = 10_000
    """Maximum size of the vocabulary."""
    min_frequency: int = 1
    """How often a word must occur to be in the vocabulary."""
    lowercase: bool = False
    """Lowercase all text first."""
    normalize: str = "nfc"
    """The Unicode form of the text: nfc, nfd (composed characters and Hangul syllables in parts), nfkc or none."""

    def __post_init__(self) -> None:
        one_of("tokenizer.text", self.text, KINDS)
        in_range("tokenizer.text_size", self.text_size, 5, MAX_SIZE)
        in_range("tokenizer.min_frequency", self.min_frequency, 1)
        one_of("tokenizer.normalize", self.normalize, NORMALIZATIONS)


@dataclass(frozen=True)
class PretrainedEncoderConfig(Config):
    """The trained language model that the encoder starts from."""

    encoder: str = ""
    """The folder of a language model: the encoder takes its cell, sizes and weights, and the run its tokenizer."""


def refuse_reversed_pretrained(pretrained: PretrainedEncoderConfig, encoder: EncoderConfig) -> None:
    """Raise where an encoder that reads backwards would start from a language model, which reads forwards."""
    if pretrained.encoder and encoder.reverse:
        raise ConfigError(
            "model.encoder.reverse reads from the last word to the first, and the language model of pretrained.encoder "
            "read the other way; leave one of the two out"
        )


@dataclass(frozen=True)
class LabelRunConfig(RunConfig):
    """A run of a task that predicts labels with an encoder, which may start from a language model."""

    pretrained: PretrainedEncoderConfig = field(default_factory=PretrainedEncoderConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_reversed_pretrained(self.pretrained, self.model.encoder)
        if self.training.unfreeze_every and not self.pretrained.encoder:
            raise ConfigError(
                f"training.unfreeze_every = {self.training.unfreeze_every:g} keeps the encoder frozen at first, and "
                "its weights are random; name a language model's folder, as --set pretrained.encoder=FOLDER, or set "
                "training.unfreeze_every to 0"
            )
