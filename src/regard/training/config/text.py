"""What the tasks of one text have in common: how its lines become tokens, and which model its encoder begins as."""

from dataclasses import dataclass

from regard.configuration import Config, in_range, one_of
from regard.errors import ConfigError
from regard.models import EncoderConfig
from regard.text import KINDS
from regard.training.config.training import TrainingConfig


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


def thaws_what_is_trained(pretrained: PretrainedEncoderConfig, training: TrainingConfig) -> None:
    """Raise where layers that no one has trained are to lie frozen while the head learns."""
    if training.thaw_every and not pretrained.encoder:
        raise ConfigError(
            f"training.thaw_every = {training.thaw_every:g} keeps the encoder as it begins for a while, and it begins "
            "as no trained model; name a language model's folder, as --set pretrained.encoder=FOLDER, or set "
            "training.thaw_every to 0"
        )
