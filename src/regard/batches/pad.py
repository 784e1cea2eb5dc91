"""All that a model ever receives: padded ids with masks, as frozen values.

Lists of ids → padded tensors. What a mask means is said here alone: True where a real token stands.

Padding stands on the right. Sources and targets get their end mark here, so that each row has at least one
real token, even for an empty line.

Lines for a language model, each by itself: the begin mark is read first, the end mark is predicted last.

Vectors of features for a describer, and the words that describe them.

Texts for a classifier: one or two of them to a row, and the label they share.

Words for a tagger, and a tag for each.

A sentence is ended by the end mark, as for every encoder, so that an empty one has something to read; the mark has no
tag.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.text.labelled import EncodedLabelled
from regard.text.links import Links
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, PAD
from regard.text.tagged import EncodedTagged


@dataclass(frozen=True)
class SourceBatch:
    """Sources to translate.

    Attributes:
        source_ids: (B, Tx), each row ended by the end mark, then padding.
        source_mask: (B, Tx), True where a real token stands.
    """

    source_ids: Tensor
    source_mask: Tensor

    def to(self, device: torch.device | str) -> "SourceBatch":
        """The same batch on another device."""
        return SourceBatch(self.source_ids.to(device), self.source_mask.to(device))


@dataclass(frozen=True)
class Batch(SourceBatch):
    """Pairs to learn from or to score.

    Attributes:
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): the begin mark, then the target without its end mark.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by the end mark.
        target_mask: (B, Ty), True where a token is to be predicted.
        gold: (B, Ty, Tx), 1 where a target token is linked to a source token and 0 elsewhere; None where no gold
            links are known.
    """

    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor
    gold: Tensor | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields, `gold` where there is any."""
        words = (self.source_ids, self.source_mask, self.previous_ids, self.target_ids, self.target_mask)
        return words if self.gold is None else (*words, self.gold)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self.tensors))


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


@dataclass(frozen=True)
class LineBatch:
    """Words to predict, each from those before it.

    Attributes:
        previous_ids: y_0 … y_{T−1}, (B, T), what is read.
        target_ids: y_1 … y_T, (B, T), what is to be predicted.
        mask: (B, T), True where a token is to be predicted.
    """

    previous_ids: Tensor
    target_ids: Tensor
    mask: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields."""
        return self.previous_ids, self.target_ids, self.mask

    def to(self, device: torch.device | str) -> "LineBatch":
        """The same batch on another device."""
        return LineBatch(*(tensor.to(device) for tensor in self.tensors))


def pad_lines(lines: Sequence[Sequence[int]]) -> LineBatch:
    """Lines without specials → a batch to learn from or to score."""
    previous_ids, mask = pad([[BOS, *ids] for ids in lines])
    target_ids, _ = pad([[*ids, EOS] for ids in lines])
    return LineBatch(previous_ids, target_ids, mask)


@dataclass(frozen=True)
class FeatureBatch:
    """Vectors and their descriptions, to learn from or to score.

    Attributes:
        features: (B, f).
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): the begin mark, then the description without its end mark.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by the end mark.
        target_mask: (B, Ty), True where a token is to be predicted.
    """

    features: Tensor
    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor

    @property
    def source_mask(self) -> Tensor:
        """(B, 1), all True: to search, a vector is a source of one position."""
        return source_mask_of(self.features)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields."""
        return self.features, self.previous_ids, self.target_ids, self.target_mask

    def to(self, device: torch.device | str) -> "FeatureBatch":
        """The same batch on another device."""
        return FeatureBatch(*(tensor.to(device) for tensor in self.tensors))


def source_mask_of(features: Tensor) -> Tensor:
    """The mask (B, 1) of vectors (B, f) seen as sources of one position."""
    return torch.ones(features.shape[0], 1, dtype=torch.bool, device=features.device)


def pad_captioned(
    features: Sequence[npt.NDArray[np.float32]], descriptions: Sequence[Sequence[int]]
) -> FeatureBatch:
    """Vectors and the ids of their descriptions, without specials → a batch."""
    lines = pad_lines(descriptions)
    return FeatureBatch(stack_features(features), lines.previous_ids, lines.target_ids, lines.mask)


def stack_features(features: Sequence[npt.NDArray[np.float32]]) -> Tensor:
    """Vectors (f,) each → a tensor (B, f)."""
    return torch.from_numpy(np.stack(features))


@dataclass(frozen=True)
class TextBatch:
    """Texts to classify.

    Attributes:
        ids: one tensor (B, T) for each text of a row, one or two, each padded to a width of its own; every
            text is ended by the end mark.
        masks: (B, T) likewise, True where a real token stands.
    """

    ids: tuple[Tensor, ...]
    masks: tuple[Tensor, ...]

    def to(self, device: torch.device | str) -> "TextBatch":
        """The same batch on another device."""
        return TextBatch(_moved(self.ids, device), _moved(self.masks, device))


@dataclass(frozen=True)
class LabelledBatch(TextBatch):
    """Texts to learn from or to score.

    Attributes:
        label_ids: (B,).
    """

    label_ids: Tensor

    def to(self, device: torch.device | str) -> "LabelledBatch":
        """The same batch on another device."""
        return LabelledBatch(_moved(self.ids, device), _moved(self.masks, device), self.label_ids.to(device))


def _moved(tensors: tuple[Tensor, ...], device: torch.device | str) -> tuple[Tensor, ...]:
    return tuple(tensor.to(device) for tensor in tensors)


def pad_texts(rows: Sequence[Sequence[Sequence[int]]]) -> TextBatch:
    """Rows of one or two texts without specials → a batch to classify."""
    padded = [pad([[*ids, EOS] for ids in texts]) for texts in zip(*rows, strict=True)]
    return TextBatch(tuple(ids for ids, _ in padded), tuple(mask for _, mask in padded))


def pad_labelled(examples: Sequence[EncodedLabelled]) -> LabelledBatch:
    """Labelled texts without specials → a batch to learn from or to score."""
    texts = pad_texts([example.text_ids for example in examples])
    label_ids = torch.tensor([example.label_id for example in examples], dtype=torch.long)
    return LabelledBatch(texts.ids, texts.masks, label_ids)


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
