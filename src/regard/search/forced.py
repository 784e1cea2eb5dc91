"""Forced decoding: what a model says of words that are given, and where it looks while it reads them.

In: a model and a batch of pairs, or of vectors and their descriptions. Out: one `Hypothesis` for each, with the given
words.
"""

from collections.abc import Callable
from typing import TypeVar

import torch

from regard.batches.batch import Batch
from regard.batches.feature import FeatureBatch
from regard.models.seq2seq import TeacherForced
from regard.search.hypothesis import Hypothesis
from regard.search.length_penalty import length_normalised

Given = TypeVar("Given", Batch, FeatureBatch)


@torch.inference_mode()
def forced(
    model: Callable[[Given], TeacherForced], batch: Given, *, length_power: float = 1.0
) -> list[Hypothesis]:
    """Score given pairs.

    Args:
        model: a `Seq2Seq` or a `Describer`, in evaluation mode.
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
