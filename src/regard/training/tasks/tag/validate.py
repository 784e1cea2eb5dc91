"""How good a tagger is on the validation sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.batches import in_order_of_length, pad_tagged
from regard.models import Tagger
from regard.text import EncodedTagged
from regard.training.loss import sequence_loss
from regard.training.tasks.task import Validation


@dataclass(frozen=True)
class TaggingValidation(Validation):
    """What one validation of a tagger found; the loss is in nats a word.

    Attributes:
        accuracy: the fraction of words whose tag is right.
        sentence_accuracy: the fraction of sentences with every tag right.
    """

    accuracy: float
    sentence_accuracy: float


@torch.inference_mode()
def validate(
    model: Tagger,
    sentences: Sequence[EncodedTagged],
    device: torch.device,
    *,
    batch_sentences: int,
    batch_tokens: int,
) -> TaggingValidation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: on `device`.
        sentences: at least one.
        device: where the model is.
        batch_sentences: the most sentences in a batch.
        batch_tokens: the most words in a batch, padding counted.
    """
    was_training = model.training
    model.eval()
    total, right, whole, num_words = 0.0, 0, 0, 0
    lengths = [sentence.length for sentence in sentences]
    for members in in_order_of_length(lengths, batch_sentences, batch_tokens):
        batch = pad_tagged([sentences[k] for k in members]).to(device)
        logits = model(batch)  # (N, tags)
        tags = batch.tag_ids[batch.word_mask]
        total += float(sequence_loss(logits, tags))
        hits = torch.ones_like(batch.word_mask)
        hits[batch.word_mask] = logits.argmax(dim=-1) == tags
        right += int(hits[batch.word_mask].sum())
        whole += int(hits.all(dim=1).sum())
        num_words += len(tags)
    model.train(was_training)
    return TaggingValidation(total / num_words, right / num_words, whole / len(sentences))
