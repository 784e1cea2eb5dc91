"""Lists of ids → padded tensors. What a mask means is said here alone: True where a real token stands.

Padding stands on the right. Sources and targets get their end mark here, so that each row has at least one
real token, even for an empty line.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.batches.batch import Batch, SourceBatch
from regard.text.encoded import EncodedPair
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
    return Batch(source_ids, source_mask, previous_ids, target_ids, target_mask)
