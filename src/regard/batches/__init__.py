"""Ids → padded tensors: what a batch is, how rows are padded, and who shares a batch."""

from regard.batches.batch import Batch, SourceBatch
from regard.batches.bucket import in_order_of_length, shuffled
from regard.batches.pad import pad, pad_pairs, pad_sources

__all__ = ["Batch", "SourceBatch", "in_order_of_length", "pad", "pad_pairs", "pad_sources", "shuffled"]
