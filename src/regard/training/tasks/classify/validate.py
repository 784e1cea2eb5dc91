"""How good a classifier is on the validation texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.batches import in_order_of_length, pad_labelled
from regard.models import Classifier
from regard.output.quality import score_classes
from regard.text import EncodedLabelled, Labels
from regard.training.loss import sequence_loss
from regard.training.tasks.task import Validation


@dataclass(frozen=True)
class ClassificationValidation(Validation):
    """What one validation of a classifier found; the loss is in nats a text.

    Attributes:
        accuracy: the fraction of labels that are right.
        macro_f1: the mean F1 over the labels.
    """

    accuracy: float
    macro_f1: float


@torch.inference_mode()
def validate(
    model: Classifier,
    examples: Sequence[EncodedLabelled],
    labels: Labels,
    device: torch.device,
    *,
    batch_sentences: int,
    batch_tokens: int,
) -> ClassificationValidation:
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
    for members in in_order_of_length(lengths, batch_sentences, batch_tokens):
        batch = pad_labelled([examples[k] for k in members]).to(device)
        logits = model(batch).logits
        total += float(sequence_loss(logits, batch.label_ids))
        gold += map(labels.name_of, batch.label_ids.tolist())
        predicted += map(labels.name_of, logits.argmax(dim=-1).tolist())
    model.train(was_training)
    scores = score_classes(gold, predicted, labels.names)
    return ClassificationValidation(total / len(examples), scores.accuracy, scores.macro_f1)
