"""What the tasks share that predict labels of text, one per text or one per word.

In: labelled examples as they are read or given. Out: a `Task`: labels and a tokenizer from the training examples, or a
pre-trained language model's; examples encoded and filtered; an encoder with a cross-entropy loss; a validation. What a
label belongs to is the subclass's.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from regard.batches import Batch, batch_by_length
from regard.errors import ConfigError, DataError
from regard.evaluation import ClassScores
from regard.evaluation.metrics import label_scores
from regard.models import Model
from regard.processes import ALONE, Processes, join_shares
from regard.tasks import TASKS
from regard.tasks.base import (
    EncodedExample,
    Prepared,
    Task,
    Validation,
    Vocabulary,
    filter_by_length,
    in_evaluation_mode,
    sequence_loss,
    train_text_tokenizer,
)
from regard.tasks.config import LabelRunConfig
from regard.tasks.preparation import is_prepared, open_prepared
from regard.tasks.pretrained import initialize_encoder, load_pretrained, match_shape, note_unknown_words
from regard.tasks.train_valid_split import split_train_valid
from regard.text import Labels, Tokenizer

Example = TypeVar("Example")

Predict = Callable[[Any, Any], tuple[Tensor, Tensor]]
"""Model, batch → logits (N, labels) and the N correct labels."""


class LabelObjective(nn.Module):
    """A model with the cross-entropy of its labels.

    Args:
        model: in training.
        predict: the model's predictions for a batch, and the answers.
        smoothing: label smoothing.
    """

    def __init__(self, model: Model, predict: Predict, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.predict = predict
        self.smoothing = smoothing

    def forward(self, batch: Batch) -> Tensor:
        """The loss of a batch, a sum over its predictions."""
        logits, targets = self.predict(self.model, batch)
        return sequence_loss(logits, targets, self.smoothing)


class MeasuredLabels(NamedTuple):
    """A batch of a validation: its loss, a sum over its predictions; their correct labels and those predicted."""

    loss: float
    gold: list[int]
    predicted: list[int]


class LabelTask(Task, Generic[Example, EncodedExample]):
    """Labelled examples, a tokenizer, an encoder with labels as its output.

    Args:
        config: the whole run.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples; None reads the files of ``config.data``, or splits some off.
        known: the vocabulary of the model that the run starts from.

    Raises:
        RegardError: the data cannot be used.
    """

    network: ClassVar[type[Any]]
    """Configuration, vocabulary size, number of labels → the model."""
    files_option: ClassVar[str]
    """How to name the training files, for the message where there are none."""
    unit: ClassVar[str] = "tokens"
    """What ``data.max_length`` counts."""
    stratified: ClassVar[bool] = False
    """Whether validation examples are split off from each label."""

    def __init__(
        self,
        config: LabelRunConfig,
        train: Sequence[Any] | None = None,
        valid: Sequence[Any] | None = None,
        known: Vocabulary | None = None,
    ) -> None:
        if train is None and not config.data.train:
            raise ConfigError(f"data.train: no training {self.examples}; {self.files_option}")
        self.config = config
        self._pretrained = load_pretrained(config.pretrained).get("encoder")
        validated = self._examples(valid, config.data.valid)
        if train is None and is_prepared(config.data.train):
            prepared = self._open_store(validated, known)
        else:
            prepared = self._prepare(self._examples(train, config.data.train) or [], validated, known)
        super().__init__(config, prepared)

    @abstractmethod
    def read(self, files: Sequence[str]) -> list[Example]:
        """Read the examples of files that ``config.data`` names."""

    @abstractmethod
    def parse(self, given: Iterable[Any]) -> list[Example]:
        """Examples as `regard.train` takes them → examples."""

    @abstractmethod
    def texts(self, example: Example) -> tuple[str, ...]:
        """The texts of an example."""

    @abstractmethod
    def names(self, example: Example) -> tuple[str, ...]:
        """The labels of an example."""

    @abstractmethod
    def encode(
        self, examples: Iterable[Example], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedExample]:
        """Examples as ids, one for one.

        Raises:
            DataError: a label is not in `labels`.
        """

    @abstractmethod
    def token_ids(self, example: EncodedExample) -> Sequence[Sequence[int]]:
        """The ids of each text of an example, without special symbols."""

    @abstractmethod
    def pad(self, examples: Sequence[EncodedExample]) -> Batch:
        """Examples → a batch."""

    @staticmethod
    @abstractmethod
    def predict(model: Any, batch: Any) -> tuple[Tensor, Tensor]:
        """Logits (N, labels) for the N predictions of a batch, and the N correct labels."""

    @abstractmethod
    def score(
        self, examples: Sequence[EncodedExample], gold: Sequence[str], predicted: Sequence[str]
    ) -> ClassScores:
        """Score the predictions for some examples, which follow one another in `gold` and `predicted`."""

    def _examples(self, given: Sequence[Any] | None, files: Sequence[str]) -> list[Example] | None:
        """The examples given, or else those of the files; None where there is neither."""
        if given is not None:
            return self.parse(given)
        return self.read(files) if files else None

    def _prepare(
        self, train: Sequence[Example], valid: Sequence[Example] | None, known: Vocabulary | None
    ) -> Prepared[EncodedExample]:
        notes: list[str] = []
        names = (name for example in train for name in self.names(example))
        labels = Labels.learn(names) if known is None else known.all_labels(names)
        if valid is None:
            kinds = [self.names(example) for example in train] if self.stratified else None
            train, valid, note = split_train_valid(
                train,
                [self.texts(example) for example in train],
                self.config.training.seed_of_split,
                what=self.examples,
                kinds=kinds,
            )
            notes.append(note)
        if not valid:
            raise DataError(
                f"the validation {self.examples} given are none at all; give some, or leave the argument out"
            )
        if self._pretrained is None:
            lines = (text for example in train for text in self.texts(example))
            tokenizer = train_text_tokenizer(lines, self.config.tokenizer, known)
        else:  # its weights belong to its ids
            tokenizer = self._pretrained.tokenizers["text"]
        encoded, left_out = filter_by_length(
            list(self.encode(train, tokenizer, labels)),
            lambda example: example.length - 1,  # without EOS
            self.config.data.max_length,
            what=self.examples,
            unit=self.unit,
        )
        return Prepared(
            {"text": tokenizer},
            encoded,
            list(self.encode(valid, tokenizer, labels)),
            (*notes, *left_out),
            labels.names,
            valid,
        )

    def _open_store(
        self, valid: Sequence[Example] | None, known: Vocabulary | None
    ) -> Prepared[EncodedExample]:
        """The data of a run whose training examples are in a store."""
        trained = None if self._pretrained is None else self._pretrained.tokenizers
        opened = open_prepared(TASKS[self.name].preparing()(self.config), known, trained)
        examples: Sequence[Example] = opened.valid if valid is None else valid
        if not examples:
            raise DataError(f"{opened.store.path}: no validation {self.examples}; name some with --valid")
        encoded = list(self.encode(examples, opened.tokenizers["text"], Labels(opened.labels)))
        return Prepared(
            opened.tokenizers,
            opened.store,
            encoded,
            opened.notes,
            opened.labels,
            examples,
            mixture=opened.mixture,
        )

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary and the labels."""
        return {"text": self.tokenizers["text"].size, "labels": len(self.labels)}

    def build(self) -> Model:
        """Make the model, from a language model where one is named."""
        config = self.config.model
        if self._pretrained is not None:
            config = replace(config, encoder=match_shape(config.encoder, self._pretrained.model.config))
        model = self.network(config, self.sizes["text"], self.sizes["labels"])
        self.model = model
        if self._pretrained is not None:
            folder = self.config.pretrained.encoder
            self.notes += (initialize_encoder(model.encoder, config.encoder, self._pretrained, folder),)
            texts = (ids for example in self.prepared.train for ids in self.token_ids(example))
            self.notes += note_unknown_words(folder, texts)
        return self.model

    def objective(self) -> nn.Module:
        """The cross-entropy of the labels."""
        return LabelObjective(self.model, self.predict, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> Batch:
        """Some examples, padded."""
        return self.pad([self.prepared.train[k] for k in members])

    def validate(self, device: torch.device) -> Validation:
        """The loss, and the metrics of labels that ``training.select`` can name."""
        return self.summarize([self.measure(device, ALONE)])

    @torch.inference_mode()
    def measure(self, device: torch.device, processes: Processes) -> list[MeasuredLabels]:
        """See `Task.measure`: every n-th batch."""
        valid = self.prepared.valid
        measured = []
        with in_evaluation_mode(self.model):
            for members in processes.share(self._valid_batches()):
                logits, targets = self.predict(self.model, self.pad([valid[k] for k in members]).to(device))
                loss = float(sequence_loss(logits, targets))
                measured.append(MeasuredLabels(loss, targets.tolist(), logits.argmax(dim=-1).tolist()))
        return measured

    def summarize(self, measured: Sequence[Sequence[MeasuredLabels]]) -> Validation:
        """See `Task.summarize`."""
        batches = join_shares(measured)
        gold, predicted = (
            [self.labels[label] for batch in batches for label in getattr(batch, name)]
            for name in ("gold", "predicted")
        )
        order = [k for members in self._valid_batches() for k in members]
        classes = self.score([self.prepared.valid[k] for k in order], gold, predicted)
        scores = {
            key: value for key, value in label_scores(classes).items() if key in self.config.selections()
        }
        return Validation(sum(batch.loss for batch in batches) / len(gold), scores)

    def _valid_batches(self) -> list[list[int]]:
        training = self.config.training
        lengths = [example.length for example in self.prepared.valid]
        return batch_by_length(lengths, training.batch_sentences, training.batch_tokens)
