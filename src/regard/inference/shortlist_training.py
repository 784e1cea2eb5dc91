"""How much of given translations a shortlist lets through, and how short it is.

From training pairs to a shortlist, by forced decoding: a target word belongs to the source words it looked at.

In: a model that attends, and pairs as ids. Out: a `Shortlist`. The weights are added up, alpha by alpha, over all
pairs; each source word keeps the target words that gave it most.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from regard.batches import batch_by_length, pad_pairs
from regard.config import in_range
from regard.errors import DataError
from regard.inference.shortlist import Shortlist
from regard.search import decode_forced
from regard.text import EOS, EncodedPair


@dataclass(frozen=True)
class Coverage:
    """What a shortlist costs and what it saves.

    Attributes:
        tokens: the share of the references' tokens that are in their sentence's list.
        sentences: the share of references with all their tokens in it.
        mean_size: the mean number of words in a sentence's list.
        num_pairs: how many references there were.
    """

    tokens: float
    sentences: float
    mean_size: float
    num_pairs: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "covered_tokens": self.tokens,
            "covered_sentences": self.sentences,
            "mean_size": self.mean_size,
            "num_pairs": self.num_pairs,
        }


def covered(shortlist: Shortlist, pairs: Iterable[EncodedPair]) -> Coverage:
    """Look references up; pairs with a blank side are passed over."""
    tokens = found = sentences = whole = size = 0
    for pair in pairs:
        if not (pair.source_ids and pair.target_ids):
            continue
        words = shortlist.of(pair.source_ids)
        there = int(np.isin(pair.target_ids, words).sum())
        tokens, found = tokens + len(pair.target_ids), found + there
        sentences, whole = sentences + 1, whole + (there == len(pair.target_ids))
        size += len(words)
    count = max(sentences, 1)
    return Coverage(found / max(tokens, 1), whole / count, size / count, sentences)


_WINDOW = 4096  # pairs sorted by length together
_LEAST = 0.1
"""The least alpha that counts: below it attention is a haze over the whole sentence."""
_MANY = 1 << 21  # weights that wait to be added up, for that takes a sort


def learn_shortlist(
    model: Callable[..., Any],
    pairs: Iterable[EncodedPair],
    source_size: int,
    target_size: int,
    *,
    per_word: int = 50,
    frequent: int = 200,
    device: str = "cpu",
    batch_sentences: int = 64,
    batch_tokens: int = 4000,
    listener: Callable[[int], None] = lambda num_tokens: None,
) -> Shortlist:
    """Learn which target words each source word can become.

    Args:
        model: in evaluation mode; it attends.
        pairs: what it was trained on; pairs with a blank side are passed over.
        source_size: Vx.
        target_size: Vy.
        per_word: the most target words of a source word.
        frequent: how many of the most frequent target words every sentence gets.
        device: where the model is.
        batch_sentences: the most sentences read at a time.
        batch_tokens: the most tokens of a side read at a time, padding counted.
        listener: is told of each pair's target tokens as it is read.

    Raises:
        ConfigError: a number is out of range.
        DataError: there are no pairs.
    """
    in_range("per_word", per_word, 1)
    in_range("frequent", frequent, 0)
    counts = np.zeros(target_size, dtype=np.int64)
    mass = _Mass(target_size)
    number = 0
    waiting = iter(pair for pair in pairs if pair.source_ids and pair.target_ids)
    while window := list(islice(waiting, _WINDOW)):
        lengths = [pair.length for pair in window]
        for batch in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [window[k] for k in batch]
            with torch.inference_mode():
                read = decode_forced(model, pad_pairs(chosen).to(device))
            for pair, hypothesis in zip(chosen, read, strict=True):
                assert hypothesis.alpha is not None, "the model attends"
                mass.add(hypothesis.alpha[:-1], [*pair.source_ids, EOS], pair.target_ids)
                listener(len(pair.target_ids))
        for pair in window:
            counts += np.bincount(pair.target_ids, minlength=target_size)
        number += len(window)
    if number == 0:
        raise DataError("no pairs to learn a shortlist from; give those the model was trained on")
    common = np.argsort(-counts, kind="stable")[:frequent]
    offsets, words = mass.strongest(source_size, per_word)
    facts = {"pairs": number, "per_word": per_word, "frequent": frequent}
    return Shortlist(offsets, words, np.sort(common[counts[common] > 0]), target_size, facts)


class _Mass:
    """Σ alpha between source and target words, over all pairs so far."""

    def __init__(self, target_size: int) -> None:
        self._target_size = target_size
        self._keys = np.empty(0, dtype=np.int64)  # source · Vy + target, rising
        self._weights: npt.NDArray[np.float64] = np.empty(0)
        self._new: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
        self._num_new = 0

    def add(self, alpha: npt.NDArray[np.float32], source_ids: list[int], target_ids: list[int]) -> None:
        """Add a pair's alpha, (Ty, Tx)."""
        i, j = np.nonzero(alpha >= _LEAST)
        keys = np.array(source_ids)[j] * self._target_size + np.array(target_ids)[i]
        self._new.append((keys, alpha[i, j].astype(np.float64)))
        self._num_new += len(keys)
        if self._num_new > _MANY:
            self._settle()

    def _settle(self) -> None:
        """Add up what is new."""
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._new)])
        weights = np.concatenate([self._weights, *(weights for _, weights in self._new)])
        self._keys, places = np.unique(keys, return_inverse=True)
        self._weights = np.bincount(places, weights, minlength=len(self._keys)).astype(np.float64)
        self._new, self._num_new = [], 0

    def strongest(self, source_size: int, number: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Each source word's strongest target words, as `Shortlist` keeps them."""
        self._settle()
        sources, targets = np.divmod(self._keys, self._target_size)
        order = np.lexsort((targets, -self._weights, sources))
        sources, targets = sources[order], targets[order]
        first = np.searchsorted(sources, np.arange(source_size + 1))
        rank = np.arange(len(sources)) - first[sources]
        kept = rank < number
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[kept], minlength=source_size))])
        return offsets, targets[kept]
