"""Ids → batches: sentences of similar length together, padded to tensors with masks, to learn from or predict from.

In: ids without special symbols. Out: batches. A mask is True where a real token is; only this module says so. Padding
is on the right. Sources, targets and texts get their EOS here, so that each row has at least one real token, even
for an empty line; targets are read from BOS on and predicted up to EOS. `token_positions` and
`select_positions` pick the real tokens of a padded batch, so that the output matrix is applied to no padding. Knows
nothing of models.

Batches are values: nobody changes one in place. They are not frozen dataclasses, because Lightning Fabric copies an
objective's arguments field by field into the run's precision (whole numbers and masks stay as they are).
"""

import copy
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate, chain, pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.config import in_range
from regard.errors import DataError
from regard.text.labelled import EncodedLabelled
from regard.text.links import Links
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, PAD, UNK
from regard.text.tagged import EncodedTagged
from regard.text.word_pairs import NUM_AFFIXES, EncodedWordPair, affix_ids

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


@dataclass(eq=False)
class Inputs:
    """What a model predicts from: tensors, or tuples of tensors."""

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        moved = copy.copy(self)
        for each in fields(self):
            setattr(moved, each.name, _move(getattr(self, each.name), device))
        return moved


def _move(value: Any, device: torch.device | str) -> Any:
    if isinstance(value, tuple):
        return tuple(_move(item, device) for item in value)
    return value.to(device) if isinstance(value, Tensor) else value


@dataclass(eq=False)
class Batch(Inputs):
    """What a model learns from: inputs with the answers. The counts are taken on the CPU, so reading them never waits.

    Attributes:
        num_tokens: the number of predictions the loss sums over.
        num_sentences: B, the number of rows.
    """

    num_tokens: int = field(init=False)
    num_sentences: int = field(init=False)

    @property
    def num_read(self) -> int:
        """The tokens that speed is counted in: the predictions, or the tokens read where a row has one label."""
        return self.num_tokens

    def _count(self, predicted: Tensor) -> None:
        """Count the predictions of a mask (B, T) and its rows."""
        self.num_tokens, self.num_sentences = int(predicted.sum()), len(predicted)


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Pad rows of ids on the right.

    Returns:
        ids (B, T) and mask (B, T).
    """
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(width) < lengths.unsqueeze(1)


def known_ids(ids: Tensor, vocabulary_size: int) -> Tensor:
    """Ids with the unknown word in place of those outside the vocabulary."""
    return torch.where(ids < vocabulary_size, ids, UNK)


def token_positions(mask: Tensor) -> Tensor:
    """The flat positions of the N real tokens of a batch, row by row: (B, T) → (N,).

    N is read from the device, which waits for all queued work: on a GPU, call this before the forward pass.
    """
    return mask.flatten().nonzero().squeeze(1)


def select_positions(values: Tensor, positions: Tensor) -> Tensor:
    """The values at the given flat positions of a batch: (B, T, …) → (N, …).

    The same as ``values[mask]``, but faster: the backward pass is a copy of rows.
    """
    return values.flatten(0, 1).index_select(0, positions)


@dataclass(eq=False)
class SourceBatch(Inputs):
    """Sources to translate.

    Attributes:
        source_ids: (B, Tx), each row ended by EOS, then padding.
        source_mask: (B, Tx), True where a real token is.
    """

    source_ids: Tensor
    source_mask: Tensor


def pad_sources(sources: Sequence[Sequence[int]]) -> SourceBatch:
    """Pad sources to translate."""
    return SourceBatch(*pad([[*ids, EOS] for ids in sources]))


@dataclass(eq=False)
class PairBatch(SourceBatch, Batch):
    """Sentence pairs, to learn from or to score.

    Attributes:
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): BOS, then the target without its EOS.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by EOS.
        target_mask: (B, Ty), True where a token is to be predicted.
        gold: (B, Ty, Tx), 1 where a target token is linked to a source token and 0 elsewhere; None where no gold
            links are known.
    """

    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor
    gold: Tensor | None = None

    def __post_init__(self) -> None:
        self._count(self.target_mask)


def pad_pairs(pairs: Sequence[EncodedPair]) -> PairBatch:
    """Pad sentence pairs; gold links become a matrix where any pair has some."""
    source_ids, source_mask = pad([[*pair.source_ids, EOS] for pair in pairs])
    previous_ids, target_mask = pad([[BOS, *pair.target_ids] for pair in pairs])
    target_ids, _ = pad([[*pair.target_ids, EOS] for pair in pairs])
    gold = None
    if any(pair.links is not None for pair in pairs):
        gold = _gold_links(
            [pair.links or frozenset() for pair in pairs], target_ids.shape[1], source_ids.shape[1]
        )
    return PairBatch(source_ids, source_mask, previous_ids, target_ids, target_mask, gold)


def _gold_links(links: Sequence[Links], num_targets: int, num_sources: int) -> Tensor:
    """1 where a target token is linked to a source token and 0 elsewhere, (B, Ty, Tx)."""
    gold = torch.zeros(len(links), num_targets, num_sources)
    for row, linked in zip(gold, links, strict=True):
        for j, i in linked:
            row[i, j] = 1.0
    return gold


@dataclass(eq=False)
class WordPairs(Inputs):
    """Sentence pairs as words, without EOS.

    Attributes:
        source_ids: (B, J), padded.
        source_mask: (B, J), True at words.
        target_ids: (B, I), padded.
        target_mask: (B, I), True at words.
    """

    source_ids: Tensor
    source_mask: Tensor
    target_ids: Tensor
    target_mask: Tensor

    @property
    def cells(self) -> Tensor:
        """(B, I, J), True where a source and a target word meet."""
        return self.target_mask.unsqueeze(2) & self.source_mask.unsqueeze(1)


def pad_word_ids(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> WordPairs:
    """Pad the ids of pairs."""
    sources, targets = (pad([pair[side] for pair in pairs]) for side in (0, 1))
    return WordPairs(*sources, *targets)


@dataclass(eq=False)
class WordPairBatch(WordPairs, Batch):
    """Sentence pairs as words with their affixes, to learn from or to align.

    Attributes:
        source_affixes: (B, J, affixes), ids; None for a model without affixes.
        target_affixes: (B, I, affixes), ids; None for a model without affixes.
    """

    source_affixes: Tensor | None = None
    target_affixes: Tensor | None = None

    def __post_init__(self) -> None:
        self._count(self.target_mask)
        self.num_tokens += int(self.source_mask.sum())


def pad_word_pairs(pairs: Sequence[EncodedWordPair], num_affixes: int) -> WordPairBatch:
    """Pad pairs of words.

    Args:
        pairs: neither side of any is empty.
        num_affixes: the number of ids of affixes; 0 for none.
    """
    sources = pad([pair.source_ids for pair in pairs])
    targets = pad([pair.target_ids for pair in pairs])
    affixes: list[Tensor | None] = [None, None]
    if num_affixes:
        affixes = [
            _pad_affixes([pair.source_words for pair in pairs], num_affixes),
            _pad_affixes([pair.target_words for pair in pairs], num_affixes),
        ]
    return WordPairBatch(*sources, *targets, *affixes)


def _pad_affixes(rows: Sequence[Sequence[str]], num_affixes: int) -> Tensor:
    padded = np.zeros((len(rows), max(map(len, rows)), NUM_AFFIXES), dtype=np.int64)
    for row, words in zip(padded, rows, strict=True):
        row[: len(words)] = [affix_ids(word, num_affixes) for word in words]
    return torch.from_numpy(padded)


@dataclass(eq=False)
class LineBatch(Batch):
    """Tokens of a language model, each predicted from those before it.

    Attributes:
        previous_ids: y_0 … y_{T−1}, (B, T), what is read.
        target_ids: y_1 … y_T, (B, T), what is to be predicted.
        mask: (B, T), True where a token is to be predicted.
        continues: whether the model starts from the state that the batch before it ended in.
    """

    previous_ids: Tensor
    target_ids: Tensor
    mask: Tensor
    continues: bool = False

    def __post_init__(self) -> None:
        self._count(self.mask)

    def rows(self, first: int, step: int) -> "LineBatch":
        """The batch of every `step`-th row from `first` on."""
        part = slice(first, None, step)
        return LineBatch(
            self.previous_ids[part], self.target_ids[part], self.mask[part], continues=self.continues
        )


def pad_lines(lines: Sequence[Sequence[int]]) -> LineBatch:
    """Pad lines that are read one by one, each from BOS."""
    previous_ids, mask = pad([[BOS, *ids] for ids in lines])
    target_ids, _ = pad([[*ids, EOS] for ids in lines])
    return LineBatch(previous_ids, target_ids, mask)


def cut_streams(num_tokens: int, num_streams: int, steps: int) -> tuple[list[tuple[int, int]], int]:
    """Where the streams of a text start and end, and the number of their windows; see `Stream`.

    Raises:
        ConfigError: there are fewer than one stream or step.
        DataError: there are more streams than tokens.
    """
    in_range("the number of streams", num_streams, 1)
    in_range("the steps of a window", steps, 1)
    if num_tokens < num_streams:
        raise DataError(
            f"{num_tokens} tokens, EOS counted, cannot be cut into {num_streams} streams; give more text, or set fewer "
            "streams"
        )
    shortest, longer = divmod(num_tokens, num_streams)
    ends = list(accumulate(shortest + (b < longer) for b in range(num_streams)))
    return list(pairwise([0, *ends])), -(-shortest // steps)


class Stream:
    """Continuous text for a language model: the corpus in parallel streams, cut into windows of time.

    Lines are joined by EOS: w … w </s> w … w </s>. The tokens are cut into streams of equal length, the first few
    one token longer where they do not divide. Every token of the corpus is predicted once in a pass, after the token
    before it; the first of a stream from a zero state. EOS is predicted and never read: before a line's first
    word BOS is read, as for single lines, so that a model of either kind can start one. The caller carries
    the state from each window to the next, without its gradient (truncated back-propagation).

    Row b of every window is the same stream. The last window has fewer steps than the others, or one more, so that no
    row of it is empty.

    Args:
        lines: ids without special symbols, one list per line.
        num_streams: B, how many are read side by side.
        steps: T, the tokens of each stream in a window.

    Attributes:
        num_tokens: the corpus's tokens, EOS counted: the predictions of one pass.

    Raises:
        ConfigError: there are fewer than one stream or step.
        DataError: there are more streams than tokens.
    """

    def __init__(self, lines: Iterable[Sequence[int]], num_streams: int, steps: int) -> None:
        tokens = list(chain.from_iterable((*ids, EOS) for ids in lines))
        self.num_tokens = len(tokens)
        spans, self._num_windows = cut_streams(len(tokens), num_streams, steps)
        before = [BOS, *(BOS if token == EOS else token for token in tokens)]
        self._previous_ids, self._mask = pad([before[start:end] for start, end in spans])
        self._target_ids, _ = pad([tokens[start:end] for start, end in spans])
        self._steps = steps

    def __len__(self) -> int:
        return self._num_windows

    def __iter__(self) -> Iterator[LineBatch]:
        return (self[k] for k in range(self._num_windows))

    def __getitem__(self, index: int) -> LineBatch:
        """One window, by number: a reader can continue where it stopped."""
        k = range(self._num_windows)[index]
        last = k == self._num_windows - 1
        part = slice(k * self._steps, None if last else (k + 1) * self._steps)
        return LineBatch(
            self._previous_ids[:, part], self._target_ids[:, part], self._mask[:, part], continues=k > 0
        )


@dataclass(eq=False)
class CaptionBatch(Batch):
    """Feature vectors and their captions, to learn from or to score.

    Attributes:
        features: (B, f).
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): BOS, then the caption without its EOS.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by EOS.
        target_mask: (B, Ty), True where a token is to be predicted.
    """

    features: Tensor
    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor

    def __post_init__(self) -> None:
        self._count(self.target_mask)

    @property
    def source_mask(self) -> Tensor:
        """(B, 1), all True: to search, a vector is a source of one position."""
        return feature_mask(self.features)


def feature_mask(features: Tensor) -> Tensor:
    """The mask (B, 1) of vectors (B, f) seen as sources of one position."""
    return torch.ones(features.shape[0], 1, dtype=torch.bool, device=features.device)


def pad_captioned(
    features: Sequence[npt.NDArray[np.float32]], captions: Sequence[Sequence[int]]
) -> CaptionBatch:
    """Stack feature vectors and pad the ids of their captions."""
    lines = pad_lines(captions)
    return CaptionBatch(stack_features(features), lines.previous_ids, lines.target_ids, lines.mask)


def stack_features(features: Sequence[npt.NDArray[np.float32]]) -> Tensor:
    """Stack vectors (f,) into a tensor (B, f)."""
    return torch.from_numpy(np.stack(features))


@dataclass(eq=False)
class TextBatch(Inputs):
    """Texts to classify.

    Attributes:
        ids: one tensor (B, T) per text of a row, one or two, each padded to its own width; every text is ended by the
            EOS.
        masks: (B, T) each, True where a real token is.
    """

    ids: tuple[Tensor, ...]
    masks: tuple[Tensor, ...]


def pad_texts(rows: Sequence[Sequence[Sequence[int]]]) -> TextBatch:
    """Pad rows of one or two texts to classify."""
    padded = [pad([[*ids, EOS] for ids in texts]) for texts in zip(*rows, strict=True)]
    return TextBatch(tuple(ids for ids, _ in padded), tuple(mask for _, mask in padded))


@dataclass(eq=False)
class LabelledBatch(TextBatch, Batch):
    """Texts with their labels, to learn from or to score.

    Attributes:
        label_ids: (B,).
    """

    label_ids: Tensor

    def __post_init__(self) -> None:
        self.num_tokens = self.num_sentences = len(self.label_ids)  # one prediction per row
        self._num_read = sum(int(mask.sum()) for mask in self.masks)

    @property
    def num_read(self) -> int:
        """The tokens of all texts, EOS counted."""
        return self._num_read


def pad_labelled(examples: Sequence[EncodedLabelled]) -> LabelledBatch:
    """Pad labelled texts."""
    texts = pad_texts([example.text_ids for example in examples])
    label_ids = torch.tensor([example.label_id for example in examples], dtype=torch.long)
    return LabelledBatch(texts.ids, texts.masks, label_ids)


@dataclass(eq=False)
class WordBatch(Inputs):
    """Sentences to tag.

    Attributes:
        ids: (B, T), one per word, then EOS (so that an empty sentence has something to read), then padding.
        mask: (B, T), True where a real token is, EOS included.
        word_mask: (B, T), True where a word is: what gets a tag.
    """

    ids: Tensor
    mask: Tensor
    word_mask: Tensor


def pad_words(sentences: Sequence[Sequence[int]]) -> WordBatch:
    """Pad sentences to tag."""
    ids, mask = pad([[*words, EOS] for words in sentences])
    lengths = torch.tensor([len(words) for words in sentences])
    return WordBatch(ids, mask, torch.arange(ids.shape[1]) < lengths.unsqueeze(1))


@dataclass(eq=False)
class TaggedBatch(WordBatch, Batch):
    """Sentences with their tags, to learn from or to score.

    Attributes:
        tag_ids: (B, T); undefined where `word_mask` is False.
    """

    tag_ids: Tensor

    def __post_init__(self) -> None:
        self._count(self.word_mask)


def pad_tagged(sentences: Sequence[EncodedTagged]) -> TaggedBatch:
    """Pad tagged sentences."""
    words = pad_words([sentence.word_ids for sentence in sentences])
    tag_ids = torch.zeros_like(words.ids)
    tag_ids[words.word_mask] = torch.tensor(
        [tag for sentence in sentences for tag in sentence.tag_ids], dtype=torch.long
    )
    return TaggedBatch(words.ids, words.mask, words.word_mask, tag_ids)
