"""Which sentences share a batch: neighbours in length, under a budget of sentences and of tokens.

In: lengths. Out: lists of indices, the same for equal arguments on every machine. Knows nothing of text or tensors.
"""

import random
from collections.abc import Sequence

from regard.config import in_range

_WINDOW = 100  # batches' worth of sentences that are sorted together


def batch_by_length(lengths: Sequence[int], max_sentences: int, max_tokens: int) -> list[list[int]]:
    """Plan batches for scoring and translating: longest first, so that memory runs out at once or never.

    Args:
        lengths: the longer side of each sentence, in tokens.
        max_sentences: the most sentences in a batch.
        max_tokens: the most tokens in a batch, padding counted.

    Raises:
        ConfigError: a limit is below 1.
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    return _cut(order, lengths, max_sentences, max_tokens)


def batch_shuffled(
    lengths: Sequence[int], max_sentences: int, max_tokens: int, *, seed: int, epoch: int
) -> list[list[int]]:
    """Plan the batches of one epoch of training: neighbours in length within windows, in shuffled order.

    Args:
        lengths: the longer side of each sentence, in tokens.
        max_sentences: the most sentences in a batch.
        max_tokens: the most tokens in a batch, padding counted.
        seed: the run's seed.
        epoch: which pass over the corpus; each has its own order.

    Raises:
        ConfigError: a limit is below 1.
    """
    rng = random.Random(f"{seed} {epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    window = max(_WINDOW * max_sentences, 1)
    batches: list[list[int]] = []
    for start in range(0, len(order), window):
        by_length = sorted(order[start : start + window], key=lambda i: lengths[i])
        batches.extend(_cut(by_length, lengths, max_sentences, max_tokens))
    rng.shuffle(batches)
    return batches


def _cut(
    order: Sequence[int], lengths: Sequence[int], max_sentences: int, max_tokens: int
) -> list[list[int]]:
    """Cut an order into batches; a sentence above the budget gets a batch of its own."""
    in_range("max_sentences", max_sentences, 1)
    in_range("max_tokens", max_tokens, 1)
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for index in order:
        grown = max(longest, lengths[index])
        if batch and (len(batch) == max_sentences or grown * (len(batch) + 1) > max_tokens):
            batches.append(batch)
            batch, grown = [], lengths[index]
        batch.append(index)
        longest = grown
    if batch:
        batches.append(batch)
    return batches
