"""Ids → padded tensors: what a batch is, how rows are padded, and who shares a batch."""

from regard.batches.bucket import in_order_of_length, shuffled
from regard.batches.pad import (
    Batch,
    FeatureBatch,
    LabelledBatch,
    LineBatch,
    SourceBatch,
    TaggedBatch,
    TextBatch,
    WordBatch,
    pad,
    pad_captioned,
    pad_labelled,
    pad_lines,
    pad_pairs,
    pad_sources,
    pad_tagged,
    pad_texts,
    pad_words,
    stack_features,
)
from regard.batches.stream import Stream

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
    "pad_captioned",
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
