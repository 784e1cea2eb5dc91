"""Validation twice over: teacher-forced, as the model trains, and free-running, as it will be used.

The gap between the two accuracies shows what teacher forcing hides: errors that feed on errors.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch

from regard.batches import in_order_of_length, pad_pairs
from regard.evaluation import perplexity
from regard.output.quality import measure
from regard.output.quality.edit_distance import edit_distance
from regard.text import EncodedPair, SentencePair
from regard.training.loss import sequence_loss
from regard.translator import Translator


@dataclass(frozen=True)
class Validation:
    """What one validation found.

    Attributes:
        loss: nats a token, teacher-forced, without smoothing.
        perplexity: exp(loss).
        token_accuracy: the fraction of tokens right when all before them are given.
        free_running_accuracy: 1 − edits a token when the model reads its own words, by greedy search.
        gap: the former less the latter, both over the sentences that were translated freely.
        bleu: of the greedy output, 0 to 100.
        chrf: likewise.
        exact_match: the fraction of greedy outputs equal to the reference.
    """

    loss: float
    perplexity: float
    token_accuracy: float
    free_running_accuracy: float
    gap: float
    bleu: float
    chrf: float
    exact_match: float

    def to_json(self) -> dict[str, float]:
        """Give all numbers by name."""
        return asdict(self)


@torch.inference_mode()
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
    model = translator.model
    was_training = model.training
    model.eval()
    heard = range(min(free_running, len(pairs)))
    rest = range(len(heard), len(pairs))
    budgets = (batch_sentences, batch_tokens)
    on_heard = _teacher_forced(translator, encoded, heard, *budgets)
    on_rest = _teacher_forced(translator, encoded, rest, *budgets)
    output = [t.text for t in translator.translate([pairs[k].source for k in heard], beam=1)]
    references = [pairs[k].target for k in heard]
    quality = measure(output, references, with_ter=False)
    wanted = [encoded[k].target_ids for k in heard]
    given = translator.target_tokenizer.encode_batch(output)
    edits = sum(edit_distance(one, other) for one, other in zip(given, wanted, strict=True))
    free_accuracy = max(0.0, 1 - edits / max(sum(map(len, wanted)), 1))
    model.train(was_training)
    num_tokens = on_heard.num_tokens + on_rest.num_tokens
    loss_per_token = (on_heard.total + on_rest.total) / num_tokens
    return Validation(
        loss_per_token,
        perplexity(loss_per_token),
        (on_heard.correct + on_rest.correct) / num_tokens,
        free_accuracy,
        on_heard.correct / on_heard.num_tokens - free_accuracy,
        quality.bleu,
        quality.chrf,
        quality.exact_match,
    )


class _Sums(NamedTuple):
    total: float
    correct: int
    num_tokens: int


def _teacher_forced(
    translator: Translator,
    encoded: Sequence[EncodedPair],
    members: Sequence[int],
    batch_sentences: int,
    batch_tokens: int,
) -> _Sums:
    """The loss and the right tokens of some of the pairs, summed."""
    total, correct, num_tokens = 0.0, 0, 0
    lengths = [encoded[k].length for k in members]
    for indices in in_order_of_length(lengths, batch_sentences, batch_tokens):
        batch = pad_pairs([encoded[members[k]] for k in indices]).to(translator.device)
        targets = batch.target_ids[batch.target_mask]
        logits = translator.model(batch).logits
        total += float(sequence_loss(logits, targets))
        correct += int((logits.argmax(dim=-1) == targets).sum())
        num_tokens += len(targets)
    return _Sums(total, correct, num_tokens)
