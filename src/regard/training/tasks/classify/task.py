"""The task of classifying: what is read, what is learnt from, and how the classifier is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import nn

from regard.batches import pad_labelled
from regard.errors import ConfigError
from regard.models import Classifier
from regard.text import LabelledText
from regard.training.config import ClassifyRun
from regard.training.tasks.classify.objective import ClassificationObjective, taken_apart
from regard.training.tasks.classify.prepare import as_labelled, prepare, read_corpus
from regard.training.tasks.classify.validate import ClassificationValidation, validate
from regard.training.tasks.pretrained import begin_as, load_trained, shaped_as, unknown_to
from regard.training.tasks.task import Task, TrainingBatch


class ClassifyTask(Task):
    """Labelled texts, a tokenizer, a classifier.

    Args:
        config: the whole run.
        train: the texts to learn from, also as tuples of a label and its texts; None reads the file of ``config.data``.
        valid: the texts to validate with, likewise; without any, some training texts of each label are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "classify"
    examples = "texts"
    model: Classifier

    def __init__(
        self,
        config: ClassifyRun,
        train: Sequence[LabelledText | tuple[str, ...]] | None = None,
        valid: Sequence[LabelledText | tuple[str, ...]] | None = None,
    ) -> None:
        if train is None and not config.data.train:
            raise ConfigError(
                "data.train: no training texts; name their file with --train labelled.tsv, a label and a text a line"
            )
        self.config = config
        self._trained = load_trained(config.pretrained).get("encoder")
        self.prepared = prepare(
            self._read(train, config.data.train) or [],
            self._read(valid, config.data.valid),
            config.data,
            config.tokenizer,
            config.training.seed,
            self._trained.tokenizers["text"] if self._trained else None,
        )
        self.tokenizers = {"text": self.prepared.tokenizer}
        self.labels = self.prepared.labels.names
        self.notes = self.prepared.notes
        self.num_train, self.num_valid = len(self.prepared.train), len(self.prepared.valid)
        self.lengths = [example.length for example in self.prepared.train]

    def _read(
        self, given: Sequence[LabelledText | tuple[str, ...]] | None, files: Sequence[str]
    ) -> list[LabelledText] | None:
        """The texts as given, or else as the file has them; None where there is neither."""
        num_texts = self.config.model.num_texts
        if given is not None:
            return as_labelled(given, num_texts)
        return read_corpus(files[0], self.config.data, num_texts) if files else None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary and the labels."""
        return {"text": self.prepared.tokenizer.size, "labels": len(self.labels)}

    def build(self) -> Classifier:
        """Make the model; from a language model, where one is named."""
        config = self.config.model
        if self._trained is not None:
            config = replace(config, encoder=shaped_as(config.encoder, self._trained.model.config))
        self.model = Classifier(config, self.sizes["text"], self.sizes["labels"])
        if self._trained is not None:
            folder = self.config.pretrained.encoder
            self.notes += (begin_as(self.model.encoder, config.encoder, self._trained, folder),)
            self.notes += unknown_to(folder, (ids for one in self.prepared.train for ids in one.text_ids))
        return self.model

    def objective(self) -> nn.Module:
        """The labels' loss."""
        return ClassificationObjective(self.model, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """Some texts, padded; one prediction each."""
        padded = pad_labelled([self.prepared.train[k] for k in members])
        return TrainingBatch(taken_apart(padded), len(members), len(members))

    def validate(self, device: torch.device) -> ClassificationValidation:
        """Loss, accuracy and F1."""
        training = self.config.training
        return validate(
            self.model,
            self.prepared.valid,
            self.prepared.labels,
            device,
            batch_sentences=training.batch_sentences,
            batch_tokens=training.batch_tokens,
        )
