"""Ids → padded tensors: what a batch is, how rows are padded, and which sentences share a batch."""

from regard.batches.pad import Batch as Batch
from regard.batches.pad import CaptionBatch as CaptionBatch
from regard.batches.pad import LabelledBatch as LabelledBatch
from regard.batches.pad import LineBatch as LineBatch
from regard.batches.pad import PairBatch as PairBatch
from regard.batches.pad import SourceBatch as SourceBatch
from regard.batches.pad import Stream as Stream
from regard.batches.pad import TaggedBatch as TaggedBatch
from regard.batches.pad import TextBatch as TextBatch
from regard.batches.pad import WordBatch as WordBatch
from regard.batches.pad import batch_by_length as batch_by_length
from regard.batches.pad import batch_shuffled as batch_shuffled
from regard.batches.pad import pad as pad
from regard.batches.pad import pad_captioned as pad_captioned
from regard.batches.pad import pad_labelled as pad_labelled
from regard.batches.pad import pad_lines as pad_lines
from regard.batches.pad import pad_pairs as pad_pairs
from regard.batches.pad import pad_sources as pad_sources
from regard.batches.pad import pad_tagged as pad_tagged
from regard.batches.pad import pad_texts as pad_texts
from regard.batches.pad import pad_words as pad_words
from regard.batches.pad import select_positions as select_positions
from regard.batches.pad import token_positions as token_positions
