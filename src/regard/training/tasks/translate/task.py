"""The task of translating: what is read, what is learnt from, and how the translator is judged."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from regard.batches import Batch, pad_pairs
from regard.errors import ConfigError
from regard.models import Seq2Seq
from regard.text import SentencePair
from regard.training.config import TranslateRun
from regard.training.tasks.pretrained import load_trained
from regard.training.tasks.task import Task, TrainingBatch
from regard.training.tasks.translate.objective import TranslationObjective
from regard.training.tasks.translate.prepare import as_pairs, prepare, read_corpus, with_gold_links
from regard.training.tasks.translate.pretrained import begin_as
from regard.training.tasks.translate.sampling import mixed, share_of_own
from regard.training.tasks.translate.validate import validate
from regard.training.tasks.writing import WritingValidation
from regard.translator import Translator


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
        self._trained = load_trained(config.pretrained)
        given = {half: loaded.tokenizers["text"] for half, loaded in self._trained.items()}
        self.prepared = prepare(pairs, validated, config.data, config.tokenizer, config.training.seed, given)
        if config.teaching.guided_alignment and all(pair.links is None for pair in self.prepared.train):
            raise ConfigError(
                "teaching.guided_alignment learns from gold links; name their file with data.train_links"
            )
        self.tokenizers = {
            "source": self.prepared.source_tokenizer,
            "target": self.prepared.target_tokenizer,
        }
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
        if config.teaching.guided_alignment and data.train_links:
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
            guided_alignment=self.config.teaching.guided_alignment,
            coverage=self.config.teaching.coverage,
        )

    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """Some pairs, padded."""
        padded = pad_pairs([self.prepared.train[k] for k in members])
        return TrainingBatch(padded.tensors, int(padded.target_mask.sum()), len(members))

    def learn(self, objective: nn.Module, batch: TrainingBatch, progress: float) -> Tensor:
        """The loss; with scheduled sampling, after some of the words to read were replaced by the model's own."""
        teaching = self.config.teaching
        share = share_of_own(teaching.scheduled_sampling, teaching.sampling_schedule, progress)
        tensors = batch.tensors
        if share > 0:
            if self._chance is None:  # of its own, so that other draws are those of a run without it
                self._chance = torch.Generator(tensors[0].device).manual_seed(self.config.training.seed)
            tensors = mixed(self.model, Batch(*tensors), share, self._chance).tensors
        loss: Tensor = objective(*tensors)
        return loss

    def validate(self, device: torch.device) -> WritingValidation:
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
