"""Lists of ids → padded tensors. What a mask means is said here alone: True where a real token stands.

Padding stands on the right. Sources and targets get their end mark here, so that each row has at least one
real token, even for an empty line.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.batches.batch import Batch, SourceBatch
from regard.text.encoded import EncodedPair
from regard.text.links import Links
from regard.text.specials import BOS, EOS, PAD


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Pad rows of ids on the right.

    Returns:
        ids (B, T) and mask (B, T).
    """
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(width) < lengths.unsqueeze(1)


def pad_sources(sources: Sequence[Sequence[int]]) -> SourceBatch:
    """Sources without specials → a batch to translate."""
    return SourceBatch(*pad([[*ids, EOS] for ids in sources]))


def pad_pairs(pairs: Sequence[EncodedPair]) -> Batch:
    """Pairs without specials → a batch to learn from or to score."""
    source_ids, source_mask = pad([[*pair.source_ids, EOS] for pair in pairs])
    previous_ids, target_mask = pad([[BOS, *pair.target_ids] for pair in pairs])
    target_ids, _ = pad([[*pair.target_ids, EOS] for pair in pairs])
    gold = None
    if any(pair.links is not None for pair in pairs):
        gold = _gold_links(
            [pair.links or frozenset() for pair in pairs], target_ids.shape[1], source_ids.shape[1]
        )
    return Batch(source_ids, source_mask, previous_ids, target_ids, target_mask, gold)


def _gold_links(links: Sequence[Links], num_targets: int, num_sources: int) -> Tensor:
    """1 where a target token is linked to a source token and 0 elsewhere, (B, Ty, Tx)."""
    gold = torch.zeros(len(links), num_targets, num_sources)
    for row, linked in zip(gold, links, strict=True):
        for j, i in linked:
            row[i, j] = 1.0
    return gold
