"""A run that learns to tag: words and their tags, a tokenizer of words, a tagger."""

from dataclasses import dataclass, field
from typing import ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.models import TaggerConfig
from regard.tasks.config import (
    PretrainedEncoderConfig,
    RunConfig,
    TextTokenizerConfig,
    forwards_only,
    unfreezes_what_is_trained,
)

LAYOUTS = ("lines", "vertical")


@dataclass(frozen=True)
class TaggedDataConfig(Config):
    """Where the tagged sentences come from, and which are fit to learn from."""

    train: tuple[str, ...] = ()
    """Two parallel files, words first, or one file; .gz, .xz and .bz2 are read as they are."""
    valid: tuple[str, ...] = ()
    """The validation sentences, likewise; without any, some training sentences are set aside."""
    layout: str = "lines"
    """lines, a sentence each, words and tags in two files or two columns; vertical, a word a line, as CoNLL's."""
    columns: tuple[int, ...] = ()
    """Where words and tags stand in one file, counted from 1; the first two by default."""
    max_length: int = 200
    """Training sentences of more words are left out, and counted."""

    def __post_init__(self) -> None:
        one_of("data.layout", self.layout, LAYOUTS)
        most = 1 if self.layout == "vertical" else 2
        for name in ("train", "valid"):
            if len(getattr(self, name)) > most:
                remedy = "give one, a word and its tag on each line"
                if most == 2:
                    remedy = "give two parallel ones, words first, or one TSV"
                raise ConfigError(f"data.{name}: {len(getattr(self, name))} files; {remedy}")
        if len(self.columns) not in (0, 2):
            raise ConfigError(
                f"data.columns: {list(self.columns)}; give two columns, of the words and of the tags, as [1, 2]"
            )
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class TagRun(RunConfig):
    """A whole run of the task ``tag``."""

    task = "tag"
    selections: ClassVar[tuple[str, ...]] = ("loss", "accuracy", "sentence_accuracy")

    data: TaggedDataConfig = field(default_factory=TaggedDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: TaggerConfig = field(default_factory=TaggerConfig)
    pretrained: PretrainedEncoderConfig = field(default_factory=PretrainedEncoderConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer.text != "word":
            raise ConfigError(
                f'tokenizer.text = "{self.tokenizer.text}" cuts words into pieces, and a tag belongs to a word; leave '
                'it at "word"'
            )
        forwards_only(self.pretrained, self.model.encoder)
        unfreezes_what_is_trained(self.pretrained, self.training)
