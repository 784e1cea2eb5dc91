"""The classifier's loss: the right label.

How good a classifier is on the validation texts.

The task of classifying: what is read, what is learnt from, and how the classifier is judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from regard.batches import LabelledBatch, TextBatch, batch_by_length, pad_labelled
from regard.errors import ConfigError
from regard.evaluation import score_classes
from regard.evaluation.metrics import label_scores
from regard.models import ClassifierNetwork
from regard.tasks.base import Task, TrainingBatch, Validation
from regard.tasks.classify.config import ClassifyRun
from regard.tasks.classify.data import as_labelled, prepare, read_corpus
from regard.tasks.loss import sequence_loss
from regard.tasks.pretrained import begin_as, load_trained, shaped_as, unknown_to
from regard.text import EncodedLabelled, LabelledText, Labels


class ClassificationObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: ClassifierNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, label_ids: Tensor, *texts: Tensor) -> Tensor:
        """The loss of a batch as `taken_apart` gives it; a sum over its rows."""
        batch = TextBatch(texts[::2], texts[1::2])
        return sequence_loss(self.model(batch).logits, label_ids, self.smoothing)


def taken_apart(batch: LabelledBatch) -> tuple[Tensor, ...]:
    """A batch as plain tensors: the labels, then each text's ids and mask."""
    pairs = zip(batch.ids, batch.masks, strict=True)
    return batch.label_ids, *(tensor for pair in pairs for tensor in pair)


@torch.inference_mode()
def validate(
    model: ClassifierNetwork,
    examples: Sequence[EncodedLabelled],
    labels: Labels,
    device: torch.device,
    *,
    batch_sentences: int,
    batch_tokens: int,
) -> Validation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: on `device`.
        examples: at least one.
        labels: by id.
        device: where the model is.
        batch_sentences: the most texts in a batch.
        batch_tokens: the most tokens in a batch, padding counted.
    """
    was_training = model.training
    model.eval()
    total = 0.0
    gold: list[str] = []
    predicted: list[str] = []
    lengths = [example.length for example in examples]
    for members in batch_by_length(lengths, batch_sentences, batch_tokens):
        batch = pad_labelled([examples[k] for k in members]).to(device)
        logits = model(batch).logits
        total += float(sequence_loss(logits, batch.label_ids))
        gold += map(labels.name_of, batch.label_ids.tolist())
        predicted += map(labels.name_of, logits.argmax(dim=-1).tolist())
    model.train(was_training)
    classes = score_classes(gold, predicted, labels.names)
    return Validation(total / len(examples), label_scores(classes))


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
    model: ClassifierNetwork

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

    def build(self) -> ClassifierNetwork:
        """Make the model; from a language model, where one is named."""
        config = self.config.model
        if self._trained is not None:
            config = replace(config, encoder=shaped_as(config.encoder, self._trained.model.config))
        self.model = ClassifierNetwork(config, self.sizes["text"], self.sizes["labels"])
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

    def validate(self, device: torch.device) -> Validation:
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
