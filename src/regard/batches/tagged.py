"""Words for a tagger, and a tag for each.

A sentence is ended by the end mark, as for every encoder, so that an empty one has something to read; the mark has no
tag.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batches.pad import pad
from regard.text.specials import EOS
from regard.text.tagged import EncodedTagged


@dataclass(frozen=True)
class WordBatch:
    """Sentences to tag.

    Attributes:
        ids: (B, T), one for each word, then the end mark, then padding.
        mask: (B, T), True where a real token stands, the end mark among them.
        word_mask: (B, T), True where a word stands: what gets a tag.
    """

    ids: Tensor
    mask: Tensor
    word_mask: Tensor

    def to(self, device: torch.device | str) -> "WordBatch":
        """The same batch on another device."""
        return WordBatch(self.ids.to(device), self.mask.to(device), self.word_mask.to(device))


@dataclass(frozen=True)
class TaggedBatch(WordBatch):
    """Sentences to learn from or to score.

    Attributes:
        tag_ids: (B, T); what stands where `word_mask` is False means nothing.
    """

    tag_ids: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields."""
        return self.ids, self.mask, self.word_mask, self.tag_ids

    def to(self, device: torch.device | str) -> "TaggedBatch":
        """The same batch on another device."""
        return TaggedBatch(*(tensor.to(device) for tensor in self.tensors))


def pad_words(sentences: Sequence[Sequence[int]]) -> WordBatch:
    """Words' ids without specials → a batch to tag."""
    ids, mask = pad([[*words, EOS] for words in sentences])
    lengths = torch.tensor([len(words) for words in sentences])
    return WordBatch(ids, mask, torch.arange(ids.shape[1]) < lengths.unsqueeze(1))


def pad_tagged(sentences: Sequence[EncodedTagged]) -> TaggedBatch:
    """Words with tags → a batch to learn from or to score."""
    words = pad_words([sentence.word_ids for sentence in sentences])
    tag_ids = torch.zeros_like(words.ids)
    tag_ids[words.word_mask] = torch.tensor(
        [tag for sentence in sentences for tag in sentence.tag_ids], dtype=torch.long
    )
    return TaggedBatch(words.ids, words.mask, words.word_mask, tag_ids)
