"""The configuration of the task ``align``: sentence pairs, tokenizers of words, an aligner, its losses."""

from dataclasses import dataclass, field

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.models import AlignerConfig
from regard.tasks.config import RunConfig, check_pair_files
from regard.text import NORMALIZATIONS
from regard.text.tokenizer import MAX_SIZE

TEACHERS = ("own", "agreement")


@dataclass(frozen=True)
class AlignedDataConfig(Config):
    """The files of the pairs, and the filter of the training pairs."""

    train: tuple[str, ...] = ()
    """Two parallel files, source first, or one tab-separated file, words separated by blanks; also .gz, .xz or .bz2."""
    valid: tuple[str, ...] = ()
    """The validation pairs, in the same form; without any, some training pairs are split off."""
    columns: tuple[str, ...] = ()
    """Columns of source and target in a tab-separated file, numbers from 1 or names of its header row."""
    valid_links: str = ""
    """Gold links of the validation pairs (Pharaoh, NAACL or Giza); the alignment error rate is then measured."""
    max_length: int = 100
    """Training pairs with more words than this on one side are left out; a note says how many."""

    def __post_init__(self) -> None:
        check_pair_files(self.train, self.valid, self.columns)
        if self.valid_links and not self.valid:
            raise ConfigError(
                f"data.valid_links: {self.valid_links} has the links of validation pairs; name their files with --valid"
            )
        in_range("data.max_length", self.max_length, 1)


@dataclass(frozen=True)
class WordTokenizerConfig(Config):
    """The vocabularies of both sides; tokens are words."""

    source_size: int = 50_000
    """Maximum size of the source vocabulary."""
    target_size: int = 50_000
    """Maximum size of the target vocabulary."""
    min_frequency: int = 1
    """How often a word must occur to be in the vocabulary."""
    lowercase: bool = True
    """Lowercase all text first; links are of the words as they are."""
    normalize: str = "nfc"
    """The Unicode form of both sides: nfc, nfd, nfkc or none."""

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            in_range(f"tokenizer.{side}_size", getattr(self, f"{side}_size"), 5, MAX_SIZE)
        in_range("tokenizer.min_frequency", self.min_frequency, 1)
        one_of("tokenizer.normalize", self.normalize, NORMALIZATIONS)


@dataclass(frozen=True)
class AlignerLossConfig(Config):
    """The losses of the network; the hidden Markov models are estimated before and stay as they are."""

    guided: float = 1.0
    """The weight of −Σ G log α, with G the links that the hidden Markov models expect."""
    teacher: str = "own"
    """Which links each direction learns: those of the hidden Markov model of its own direction (own), or √(α→ α←), on
    which both agree (agreement)."""
    translation: float = 0.0
    """The weight of −log p(target word ∣ what attention reads); needs model.output."""
    agreement: float = 0.0
    """The weight of Σ (α→ − α←)², against directions that disagree."""
    coverage: float = 0.0
    """The weight of Σ min(α, coverage), against attending to a word twice (See et al. 2017)."""

    def __post_init__(self) -> None:
        for name in ("guided", "translation", "agreement", "coverage"):
            in_range(f"losses.{name}", getattr(self, name), 0)
        one_of("losses.teacher", self.teacher, TEACHERS)
        if not self.guided and not self.translation:
            raise ConfigError(
                "losses: nothing says what is right; set losses.guided or losses.translation above 0"
            )


@dataclass(frozen=True)
class AlignRun(RunConfig):
    """A whole run of the task ``align``."""

    task = "align"

    data: AlignedDataConfig = field(default_factory=AlignedDataConfig)
    tokenizer: WordTokenizerConfig = field(default_factory=WordTokenizerConfig)
    model: AlignerConfig = field(default_factory=AlignerConfig)
    losses: AlignerLossConfig = field(default_factory=AlignerLossConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return ("loss", "aer")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.training.select == "aer" and not self.data.valid_links:
            raise ConfigError(
                'training.select = "aer" needs gold links of the validation pairs; name their file with '
                "data.valid_links, or select by loss"
            )
        if self.training.start_from:
            raise ConfigError(
                f"training.start_from: {self.training.start_from}: an aligner is estimated from its own pairs and does "
                "not start from another; leave --from out"
            )
        if bool(self.losses.translation) != self.model.output:
            raise ConfigError(
                f"losses.translation = {self.losses.translation:g} and model.output = {str(self.model.output).lower()} "
                "do not go together: a loss of translation needs the output, and nothing else trains it"
            )
