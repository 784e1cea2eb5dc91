"""Forced decoding: the log-probability of given words, and the attention while the model reads them.

In: a model and a batch of pairs, or of vectors and their captions; out: one `Hypothesis` each, with the given words.
For language models, in: lines or a window of continuous text; out: `TokenScores`, with the state to continue from.
Long rows are read in windows with the state carried, so that memory does not grow with them.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from regard.batches import LineBatch
from regard.batches.pad import CaptionBatch, PairBatch
from regard.models import LanguageModelNetwork, States
from regard.models.seq2seq import TeacherForced
from regard.search.hypotheses import Hypothesis, length_normalised

Given = TypeVar("Given", PairBatch, CaptionBatch)


@torch.inference_mode()
def decode_forced(
    model: Callable[[Given], TeacherForced], batch: Given, *, length_power: float = 1.0
) -> list[Hypothesis]:
    """Score given pairs.

    Args:
        model: a `Seq2Seq` or a `CaptionerNetwork`, in evaluation mode.
        batch: the pairs, or the vectors with their captions.
        length_power: p of the score log p / lengthᵖ.
    """
    result = model(batch)
    targets = batch.target_ids[batch.target_mask]  # (N,)
    log_probs = result.logits.log_softmax(dim=-1).gather(1, targets.unsqueeze(1)).squeeze(1)
    lengths = batch.target_mask.sum(dim=1).tolist()
    source_lengths = batch.source_mask.sum(dim=1).tolist()
    hypotheses = []
    for b, (ids, values) in enumerate(
        zip(torch.split(targets.cpu(), lengths), torch.split(log_probs.cpu(), lengths), strict=True)
    ):
        total = sum(values.tolist())
        alpha, alignment = (
            None if each is None else each[b, : lengths[b], : source_lengths[b]].float().cpu().numpy()
            for each in (result.alpha, result.alignment)
        )
        score = float(length_normalised(total, lengths[b], length_power))
        hypotheses.append(
            Hypothesis(tuple(ids.tolist()), total, score, tuple(values.tolist()), alpha, alignment)
        )
    return hypotheses


_WINDOW = 1024  # tokens of a single row read at a time


class TokenScores(NamedTuple):
    """A language model's scores of given words.

    Attributes:
        log_probs: (N,), of the N real positions of a batch, row by row.
        right: (N,), whether the given word was the most probable.
        state: after the last word.
    """

    log_probs: Tensor
    right: Tensor
    state: States


@torch.inference_mode()
def score_tokens(model: LanguageModelNetwork, batch: LineBatch, state: States | None = None) -> TokenScores:
    """Score given words.

    Args:
        model: in evaluation mode, or else with dropout.
        batch: on the model's device.
        state: after the words before them; None for a zero state.
    """
    num_rows, num_steps = batch.mask.shape
    # a row that ends before the last window would be empty in it
    steps = _WINDOW if num_rows == 1 else num_steps
    log_probs, right = [], []
    for start in range(0, num_steps, steps):
        window = slice(start, start + steps)
        mask = batch.mask[:, window]
        predicted = model(batch.previous_ids[:, window], mask, state)
        targets = batch.target_ids[:, window][mask]  # (N,)
        log_probs.append(log_probs_of(predicted.logits, targets))
        right.append(predicted.logits.argmax(dim=-1) == targets)
        state = predicted.state
    assert state is not None, "a batch has at least one step"
    return TokenScores(torch.cat(log_probs), torch.cat(right), state)


def log_probs_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Log p of each target (N,) under its row of logits (N, V), in float32 at least."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return wide.log_softmax(dim=-1).gather(1, targets.unsqueeze(1)).squeeze(1)  # (N,)
