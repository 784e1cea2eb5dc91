"""Forced decoding: what a model says of words that are given, and where it looks while it reads them.

In: a model and a batch of pairs, or of vectors and their descriptions. Out: one `Hypothesis` for each, with the given
words.

A language model along given words: what it thought of each, and what it would have said.

In: a model and a batch of lines, or a window of continuous text. Out: log-probabilities, and the state to go on from.
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
from regard.search.hypotheses import Hypothesis
from regard.search.options import length_normalised

Given = TypeVar("Given", PairBatch, CaptionBatch)


@torch.inference_mode()
def decode_forced(
    model: Callable[[Given], TeacherForced], batch: Given, *, length_power: float = 1.0
) -> list[Hypothesis]:
    """Score given pairs.

    Args:
        model: a `Seq2Seq` or a `CaptionerNetwork`, in evaluation mode.
        batch: the pairs, or the vectors with their descriptions.
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
        alpha = None
        if result.alpha is not None:
            alpha = result.alpha[b, : lengths[b], : source_lengths[b]].float().cpu().numpy()
        score = float(length_normalised(total, lengths[b], length_power))
        hypotheses.append(Hypothesis(tuple(ids.tolist()), total, score, tuple(values.tolist()), alpha))
    return hypotheses


_STEPS = 1024  # of a single row that are read at a time


class TokenScores(NamedTuple):
    """What a model thought of given words.

    Attributes:
        log_probs: (N,), of the N real positions of a batch, row by row.
        right: (N,), whether the word given was the likeliest.
        state: after the last word read.
    """

    log_probs: Tensor
    right: Tensor
    state: States


@torch.inference_mode()
def score_tokens(model: LanguageModelNetwork, batch: LineBatch, state: States | None = None) -> TokenScores:
    """Read given words.

    Args:
        model: in evaluation mode, or else with dropout.
        batch: on the model's device.
        state: where what stands before them ended; None for a zero state.
    """
    num_rows, num_steps = batch.mask.shape
    # a row that ends before the last window would be an empty one in it
    steps = _STEPS if num_rows == 1 else num_steps
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
