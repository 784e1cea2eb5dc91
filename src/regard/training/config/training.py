"""What a training run is: data, tokenizers, model, training. One TOML file says it all.

preset = "rnnsearch-small"        # where to start from; everything below overrides it
[data]
train = ["train.de", "train.en"]  # two parallel files, or one tab-separated file
valid = ["val.de", "val.en"]
[tokenizer]
source = "word"
[model.decoder]
energy = "dot"
[training]
max_epochs = 10
"""

from dataclasses import dataclass, field

from regard.configuration import Config, in_range, one_of
from regard.device import DEVICES
from regard.errors import ConfigError
from regard.models import ModelConfig
from regard.text import KINDS

OPTIMIZERS = ("adam", "adamw", "sgd", "adadelta")
SCHEDULES = ("constant", "linear", "cosine", "inverse-sqrt", "halving", "plateau")
PRECISIONS = ("32", "bf16", "16")
SELECTIONS = ("loss", "bleu", "chrf", "exact_match")


@dataclass(frozen=True)
class DataConfig(Config):
    """Where the pairs come from, and which are fit to learn from."""

    train: tuple[str, ...] = ()
    """Two parallel files, source first, or one tab-separated file; .gz, .xz and .bz2 are read as they are."""
    valid: tuple[str, ...] = ()
    """The validation pairs, likewise; without any, some training pairs are set aside."""
    columns: tuple[int, ...] = ()
    """Where source and target stand in a tab-separated file, counted from 1; the first two by default."""
    max_length: int = 100
    """Training pairs with a side of more tokens are left out, and counted."""
    max_ratio: float = 0.0
    """Training pairs with one side so many times longer than the other are left out; 0 for no limit."""
    drop_duplicates: bool = False
    """Leave out training pairs seen before."""

    def __post_init__(self) -> None:
        for name in ("train", "valid"):
            if len(getattr(self, name)) > 2:
                raise ConfigError(
                    f"data.{name}: {len(getattr(self, name))} files; give two parallel ones, or one TSV"
                )
        if len(self.columns) not in (0, 2):
            raise ConfigError(
                f"data.columns: {list(self.columns)}; give two columns, source and target, as [1, 2]"
            )
        in_range("data.max_length", self.max_length, 1)
        if self.max_ratio:
            in_range("data.max_ratio", self.max_ratio, 1)


@dataclass(frozen=True)
class TokenizerConfig(Config):
    """How lines become tokens, on each side."""

    source: str = "bpe"
    """char, word, bpe or unigram."""
    target: str = "bpe"
    """char, word, bpe or unigram."""
    source_size: int = 8000
    """The most tokens of the source vocabulary."""
    target_size: int = 8000
    """The most tokens of the target vocabulary."""
    min_frequency: int = 1
    """How often a word must occur to have a token of its own."""
    lowercase: bool = False
    """Lower all text before all else."""
    shared: bool = False
    """One vocabulary, learnt from both sides; needs equal kinds and sizes."""

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            one_of(f"tokenizer.{side}", getattr(self, side), KINDS)
            in_range(f"tokenizer.{side}_size", getattr(self, f"{side}_size"), 5)
        in_range("tokenizer.min_frequency", self.min_frequency, 1)
        if self.shared and (self.source, self.source_size) != (self.target, self.target_size):
            raise ConfigError(
                "tokenizer.shared: one vocabulary for both sides needs equal kinds and sizes of both"
            )


@dataclass(frozen=True)
class TrainingConfig(Config):
    """How the model learns, when it is looked at, and when it stops."""

    optimizer: str = "adam"
    """adam, adamw, sgd or adadelta."""
    rate: float = 0.001
    """The learning rate at its highest."""
    momentum: float = 0.0
    """Of sgd."""
    weight_decay: float = 0.0
    """Of adamw and sgd."""
    schedule: str = "constant"
    """constant; linear and cosine fall to zero at the last update; inverse-sqrt; halving; plateau."""
    warmup: int = 0
    """Over so many updates the rate rises from zero; over a tenth of the run where that is less."""
    halve_from: float = 0.0
    """Of the schedule halving: the epoch after which the rate is first halved."""
    halve_every: float = 1.0
    """Of the schedule halving: the epochs between two halvings."""
    plateau_decay: float = 0.5
    """Of the schedule plateau: the factor after a validation that did not improve."""
    clip: float = 1.0
    """The greatest norm of the gradient; 0 for no limit."""
    normalize: str = "tokens"
    """What the loss is a mean over: tokens, or sentences as the first papers had it."""
    label_smoothing: float = 0.0
    """The share of probability spread evenly over the whole vocabulary."""
    batch_sentences: int = 64
    """The most sentences in a batch."""
    batch_tokens: int = 4000
    """The most tokens in a batch, of the longer side, padding counted."""
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
    """How many validation sentences are translated freely each time; the loss is of all."""
    select: str = "loss"
    """What makes a checkpoint the best: loss, bleu, chrf or exact_match."""
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
        one_of("training.select", self.select, SELECTIONS)
        for name in ("batch_sentences", "batch_tokens", "accumulate", "validation_sentences"):
            in_range(f"training.{name}", getattr(self, name), 1)
        for name in (
            *("rate", "weight_decay", "warmup", "halve_from", "clip"),
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
        if not self.halve_every > 0:
            raise ConfigError(f"training.halve_every: {self.halve_every:g}; it must be above 0")
        in_range("training.plateau_decay", self.plateau_decay, 0, 1)
        in_range("training.label_smoothing", self.label_smoothing, 0, below=1)
        if not (self.max_updates or self.max_epochs or self.max_minutes or self.patience):
            raise ConfigError(
                "training: it would never end; set max_updates, max_epochs, max_minutes or patience"
            )
        endless = not (self.max_updates or self.max_epochs or self.max_minutes)
        if self.schedule in ("linear", "cosine") and endless:
            raise ConfigError(
                f'training.schedule = "{self.schedule}" falls to zero at the end; '
                "set max_updates, max_epochs or max_minutes"
            )


@dataclass(frozen=True)
class RunConfig(Config):
    """A whole training run."""

    data: DataConfig = field(default_factory=DataConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(max_epochs=10))

    def __post_init__(self) -> None:
        if self.model.tie == "all" and not self.tokenizer.shared:
            raise ConfigError(
                'model.tie = "all" shares one matrix over both vocabularies; set tokenizer.shared = true'
            )
