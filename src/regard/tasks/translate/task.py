"""The two halves of a translator begin as trained language models (Ramachandran et al. 2017).

In: a translator with fresh weights, and the loaded language models. Out: the translator with their embeddings and
recurrent layers, and what to tell the user. The tokenizers were taken over before, for the weights know those ids.
Attention, the decoder's start and its output stay as they were drawn. Where a half is made otherwise than its language
model this says what to set, and changes nothing; the tasks of one text take that model's shape, see
`tasks.pretrained`.

A translator's validation: see `tasks.writing`, with pairs to read from.

The task of translating: what is read, what is learnt from, and how the translator is judged.
"""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

from regard.batches import PairBatch, batch_by_length, pad_pairs
from regard.checkpoint import LoadedModel
from regard.config import toml_value
from regard.errors import ConfigError
from regard.layers import BidirectionalStack
from regard.models import LanguageModelConfig, Seq2Seq, StackConfig, carry_over
from regard.tasks.base import Task, Validation
from regard.tasks.generation import check_selection, validate_generation
from regard.tasks.pretrained import load_pretrained
from regard.tasks.translate.config import PretrainedConfig, TranslateRun
from regard.tasks.translate.data import as_pairs, prepare, read_corpus, with_gold_links
from regard.tasks.translate.objective import TranslationObjective, mixed, share_of_own
from regard.tasks.translate.predictor import Translator
from regard.text import EncodedPair, SentencePair

_SHARED = ("cell", "embedding_size", "state_size")


def begin_as(
    model: Seq2Seq, trained: Mapping[str, LoadedModel], pretrained: PretrainedConfig
) -> tuple[str, ...]:
    """Start the encoder, the decoder or both from trained language models.

    A bidirectional encoder takes its forward direction alone, and of its bottom layer: the layers above read both
    directions, which no language model did.

    Args:
        model: changed in place.
        trained: the language models by half, encoder and decoder; a half without one stays as it is.
        pretrained: where they were read, for the sentences.

    Returns:
        A sentence for the user for each half.

    Raises:
        ConfigError: cells or sizes do not fit.
    """
    notes = []
    for name, loaded in trained.items():
        folder = getattr(pretrained, name)
        part, config = getattr(model, name), getattr(model.config, name)
        bidirectional = isinstance(part.stack, BidirectionalStack)
        _check(name, folder, config, loaded.model.config, all_layers=not bidirectional)
        carry_over(loaded.model, part, num_layers=1 if bidirectional else None)
        layers = "bottom layer's forward direction" if bidirectional else "recurrent layers"
        notes.append(f"the {name} begins as {folder}: its embedding and {layers}")
    return tuple(notes)


def _check(
    name: str, folder: str, config: StackConfig, trained: LanguageModelConfig, *, all_layers: bool
) -> None:
    """Raise with what to set where a half is not made as the language model is."""
    options = (*_SHARED, "num_layers", "residual") if all_layers else _SHARED
    wrong = [option for option in options if getattr(config, option) != getattr(trained, option)]
    if wrong:
        told = ", ".join(
            f"model.{name}.{option} = {toml_value(getattr(trained, option))}" for option in wrong
        )
        raise ConfigError(
            f"pretrained.{name}: {folder} is a language model of other {'cells' if 'cell' in wrong else 'sizes'} than "
            f"the {name}; set {told}"
        )
    if trained.attends and config.memory != trained.memory:
        raise ConfigError(
            f"pretrained.{name}: {folder} has another memory than the {name}; give model.{name}.memory the options of "
            "its model.memory"
        )


def validate(
    translator: Translator,
    pairs: Sequence[SentencePair],
    encoded: Sequence[EncodedPair],
    *,
    free_running: int,
    batch_sentences: int,
    batch_tokens: int,
) -> Validation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        translator: around the model in training.
        pairs: the validation pairs as text.
        encoded: the same pairs as ids.
        free_running: how many of them, from the first, to translate freely.
        batch_sentences: the most sentences in a batch.
        batch_tokens: the most tokens in a batch, of the longer side, padding counted.
    """

    def batches(members: Sequence[int]) -> Iterator[PairBatch]:
        lengths = [encoded[k].length for k in members]
        for indices in batch_by_length(lengths, batch_sentences, batch_tokens):
            yield pad_pairs([encoded[members[k]] for k in indices]).to(translator.device)

    def generate(members: Sequence[int]) -> list[str]:
        return [each.text for each in translator.translate([pairs[k].source for k in members], beam=1)]

    return validate_generation(
        translator.model,
        translator.target_tokenizer,
        batches=batches,
        generate=generate,
        references=[pair.target for pair in pairs],
        reference_ids=[pair.target_ids for pair in encoded],
        free_running=free_running,
    )


class TranslateTask(Task):
    """Pairs of lines, two tokenizers, an encoder–decoder.

    Args:
        config: the whole run.
        train: the pairs to learn from; None reads the files of ``config.data``.
        valid: the pairs to validate with, likewise; without any, some training pairs are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "translate"
    examples = "pairs"
    model: Seq2Seq

    def __init__(
        self,
        config: TranslateRun,
        train: Sequence[SentencePair | tuple[str, str]] | None = None,
        valid: Sequence[SentencePair | tuple[str, str]] | None = None,
    ) -> None:
        pairs, validated = self._pairs(config, train, valid)
        self.config = config
        self._trained = load_pretrained(config.pretrained)
        given = {half: loaded.tokenizers["text"] for half, loaded in self._trained.items()}
        self.prepared = prepare(pairs, validated, config.data, config.tokenizer, config.training.seed, given)
        if config.auxiliary_losses.guided_alignment and all(
            pair.links is None for pair in self.prepared.train
        ):
            raise ConfigError(
                "auxiliary_losses.guided_alignment learns from gold links; name their file with data.train_links"
            )
        self.tokenizers = {
            "source": self.prepared.source_tokenizer,
            "target": self.prepared.target_tokenizer,
        }
        check_selection(config.training.select, self.prepared.target_tokenizer)
        self.notes = self.prepared.notes
        self.num_train, self.num_valid = len(self.prepared.train), len(self.prepared.valid)
        self.lengths = [pair.length for pair in self.prepared.train]
        self._chance: torch.Generator | None = None

    @staticmethod
    def _pairs(
        config: TranslateRun,
        train: Sequence[SentencePair | tuple[str, str]] | None,
        valid: Sequence[SentencePair | tuple[str, str]] | None,
    ) -> tuple[list[SentencePair], list[SentencePair] | None]:
        """The pairs as given, or else as the files have them."""
        data = config.data
        if train is None and not data.train:
            raise ConfigError(
                "data.train: no training pairs; name them with --train pairs.tsv, or --train a.de --train a.en"
            )
        pairs = as_pairs(train) if train is not None else read_corpus(data.train, data.columns)
        if config.auxiliary_losses.guided_alignment and data.train_links:
            pairs = with_gold_links(pairs, data.train_links)
        if valid is not None:
            return pairs, as_pairs(valid)
        return pairs, read_corpus(data.valid, data.columns) if data.valid else None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The two vocabularies."""
        return {side: tokenizer.size for side, tokenizer in self.tokenizers.items()}

    def build(self) -> Seq2Seq:
        """Make the model."""
        self.model = Seq2Seq(self.config.model, self.sizes["source"], self.sizes["target"])
        self.notes += begin_as(self.model, self._trained, self.config.pretrained)
        return self.model

    def objective(self) -> nn.Module:
        """The words' loss, and what else the decoder is taught."""
        return TranslationObjective(
            self.model,
            self.config.training.label_smoothing,
            guided_alignment=self.config.auxiliary_losses.guided_alignment,
            coverage=self.config.auxiliary_losses.coverage,
        )

    def batch(self, members: Sequence[int]) -> PairBatch:
        """Some pairs, padded."""
        return pad_pairs([self.prepared.train[k] for k in members])

    def loss(self, objective: nn.Module, batch: PairBatch, progress: float) -> Tensor:
        """The loss; with scheduled sampling, after some of the words to read were replaced by the model's own."""
        auxiliary_losses = self.config.auxiliary_losses
        share = share_of_own(
            auxiliary_losses.scheduled_sampling, auxiliary_losses.sampling_schedule, progress
        )
        if share > 0:
            if self._chance is None:  # of its own, so that dropout is that of a run without it
                self._chance = torch.Generator(batch.source_ids.device).manual_seed(self.config.training.seed)
            batch = mixed(self.model, batch, share, self._chance)
        return super().loss(objective, batch, progress)

    def validate(self, device: torch.device) -> Validation:
        """Teacher-forced and free-running."""
        training = self.config.training
        translator = Translator(
            self.model,
            self.prepared.source_tokenizer,
            self.prepared.target_tokenizer,
            device=device.type,
            max_length=max(len(pair.source_ids) for pair in self.prepared.valid),
        )
        return validate(
            translator,
            self.prepared.valid_pairs,
            self.prepared.valid,
            free_running=training.validation_sentences,
            batch_sentences=training.batch_sentences,
            batch_tokens=training.batch_tokens,
        )
