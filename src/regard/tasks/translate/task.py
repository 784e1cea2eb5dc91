"""The task of translation: sentence pairs, two tokenizers, an encoder–decoder.

In: `SentencePair`s, read or given. Out: a `Task`: tokenizers trained on the two sides, pairs encoded and filtered,
the objective, a teacher-forced and free-running validation. Nothing is dropped in silence: the notes say what the
filters left out. The encoder and the decoder may start from trained language models (Ramachandran et al. 2017), whose
tokenizers are then used, since the weights belong to those ids.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from regard.batches import PairBatch, batch_by_length, pad_pairs
from regard.checkpoint import LoadedModel
from regard.config import toml_value
from regard.errors import ConfigError, DataError
from regard.layers import BidirectionalStack
from regard.models import LanguageModelConfig, Seq2Seq, StackConfig
from regard.models.transfer import copy_pretrained
from regard.processes import ALONE, Processes
from regard.tasks.align.predictor import Aligner
from regard.tasks.base import Prepared, Task, Validation, Vocabulary, spread_by_length
from regard.tasks.generation import (
    MeasuredGeneration,
    check_selection,
    measure_generation,
    summarize_generation,
)
from regard.tasks.preparation import is_prepared, open_prepared
from regard.tasks.pretrained import load_pretrained
from regard.tasks.train_valid_split import split_train_valid
from regard.tasks.translate.config import DataConfig, PretrainedConfig, TokenizerConfig, TranslateRun
from regard.tasks.translate.objective import TranslationObjective, mix_in_samples, sampled_share
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.renaming import Correspondence, find_correspondence, rename, share_written
from regard.text import (
    SPECIALS,
    BPEDropout,
    EncodedPair,
    FeaturedText,
    Filters,
    GoldLinks,
    SentencePair,
    Tokenizer,
    encode_pairs,
    match_tokens,
    parse_source,
    read_gold_links,
    read_pairs,
    train_tokenizer,
)
from regard.text.formats.layout import Column, parse_column

if TYPE_CHECKING:
    from regard.plots.page import ShownTranslation

MAX_GUIDED = 100_000
"""Words of a training line that an aligner aligns; longer ones are left out of training anyway."""

Example = SentencePair | tuple[Any, str]
"""A source and its translation; a source is a text, or (text, features) as ("run", "V;PST")."""


@dataclass(frozen=True)
class PreparedPairs(Prepared[EncodedPair]):
    """The data of a run.

    Attributes:
        valid_pairs: the validation pairs as text.
    """

    valid_pairs: Sequence[SentencePair] = ()


class TranslateTask(Task):
    """Sentence pairs, two tokenizers, an encoder–decoder.

    Args:
        config: the whole run.
        train: the training pairs; None reads the files of ``config.data``.
        valid: the validation pairs; None reads the files of ``config.data`` or, without any, splits some training
            pairs off.
        known: the vocabulary of the model that the run starts from.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "translate"
    examples = "pairs"
    model: Seq2Seq
    prepared: PreparedPairs

    def __init__(
        self,
        config: TranslateRun,
        train: Sequence[Example] | None = None,
        valid: Sequence[Example] | None = None,
        known: Vocabulary | None = None,
    ) -> None:
        recognised: list[str] = []
        self._trained = load_pretrained(config.pretrained)
        tokenizers = {half: loaded.tokenizers["text"] for half, loaded in self._trained.items()}
        if train is None and is_prepared(config.data.train):
            prepared = _open_store(config, valid, tokenizers, known)
        else:
            pairs, valid_pairs = _read_pairs(config, train, valid, recognised.append)
            prepared = prepare(
                pairs,
                valid_pairs,
                config.data,
                config.tokenizer,
                config.training.seed_of_split,
                tokenizers,
                known,
            )
        if config.auxiliary_losses.guided_alignment and all(pair.links is None for pair in prepared.train):
            raise ConfigError(
                "auxiliary_losses.guided_alignment needs links; name a file of them with data.train_links, or an "
                "aligner with --guided"
            )
        super().__init__(config, replace(prepared, notes=(*recognised, *prepared.notes)))
        check_selection(config.training.select, self.tokenizers["target"])
        self._generator: torch.Generator | None = None
        self._correspondence = self._find_correspondence() if config.data.rename_symbols else None
        self._dropouts = {
            side: BPEDropout(tokenizer, config.tokenizer.dropout, config.training.seed)
            for side, tokenizer in self.tokenizers.items()
            if config.tokenizer.dropout and tokenizer.kind == "bpe"
        }

    def _find_correspondence(self) -> Correspondence[int]:
        """Find which symbols can be renamed, and say how many."""
        pairs = [(pair.source_ids, pair.target_ids) for pair in self.prepared.train]
        found = find_correspondence(pairs)
        if not found.classes:
            raise ConfigError(
                "data.rename_symbols: no symbol of the target occurs in step with one of the source, so none can be "
                "renamed; set data.rename_symbols = false"
            )
        self.notes += (
            f"renaming: {len(found.pairs):,} source symbols are exchanged at random; "
            f"{100 * share_written(pairs, found):.0f} % of the target are written from them",
        )
        return found

    @property
    def sizes(self) -> Mapping[str, int]:
        """The two vocabularies."""
        return {side: tokenizer.size for side, tokenizer in self.tokenizers.items()}

    def build(self) -> Seq2Seq:
        """Make the model."""
        self.model = Seq2Seq(self.config.model, self.sizes["source"], self.sizes["target"])
        if self.model.copy_map is not None:
            self._match_vocabularies(self.model)
        self.notes += start_from_language_models(self.model, self._trained, self.config.pretrained)
        return self.model

    def _match_vocabularies(self, model: Seq2Seq) -> None:
        """Let the model copy what is written alike on both sides, and say how much that is."""
        copy_map = match_tokens(self.tokenizers["source"], self.tokenizers["target"])
        model.set_copy_map(copy_map)
        matched = sum(i >= len(SPECIALS) for i in copy_map)
        if not matched:
            raise ConfigError(
                "model.decoder.copy: no token of the source is a token of the target, so nothing can be copied; set "
                "model.decoder.copy = false, or tokenize both sides alike"
            )
        self.notes += (
            f"copying: {matched:,} of {len(copy_map) - len(SPECIALS):,} source tokens are target tokens, too",
        )

    def objective(self) -> nn.Module:
        """The loss of the target's tokens, with the auxiliary losses of attention."""
        return TranslationObjective(
            self.model,
            self.config.training.label_smoothing,
            guided_alignment=self.config.auxiliary_losses.guided_alignment,
            coverage=self.config.auxiliary_losses.coverage,
            consistency=self.config.auxiliary_losses.consistency,
        )

    def batch(self, members: Sequence[int]) -> PairBatch:
        """Some pairs, padded; each of them twice, where two predictions of it are compared."""
        pairs = [self._pair(k) for k in members]
        return pad_pairs(pairs * 2 if self.config.auxiliary_losses.consistency else pairs)

    def plan(self, epoch: int) -> Sequence[Sequence[int]]:
        """See `Task.plan`; where pairs are changed as they are read, the indices count on from epoch to epoch."""
        batches = super().plan(epoch)
        if not self._changes_pairs:
            return batches
        return [[k + epoch * self.num_train for k in members] for members in batches]

    @property
    def _changes_pairs(self) -> bool:
        """Whether a pair is another one in every epoch."""
        return self._correspondence is not None or bool(self._dropouts)

    def _pair(self, k: int) -> EncodedPair:
        """A training pair; where symbols are renamed or merges left out, the seed and k decide how."""
        pair = self.prepared.train[k % self.num_train]
        if not self._changes_pairs:
            return pair
        rng = random.Random(f"{self.config.training.seed} {k}")
        sides = {"source": pair.source_ids, "target": pair.target_ids}
        if self._correspondence is not None:
            renamed = rename((pair.source_ids, pair.target_ids), self._correspondence, rng)
            sides["source"], sides["target"] = renamed
        for side, dropout in self._dropouts.items():
            sides[side] = dropout.sample(sides[side], rng)
        return replace(pair, source_ids=sides["source"], target_ids=sides["target"])

    def loss(self, objective: nn.Module, batch: PairBatch, progress: float) -> Tensor:
        """The loss; with scheduled sampling, after some previous tokens were replaced by sampled ones."""
        auxiliary_losses = self.config.auxiliary_losses
        share = sampled_share(
            auxiliary_losses.scheduled_sampling, auxiliary_losses.sampling_schedule, progress
        )
        if share > 0:
            if self._generator is None:  # a separate one, so that dropout is that of a run without sampling
                self._generator = torch.Generator(batch.source_ids.device)
                self._generator.manual_seed(self.config.training.seed + self.processes.rank)
            batch = mix_in_samples(self.model, batch, share, self._generator)
            if auxiliary_losses.consistency:  # two predictions of the same words, after the same words
                batch = replace(batch, previous_ids=batch.previous_ids.chunk(2)[0].repeat(2, 1))
        loss: Tensor = objective(batch)
        return loss

    def carried(self) -> dict[str, Tensor]:
        """The state of the generator of scheduled sampling."""
        return {} if self._generator is None else {"sampling": self._generator.get_state()}

    def restore(self, carried: Mapping[str, Tensor], device: torch.device) -> None:
        """Go on sampling from that state."""
        if "sampling" in carried:
            self._generator = torch.Generator(device)
            self._generator.set_state(carried["sampling"])

    def validate(self, device: torch.device) -> Validation:
        """Teacher-forced and free-running."""
        return self.summarize([self.measure(device, ALONE)])

    def measure(self, device: torch.device, processes: Processes) -> MeasuredGeneration:
        """See `Task.measure`."""
        training = self.config.training
        translator = Translator(
            self.model,
            self.tokenizers["source"],
            self.tokenizers["target"],
            device=device.type,
            max_length=max(len(pair.source_ids) for pair in self.prepared.valid),
        )
        return measure_translator(
            translator,
            self.prepared.valid_pairs,
            self.prepared.valid,
            free_running=training.validation_sentences,
            batch_sentences=training.batch_sentences,
            batch_tokens=training.batch_tokens,
            processes=processes,
        )

    def summarize(self, measured: Sequence[MeasuredGeneration]) -> Validation:
        """See `Task.summarize`."""
        return summarize_generation(
            measured,
            self.tokenizers["target"],
            references=[pair.target for pair in self.prepared.valid_pairs],
            reference_ids=[pair.target_ids for pair in self.prepared.valid],
            select=self.config.training.select,
        )

    def show(self, predictor: Translator) -> "list[ShownTranslation]":
        """Translations with their attention."""
        from regard.tasks.translate.evaluation import show_translations

        chosen = spread_by_length([pair.length for pair in self.prepared.valid])
        pairs = [self.prepared.valid_pairs[k] for k in chosen]
        translations = predictor.translate([pair.input for pair in pairs])
        return show_translations(translations, [pair.target for pair in pairs], None)


def measure_translator(
    translator: Translator,
    pairs: Sequence[SentencePair],
    encoded: Sequence[EncodedPair],
    *,
    free_running: int,
    batch_sentences: int,
    batch_tokens: int,
    processes: Processes = ALONE,
) -> MeasuredGeneration:
    """Score a model in evaluation mode; its mode is restored afterwards.

    Args:
        translator: around the model in training.
        pairs: the validation pairs as text.
        encoded: the same pairs as ids.
        free_running: how many of them, at even intervals, to translate.
        batch_sentences: the most sentences in a batch.
        batch_tokens: the most tokens in a batch, of the longer side, padding counted.
        processes: those that share the work.
    """

    def batches(members: Sequence[int]) -> Iterator[PairBatch]:
        lengths = [encoded[k].length for k in members]
        for indices in batch_by_length(lengths, batch_sentences, batch_tokens):
            yield pad_pairs([encoded[members[k]] for k in indices]).to(translator.device)

    def generate(members: Sequence[int]) -> list[str]:
        return [each.text for each in translator.translate([pairs[k].input for k in members], beam=1)]

    return measure_generation(
        translator.model,
        batches=batches,
        generate=generate,
        num_examples=len(encoded),
        free_running=free_running,
        processes=processes,
    )


def _open_store(
    config: TranslateRun,
    valid: Sequence[Example] | None,
    trained: Mapping[str, Tokenizer],
    known: Vocabulary | None,
) -> PreparedPairs:
    """The data of a run whose training pairs are in a store.

    Raises:
        ConfigError: the run needs what a store does not have.
        DataError: the store is damaged, or there is nothing to validate with.
    """
    from regard.tasks.translate.preparation import PairPreparation

    for option, wanted in (
        ("data.rename_symbols", config.data.rename_symbols),
        ("auxiliary_losses.guided_alignment", config.auxiliary_losses.guided_alignment),
    ):
        if wanted:
            raise ConfigError(
                f"{option}: a store has ids and nothing else; leave it out, or train from the text itself"
            )
    sides = {"encoder": "source", "decoder": "target"}
    tokenizers = {sides[half]: tokenizer for half, tokenizer in trained.items()}
    opened = open_prepared(PairPreparation(config), known, tokenizers)
    pairs = opened.valid
    if valid is not None:
        pairs = parse_pairs(valid)
    elif config.data.valid:
        data, features = config.data, opened.tokenizers["source"].features
        pairs = read_corpus(data.valid, data.columns, data.features, known=features)
    kept, encoded, notes = _encode_valid(pairs, *opened.tokenizers.values())
    return PreparedPairs(
        opened.tokenizers,
        opened.store,
        encoded,
        (*opened.notes, *notes),
        mixture=opened.mixture,
        valid_pairs=kept,
    )


def _read_pairs(
    config: TranslateRun,
    train: Sequence[Example] | None,
    valid: Sequence[Example] | None,
    listener: Callable[[str], None],
) -> tuple[list[SentencePair], list[SentencePair] | None]:
    """The pairs as given, or else as the files have them."""
    data = config.data
    if train is None and not data.train:
        raise ConfigError(
            "data.train: no training pairs; name them with --train pairs.tsv, or --train a.de --train a.en"
        )

    def read(files: Sequence[str], known: Sequence[str] | None = None) -> list[SentencePair]:
        return read_corpus(files, data.columns, data.features, known=known, listener=listener)

    pairs = parse_pairs(train) if train is not None else read(data.train)
    if config.auxiliary_losses.guided_alignment and data.train_links:
        pairs = add_gold_links(pairs, data.train_links)
    if config.auxiliary_losses.guided_alignment and data.aligner:
        pairs = add_aligned_links(pairs, data.aligner, config.training.device)
        listener(f"attention is guided by the links of {data.aligner}")
    if valid is not None:
        return pairs, parse_pairs(valid)
    # the validation pairs have features if the training pairs have
    return pairs, read(data.valid, tuple(count_features(pairs))) if data.valid else None


def parse_pairs(examples: Iterable[Example]) -> list[SentencePair]:
    """`SentencePair`s, or tuples of a source and its translation, as the former."""
    return [item if isinstance(item, SentencePair) else _parse_pair(*item) for item in examples]


def _parse_pair(given: Any, target: str) -> SentencePair:
    source = parse_source(given)
    if isinstance(source, FeaturedText):
        return SentencePair(source.text, target, features=source.features)
    return SentencePair(source, target)


def count_features(pairs: Iterable[SentencePair]) -> Counter[str]:
    """The features of the sources, and how often each occurs; none where the pairs are plain.

    Raises:
        DataError: only some of the pairs have features, or all of them have blank ones.
    """
    counts: Counter[str] = Counter()
    with_features: set[bool] = set()
    for pair in pairs:
        counts.update(pair.features or ())
        with_features.add(pair.features is not None)
    if len(with_features) > 1:
        raise DataError("some sources have features and some have none; give all of them features, or none")
    if with_features == {True} and not counts:
        raise DataError("the features of all sources are blank; give some, or sources without")
    return counts


def read_corpus(
    files: Sequence[str],
    columns: Sequence[Column],
    features: Column = 0,
    *,
    known: Sequence[str] | None = None,
    listener: Callable[[str], None] = lambda note: None,
) -> list[SentencePair]:
    """Read the pairs of two parallel files or one tab-separated file.

    Args:
        files: two, or one.
        columns: of a tab-separated file, numbers from 1 or names of its header row; empty for the first two.
        features: the column of the features, in the same way; 0 recognises it.
        known: the features of the training pairs, where these are validation pairs.
        listener: is called with what was recognised.

    Raises:
        ConfigError: columns are named for two parallel files.
        DataError: a file or a line cannot be used, or there is none.
    """
    chosen = (columns[0], columns[1]) if columns else None
    given = None if parse_column(features) == 0 else features
    pairs = list(read_pairs(*files, columns=chosen, features=given, known=known, listener=listener))
    if len(files) == 1 and chosen is None:
        _refuse_labelled(files[0], pairs)
    if not pairs:
        raise DataError(
            f"{' and '.join(files)}: an empty corpus, without a line; give one sentence pair per line"
        )
    return pairs


_MAX_LABELS = 20
_MIN_LABELLED = 20
_TIMES = 5  # how often a label occurs, on average
_MIN_WORDS = 3  # of a labelled text, on average


def _refuse_labelled(path: str, pairs: Sequence[SentencePair]) -> None:
    """Raise where a file has labels before texts: few different sources of one word, each often, before longer targets.

    Raises:
        DataError: it has; naming the columns says that they are meant all the same.
    """
    labels = {pair.source.strip() for pair in pairs}
    if len(pairs) < _MIN_LABELLED or len(labels) > _MAX_LABELS or len(labels) * _TIMES > len(pairs):
        return
    words = sum(len(pair.target.split()) for pair in pairs)
    if words >= _MIN_WORDS * len(pairs) and all(len(label.split()) == 1 for label in labels):
        shown = ", ".join(sorted(labels)[:3])
        raise DataError(
            f"{path}: {len(labels)} different words ({shown}) before {len(pairs):,} longer texts, which looks like "
            "labelled texts: train a classifier with --task classify; if they are sources and targets, name their "
            "columns, as --columns 1 2"
        )


def add_gold_links(pairs: Sequence[SentencePair], path: str) -> list[SentencePair]:
    """The pairs with the gold links of a file, one line for each.

    Raises:
        DataError: the file, or a line of it, does not fit the pairs; see `read_gold_links`.
    """
    gold = read_gold_links(path, [(pair.source, pair.target) for pair in pairs])
    return [replace(pair, gold=links) for pair, links in zip(pairs, gold, strict=True)]


def add_aligned_links(pairs: Sequence[SentencePair], folder: str, device: str) -> list[SentencePair]:
    """The pairs with the links of an aligner.

    Args:
        pairs: without features.
        folder: of a model of the task ``align``, for the same sides.
        device: where to align.

    Raises:
        FolderError: there is no such aligner.
        DataError: the sources have features.
    """
    if any(pair.features is not None for pair in pairs):
        raise DataError("data.aligner: an aligner links words of plain text, and the sources have features")
    aligner = Aligner.load(folder, device=device, max_length=MAX_GUIDED)
    aligned = aligner.align_stream((pair.source, pair.target) for pair in pairs)
    return [
        replace(pair, gold=GoldLinks(each.links()["symmetrized"].links))
        for pair, each in zip(pairs, aligned, strict=True)
    ]


def prepare(
    train: Sequence[SentencePair],
    valid: Sequence[SentencePair] | None,
    data: DataConfig,
    config: TokenizerConfig,
    seed: int,
    trained: Mapping[str, Tokenizer] | None = None,
    known: Vocabulary | None = None,
) -> PreparedPairs:
    """Train tokenizers, encode, filter.

    Args:
        train: the training pairs.
        valid: the validation pairs; None splits some training pairs off.
        data: the filters.
        config: kinds and sizes of the tokenizers.
        seed: of the split.
        trained: the tokenizers of pretrained language models, for the encoder, the decoder or both.
        known: the vocabulary of the model that the run starts from.

    Raises:
        DataError: nothing is left to train on or to validate with.
    """
    notes: list[str] = []
    count_features([*train, *(valid or ())])
    if valid is None:
        train, valid, note = split_train_valid(train, [pair.input for pair in train], seed, what="pairs")
        notes.append(note)
    if known is None:
        source_tokenizer, target_tokenizer = make_tokenizers(train, config, trained or {})
    else:
        source_tokenizer, target_tokenizer = _known_tokenizers(train, config, known)
    filters = Filters(data.max_length, data.max_ratio or None, data.drop_duplicates)
    kept, report = filters.apply(encode_pairs(train, source_tokenizer, target_tokenizer))
    if report.removed:
        notes.append(f"training pairs: {report}")
    valid_pairs, encoded, left_out = _encode_valid(valid, source_tokenizer, target_tokenizer)
    return PreparedPairs(
        {"source": source_tokenizer, "target": target_tokenizer},
        kept,
        encoded,
        (*notes, *left_out),
        valid_pairs=valid_pairs,
    )


def _encode_valid(
    pairs: Sequence[SentencePair], source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> tuple[list[SentencePair], list[EncodedPair], list[str]]:
    """The validation pairs with text on both sides, as text and as ids, and a note about the others."""
    encoded = list(encode_pairs(pairs, source_tokenizer, target_tokenizer))
    real = [k for k, pair in enumerate(encoded) if pair.source_ids and pair.target_ids]
    if not real:
        raise DataError("the validation pairs are all empty; give some with text on both sides")
    left_out = len(encoded) - len(real)
    notes = [f"validation pairs: left out {left_out} with an empty side"] if left_out else []
    return [pairs[k] for k in real], [encoded[k] for k in real], notes


def _known_tokenizers(
    pairs: Sequence[SentencePair], config: TokenizerConfig, known: Vocabulary
) -> tuple[Tokenizer, Tokenizer]:
    """The two tokenizers of the model that a run starts from; one of both sides is extended by both."""
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    if config.shared:
        sources = targets = [*sources, *targets]
    return known.tokenizer("source", sources), known.tokenizer("target", targets)


def make_tokenizers(
    pairs: Sequence[SentencePair], config: TokenizerConfig, trained: Mapping[str, Tokenizer]
) -> tuple[Tokenizer, Tokenizer]:
    """The two tokenizers: a pretrained model's where there is one, else trained; the source's has the features.

    Args:
        pairs: to train on.
        config: kinds and sizes.
        trained: the tokenizers of pretrained language models, for the encoder, the decoder or both.

    Raises:
        RegardError: the pairs have no text, or the options are impossible.
    """
    source, target = trained.get("encoder"), trained.get("decoder")
    features = count_features(pairs)
    if source is not None and features:
        raise ConfigError(
            "pretrained.encoder: the language model read no features, and the sources have some; drop one of the two "
            "(data.columns without data.features leaves the features out)"
        )
    if source is not None and target is not None:
        return source, target
    sources = [pair.source for pair in pairs]
    targets = [pair.target for pair in pairs]

    def train(kind: str, lines: list[str], size: int) -> Tokenizer:
        return train_tokenizer(
            kind,
            lines,
            size=size,
            min_frequency=config.min_frequency,
            lowercase=config.lowercase,
            normalize=config.normalize,
        )

    if config.shared:
        both = train(config.source, sources + targets, config.source_size).with_features(features.elements())
        return source or both, target or both
    return (
        source or train(config.source, sources, config.source_size).with_features(features.elements()),
        target or train(config.target, targets, config.target_size),
    )


_SHARED = ("cell", "embedding_size", "state_size")


def start_from_language_models(
    model: Seq2Seq, trained: Mapping[str, LoadedModel], pretrained: PretrainedConfig
) -> tuple[str, ...]:
    """Initialize the encoder, the decoder or both with the embedding and recurrent layers of language models.

    Attention, the decoder's initial state and its output keep their sampled weights. Of a bidirectional encoder only
    the forward direction of the bottom layer is initialized: the layers above read both directions, which no language
    model did. The tasks of one text take the language model's shape; see `tasks.pretrained`.

    Args:
        model: changed in place.
        trained: the language models by half, encoder and decoder; a half without one stays as it is.
        pretrained: their folders, for the messages.

    Returns:
        A sentence for the user for each half.

    Raises:
        ConfigError: cells or sizes do not match; the message says what to set.
    """
    notes = []
    for name, loaded in trained.items():
        folder = getattr(pretrained, name)
        part, config = getattr(model, name), getattr(model.config, name)
        bidirectional = isinstance(part.stack, BidirectionalStack)
        _check(name, folder, config, loaded.model.config, all_layers=not bidirectional)
        copy_pretrained(loaded.model, part, num_layers=1 if bidirectional else None)
        layers = "bottom layer's forward direction" if bidirectional else "recurrent layers"
        notes.append(f"the {name} starts from {folder}: its embedding and {layers}")
    return tuple(notes)


def _check(
    name: str, folder: str, config: StackConfig, trained: LanguageModelConfig, *, all_layers: bool
) -> None:
    """Raise, with the options to set, where a half does not match its language model."""
    options = (*_SHARED, "num_layers", "residual") if all_layers else _SHARED
    wrong = [option for option in options if getattr(config, option) != getattr(trained, option)]
    if wrong:
        needed = ", ".join(
            f"model.{name}.{option} = {toml_value(getattr(trained, option))}" for option in wrong
        )
        raise ConfigError(
            f"pretrained.{name}: {folder} is a language model of other {'cells' if 'cell' in wrong else 'sizes'} than "
            f"the {name}; set {needed}"
        )
    if trained.attends and config.memory != trained.memory:
        raise ConfigError(
            f"pretrained.{name}: {folder} has another memory than the {name}; give model.{name}.memory the options of "
            "its model.memory"
        )
