"""The configuration of a run of the task ``translate``: sentence pairs, tokenizers, model, auxiliary losses."""

from dataclasses import dataclass, field

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.evaluation.metrics import selectable, validation_metrics
from regard.models import ModelConfig
from regard.tasks.config import (
    PretrainedEncoderConfig,
    RunConfig,
    check_pair_files,
    refuse_reversed_pretrained,
)
from regard.text import KINDS, NORMALIZATIONS
from regard.text.tokenizer import MAX_SIZE


@dataclass(frozen=True)
class DataConfig(Config):
    """The files of the pairs, and the filters of the training pairs."""

    train: tuple[str, ...] = ()
    """Two parallel files, source first, or one tab-separated file; also .gz, .xz or .bz2."""
    valid: tuple[str, ...] = ()
    """The validation pairs, in the same form; without any, some training pairs are split off."""
    columns: tuple[str, ...] = ()
    """Columns of source and target in a tab-separated file, numbers from 1 or names of its header row."""
    features: str = "0"
    """Column of the source's features (pos=V,num=SG or V;PST;3;SG), in the same way; 0 recognises it."""
    train_links: str = ""
    """The training pairs' gold links (Pharaoh: 0-0 1-2; NAACL; Giza), for auxiliary_losses.guided_alignment."""
    aligner: str = ""
    """The folder of an aligner whose links of the training pairs guide attention (--guided)."""
    max_length: int = 100
    """Training pairs with more tokens than this on one side are left out; a note says how many."""
    max_ratio: float = 0.0
    """Training pairs with one side this many times longer than the other are left out; 0 for no limit."""
    drop_duplicates: bool = False
    """Leave out repeated training pairs."""
    rename_symbols: bool = False
    """Each time a training pair is read, exchange its symbols at random, on both sides alike (as abb→BBA, xyy→YYX)."""

    def __post_init__(self) -> None:
        check_pair_files(self.train, self.valid, self.columns)
        in_range("data.max_length", self.max_length, 1)
        if self.max_ratio:
            in_range("data.max_ratio", self.max_ratio, 1)


@dataclass(frozen=True)
class TokenizerConfig(Config):
    """How lines become tokens, on each side."""

    source: str = "bpe"
    """The kind of source tokens: char, word, bpe or unigram."""
    target: str = "bpe"
    """The kind of target tokens: char, word, bpe or unigram."""
    source_size: int = 8000
    """Maximum size of the source vocabulary."""
    target_size: int = 8000
    """Maximum size of the target vocabulary."""
    min_frequency: int = 1
    """How often a word must occur to be in the vocabulary."""
    lowercase: bool = False
    """Lowercase all text first."""
    normalize: str = "nfc"
    """The Unicode form of both sides: nfc, nfd (composed characters and Hangul syllables in parts), nfkc or none."""
    shared: bool = False
    """One vocabulary for both sides, trained on both; needs equal kinds and sizes."""
    dropout: float = 0.0
    """The probability of leaving out a merge of bpe each time a training pair is read (Provilkov et al. 2020)."""

    def __post_init__(self) -> None:
        in_range("tokenizer.dropout", self.dropout, 0, 1)
        if self.dropout and "bpe" not in (self.source, self.target):
            raise ConfigError(
                f"tokenizer.dropout leaves out merges of bpe, and the tokens are {self.source} and {self.target}; set "
                'tokenizer.dropout = 0, or tokenizer.source = "bpe" or tokenizer.target = "bpe"'
            )
        for side in ("source", "target"):
            one_of(f"tokenizer.{side}", getattr(self, side), KINDS)
            in_range(f"tokenizer.{side}_size", getattr(self, f"{side}_size"), 5, MAX_SIZE)
        in_range("tokenizer.min_frequency", self.min_frequency, 1)
        one_of("tokenizer.normalize", self.normalize, NORMALIZATIONS)
        if self.shared and (self.source, self.source_size) != (self.target, self.target_size):
            raise ConfigError(
                "tokenizer.shared: one vocabulary for both sides needs equal kinds and sizes of both"
            )


@dataclass(frozen=True)
class AuxiliaryLossConfig(Config):
    """Auxiliary losses; and scheduled sampling, which changes what the decoder reads, not the loss."""

    guided_alignment: float = 0.0
    """The weight of the loss −Σ G log α, with given links G; needs data.train_links or data.aligner."""
    coverage: float = 0.0
    """The weight of the loss Σ min(α, coverage), against attending to a word twice (See et al. 2017)."""
    consistency: float = 0.0
    """The weight of the divergence between two predictions of each pair, with other dropout (R-Drop, Liang 2021)."""
    scheduled_sampling: float = 0.0
    """The final probability that the decoder reads a word sampled from itself in place of the reference's word."""
    sampling_schedule: str = "linear"
    """How that probability grows over the run: linear, or sigmoid (slow, fast, slow)."""

    def __post_init__(self) -> None:
        in_range("auxiliary_losses.guided_alignment", self.guided_alignment, 0)
        in_range("auxiliary_losses.coverage", self.coverage, 0)
        in_range("auxiliary_losses.consistency", self.consistency, 0)
        in_range("auxiliary_losses.scheduled_sampling", self.scheduled_sampling, 0, 1)
        one_of("auxiliary_losses.sampling_schedule", self.sampling_schedule, ("linear", "sigmoid"))


@dataclass(frozen=True)
class PretrainedConfig(PretrainedEncoderConfig):
    """The trained language models that encoder and decoder start from."""

    encoder: str = ""
    """The folder of a language model of the source, whose weights the encoder starts from."""
    decoder: str = ""
    """The folder of a language model of the target, whose weights the decoder starts from."""


@dataclass(frozen=True)
class TranslateRun(RunConfig):
    """A whole run of the task ``translate``."""

    task = "translate"

    data: DataConfig = field(default_factory=DataConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    auxiliary_losses: AuxiliaryLossConfig = field(default_factory=AuxiliaryLossConfig)
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)

    @classmethod
    def selections(cls) -> tuple[str, ...]:
        """See `RunConfig.selections`."""
        return selectable(validation_metrics())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.tie == "all" and not self.tokenizer.shared:
            raise ConfigError(
                'model.tie = "all" shares one matrix over both vocabularies; set tokenizer.shared = true'
            )
        if self.model.tie == "all" and self.pretrained.encoder != self.pretrained.decoder:
            raise ConfigError(
                'model.tie = "all" shares one matrix over both vocabularies, and language models bring their own; name '
                "the same one as pretrained.encoder and pretrained.decoder, or tie less"
            )
        refuse_reversed_pretrained(self.pretrained, self.model.encoder)
        if self.pretrained.decoder and self.model.decoder.kind == "cho":
            raise ConfigError(
                "pretrained.decoder: a cho decoder reads the source's vector with every word, and no language model "
                "did; choose bahdanau, luong or sutskever, or drop it"
            )
        for name in ("train_links", "aligner"):
            if getattr(self.data, name) and not self.auxiliary_losses.guided_alignment:
                raise ConfigError(
                    f"data.{name}: links are used by auxiliary_losses.guided_alignment only, and that is 0; set it "
                    "(to 0.5, say), or drop the links"
                )
        if self.tokenizer.dropout and self.auxiliary_losses.guided_alignment:
            raise ConfigError(
                "tokenizer.dropout and auxiliary_losses.guided_alignment: links are between tokens, and these change "
                "each time they are read; leave one of them out"
            )
        if self.data.train_links and self.data.aligner:
            raise ConfigError("data.train_links and data.aligner: links from both; leave one of them out")
        if self.auxiliary_losses.scheduled_sampling and self.training.open_ended:
            raise ConfigError(
                "auxiliary_losses.scheduled_sampling grows to the end of the run, and patience alone says no end; set "
                "training.max_updates, max_epochs or max_minutes"
            )
        attends = self.model.decoder.attends
        if self.model.alignment_size and not self.auxiliary_losses.guided_alignment:
            raise ConfigError(
                f"model.alignment_size = {self.model.alignment_size}: an alignment attention learns from links; name "
                "an aligner with --guided, or links with data.train_links and auxiliary_losses.guided_alignment"
            )
        for name in ("guided_alignment", "coverage"):
            if getattr(self.auxiliary_losses, name) and not attends:
                raise ConfigError(
                    f"auxiliary_losses.{name} is of attention, and a {self.model.decoder.kind} decoder has none; "
                    "drop it, or choose bahdanau or luong"
                )
