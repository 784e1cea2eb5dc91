"""How a model that writes is validated: teacher-forced, as it trains, and free-running, as it will be used.

In: batches for the one, a search for the other. Out: `WritingValidation`. Knows nothing of what is read: a source, a
vector, nothing at all. The gap between the two accuracies shows what teacher forcing hides: errors that feed on errors.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from regard.evaluation import measure
from regard.evaluation.quality import edit_distance
from regard.tasks.base import Validation
from regard.tasks.language_model.result import perplexity
from regard.tasks.loss import sequence_loss
from regard.text import Tokenizer


class TargetBatch(Protocol):
    """What is to be predicted, whatever it is predicted from."""

    @property
    def target_ids(self) -> Tensor:
        """(B, Ty)."""
        ...

    @property
    def target_mask(self) -> Tensor:
        """(B, Ty), True where a token is to be predicted."""
        ...


@dataclass(frozen=True)
class GenerationValidation(Validation):
    """What one validation of a model that writes found; the loss is teacher-forced, in nats a token.

    Attributes:
        perplexity: exp(loss).
        token_accuracy: the fraction of tokens right when all before them are given.
        free_running_accuracy: 1 − edits a token when the model reads its own words, by greedy search.
        gap: the former less the latter, both over the sentences that were written freely.
        bleu: of the greedy output, 0 to 100.
        chrf: likewise.
        exact_match: the fraction of greedy outputs equal to the reference.
    """

    perplexity: float
    token_accuracy: float
    free_running_accuracy: float
    exposure_gap: float
    bleu: float
    chrf: float
    exact_match: float


@torch.inference_mode()
def validate_generation(
    model: nn.Module,
    tokenizer: Tokenizer,
    *,
    batches: Callable[[Sequence[int]], Iterable[TargetBatch]],
    write: Callable[[Sequence[int]], list[str]],
    references: Sequence[str],
    wanted: Sequence[Sequence[int]],
    free_running: int,
) -> GenerationValidation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: a batch → something with `logits` (N, V) for its N real tokens.
        tokenizer: of what is written.
        batches: the numbers of some examples → batches of them, on the model's device.
        write: the numbers of some examples → what greedy search writes for each.
        references: what should be written for every example, as text.
        wanted: the same as ids, without specials.
        free_running: how many examples, from the first, to write freely.
    """
    was_training = model.training
    model.eval()
    heard = range(min(free_running, len(references)))
    on_heard = _teacher_forced(model, batches(heard))
    on_rest = _teacher_forced(model, batches(range(len(heard), len(references))))
    output = write(heard)
    model.train(was_training)
    quality = measure(output, [references[k] for k in heard], with_ter=False)
    given = tokenizer.encode_batch(output)
    edits = sum(edit_distance(given[k], wanted[k]) for k in heard)
    free_accuracy = max(0.0, 1 - edits / max(sum(len(wanted[k]) for k in heard), 1))
    num_tokens = on_heard.num_tokens + on_rest.num_tokens
    loss = (on_heard.total + on_rest.total) / num_tokens
    return GenerationValidation(
        loss,
        perplexity(loss),
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


def _teacher_forced(model: Callable[[Any], Any], batches: Iterable[TargetBatch]) -> _Sums:
    """The loss and the right tokens of some batches, summed."""
    total, correct, num_tokens = 0.0, 0, 0
    for batch in batches:
        targets = batch.target_ids[batch.target_mask]
        logits = model(batch).logits
        total += float(sequence_loss(logits, targets))
        correct += int((logits.argmax(dim=-1) == targets).sum())
        num_tokens += len(targets)
    return _Sums(total, correct, num_tokens)
