"""Ids → padded tensors: what a batch is, how rows are padded, and who shares a batch."""

from regard.batches.batch import Batch, SourceBatch
from regard.batches.bucket import in_order_of_length, shuffled
from regard.batches.feature import FeatureBatch, pad_described, stack_features
from regard.batches.labelled import LabelledBatch, TextBatch, pad_labelled, pad_texts
from regard.batches.line import LineBatch, pad_lines
from regard.batches.pad import pad, pad_pairs, pad_sources
from regard.batches.stream import Stream
from regard.batches.tagged import TaggedBatch, WordBatch, pad_tagged, pad_words

__all__ = [
    "Batch",
    "FeatureBatch",
    "LabelledBatch",
    "LineBatch",
    "SourceBatch",
    "Stream",
    "TaggedBatch",
    "TextBatch",
    "WordBatch",
    "in_order_of_length",
    "pad",
    "pad_described",
    "pad_labelled",
    "pad_lines",
    "pad_pairs",
    "pad_sources",
    "pad_tagged",
    "pad_texts",
    "pad_words",
    "shuffled",
    "stack_features",
]
