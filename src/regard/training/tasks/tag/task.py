"""The task of tagging: what is read, what is learnt from, and how the tagger is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import nn

from regard.batches import pad_tagged
from regard.errors import ConfigError
from regard.models import Tagger
from regard.text import TaggedSentence
from regard.training.config import TagRun
from regard.training.tasks.pretrained import begin_as, load_trained, shaped_as, unknown_to
from regard.training.tasks.tag.objective import TaggingObjective
from regard.training.tasks.tag.prepare import Words, as_tagged, prepare, read_corpus
from regard.training.tasks.tag.validate import TaggingValidation, validate
from regard.training.tasks.task import Task, TrainingBatch

Sentence = TaggedSentence | tuple[Words, Words]


class TagTask(Task):
    """Sentences with a tag for each word, a tokenizer of words, a tagger.

    Args:
        config: the whole run.
        train: the sentences to learn from, also as tuples of words and tags; None reads the files of ``config.data``.
        valid: the sentences to validate with, likewise; without any, some training sentences are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "tag"
    examples = "sentences"
    model: Tagger

    def __init__(
        self,
        config: TagRun,
        train: Sequence[Sentence] | None = None,
        valid: Sequence[Sentence] | None = None,
    ) -> None:
        if train is None and not config.data.train:
            raise ConfigError(
                "data.train: no training sentences; name them with --train tagged.tsv, or --train words --train tags"
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
        self.lengths = [sentence.length for sentence in self.prepared.train]

    def _read(self, given: Sequence[Sentence] | None, files: Sequence[str]) -> list[TaggedSentence] | None:
        """The sentences as given, or else as the files have them; None where there is neither."""
        if given is not None:
            return as_tagged(given)
        return read_corpus(files, self.config.data.layout, self.config.data.columns) if files else None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary and the tags."""
        return {"text": self.prepared.tokenizer.size, "labels": len(self.labels)}

    def build(self) -> Tagger:
        """Make the model; from a language model, where one is named."""
        config = self.config.model
        if self._trained is not None:
            config = replace(config, encoder=shaped_as(config.encoder, self._trained.model.config))
        self.model = Tagger(config, self.sizes["text"], self.sizes["labels"])
        if self._trained is not None:
            folder = self.config.pretrained.encoder
            self.notes += (begin_as(self.model.encoder, config.encoder, self._trained, folder),)
            self.notes += unknown_to(folder, (one.word_ids for one in self.prepared.train))
        return self.model

    def objective(self) -> nn.Module:
        """The tags' loss."""
        return TaggingObjective(self.model, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """Some sentences, padded; a prediction for each word."""
        padded = pad_tagged([self.prepared.train[k] for k in members])
        return TrainingBatch(padded.tensors, int(padded.word_mask.sum()), len(members))

    def validate(self, device: torch.device) -> TaggingValidation:
        """Loss and accuracies."""
        training = self.config.training
        return validate(
            self.model,
            self.prepared.valid,
            device,
            batch_sentences=training.batch_sentences,
            batch_tokens=training.batch_tokens,
        )
