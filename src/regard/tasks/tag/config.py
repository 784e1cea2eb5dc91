"""The configuration of the task ``tag``: words with their tags, a tokenizer of words, a tagger."""

from dataclasses import dataclass, field

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import label_metrics, selectable
from regard.models import TaggerConfig
from regard.tasks.config import LabelRunConfig, TextTokenizerConfig

LAYOUTS = ("lines", "vertical")


@dataclass(frozen=True)
class TaggedDataConfig(Config):
    """The files of tagged sentences, and their filter."""

    train: tuple[str, ...] = ()
    """Two parallel files, words first, or one file; also .gz, .xz or .bz2."""
    valid: tuple[str, ...] = ()
    """The validation files, of the same form; without them, some sentences are split off the training files."""
    layout: str = "lines"
    """lines: one sentence per line, words and tags in two files or two columns; vertical: one word per line (CoNLL)."""
    columns: tuple[str, ...] = ()
    """Columns of words and tags in one file, numbers from 1 or names of its header row; by default the first two."""
    max_length: int = 200
    """Training sentences with more words than this are left out; a note says how many."""

    def __post_init__(self) -> None:
        one_of("data.layout", self.layout, LAYOUTS)
        most = 1 if self.layout == "vertical" else 2
        for name in ("train", "valid"):
            if len(getattr(self, name)) > most:
                remedy = "give one, with a word and its tag per line"
                if most == 2:
                    remedy = "give two parallel ones, words first, or one TSV"
                raise ConfigError(f"data.{name}: {len(getattr(self, name))} files; {remedy}")
        if len(self.columns) not in (0, 2):
            raise ConfigError(
                f"data.columns: [{', '.join(map(str, self.columns))}]; give two columns, of the words and of the "
                "tags, as [1, 2]"
            )
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class TagRun(LabelRunConfig):
    """A whole run of the task ``tag``."""

    task = "tag"

    data: TaggedDataConfig = field(default_factory=TaggedDataConfig)
    tokenizer: TextTokenizerConfig = field(default_factory=TextTokenizerConfig)
    model: TaggerConfig = field(default_factory=TaggerConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return selectable(dict(label_metrics()))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer.text != "word":
            raise ConfigError(
                f'tokenizer.text = "{self.tokenizer.text}" cuts words into pieces, and a tag belongs to a word; leave '
                'it at "word"'
            )
