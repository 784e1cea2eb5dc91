"""Vocabulary shortlists: for each source word the target words it can become, and the words any sentence may need.

`train_shortlist` makes one by forced decoding of training pairs: a target word belongs to the source words it
attended to; the weights are summed over all pairs, and each source word keeps the target words with the largest sums.
`Shortlist.words_for` gives the ids that a sentence's translation is chosen from, a few hundred of many thousand; the
file is part of the model folder. `with_shortlists` makes a model for one batch whose output layer has a row for each
word on any of the batch's lists; a sentence chooses only among its own, so that the rest of the batch changes
nothing. Probabilities are normalised over the words of the list.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
import torch
from torch import Tensor

from regard.batches import batch_by_length, pad_pairs
from regard.config import in_range
from regard.errors import DataError, FolderError
from regard.inference.ensemble import Ensemble
from regard.io import check_safetensors, parse_json, write_whole
from regard.models.state import StepOutput
from regard.search.forced import decode_forced
from regard.text import EncodedPair
from regard.text.specials import EOS, UNK

Ids = npt.NDArray[np.int64]

FILE = "shortlist.safetensors"
_NAMES = ("offsets", "words", "frequent")


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The target words that each source word can become.

    Attributes:
        offsets: (Vx + 1,), the index in `words` at which each source word's list begins.
        words: target ids, source word after source word.
        frequent: target ids that are on every sentence's list.
        target_size: Vy, of the vocabulary it belongs to.
        facts: what it was trained on.
    """

    offsets: Ids
    words: Ids
    frequent: Ids
    target_size: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def source_size(self) -> int:
        """Vx, of the vocabulary it belongs to."""
        return len(self.offsets) - 1

    def words_for(self, source_ids: Iterable[int], required: Sequence[Iterable[int]] = ()) -> Ids:
        """The target ids of one sentence, in rising order; EOS and the unknown word always among them.

        Args:
            source_ids: of the sentence.
            required: phrases that its translation must contain.
        """
        by_source = [self.words[self.offsets[i] : self.offsets[i + 1]] for i in {*source_ids, EOS}]
        phrases = [np.array(list(phrase), dtype=np.int64) for phrase in required]
        return np.unique(np.concatenate([*by_source, *phrases, self.frequent, np.array([UNK, EOS])]))

    def save(self, folder: str | Path) -> Path:
        """Write it into a model folder, whole or not at all.

        Raises:
            DataError: the folder cannot be written.
        """
        arrays = {name: getattr(self, name) for name in _NAMES}
        metadata = {"target_size": str(self.target_size), "facts": json.dumps(self.facts)}
        content = safetensors.numpy.save(arrays, metadata)
        path = Path(folder) / FILE
        write_whole(path, lambda file: file.write(content))
        return path

    @classmethod
    def load(cls, folder: str | Path, source_size: int, target_size: int) -> "Shortlist":
        """Read what `save` wrote.

        Args:
            folder: the model's.
            source_size: Vx, of the model.
            target_size: Vy, of the model.

        Raises:
            FolderError: there is none, it is damaged, or it belongs to other vocabularies.
        """
        path = Path(folder) / FILE
        try:
            check_safetensors(path)
            with safetensors.safe_open(path, framework="np") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in _NAMES}
            for name, array in arrays.items():
                if array.dtype != np.int64 or array.ndim != 1:
                    raise ValueError(f"{name} is an array of {array.dtype} and shape {array.shape}")
            shortlist = cls(
                **arrays, target_size=int(metadata["target_size"]), facts=parse_json(metadata["facts"])
            )
        except FileNotFoundError:
            raise FolderError(
                f"{folder}: this model has no shortlist yet; make one with `regard shortlist`"
            ) from None
        except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError, MemoryError) as error:
            raise FolderError(f"{path}: damaged: {error}; make it again with `regard shortlist`") from error
        if (shortlist.source_size, shortlist.target_size) != (source_size, target_size):
            raise FolderError(
                f"{path}: made for vocabularies of {shortlist.source_size:,} and {shortlist.target_size:,} words, and "
                f"the model has {source_size:,} and {target_size:,}; make it again with `regard shortlist`"
            )
        if fault := shortlist.fault():
            raise FolderError(f"{path}: damaged: {fault}; make it again with `regard shortlist`")
        return shortlist

    def fault(self) -> str:
        """What makes its arrays useless, if anything does: lists that overlap, or ids outside the vocabulary."""
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.words) or (np.diff(self.offsets) < 0).any():
            return f"the lists do not divide {len(self.words):,} words"
        ids = np.concatenate([self.words, self.frequent])
        wrong = ids[(ids < 0) | (ids >= self.target_size)]
        return f"word {wrong[0]} is not one of {self.target_size:,}" if len(wrong) else ""


@dataclass(frozen=True)
class ShortlistedSource:
    """A source, and the words its translation may not have.

    Attributes:
        source: as the model encoded it.
        forbidden: (B, S), True where a word is on another sentence's list only; None where none is.
    """

    source: Any
    forbidden: Tensor | None

    @property
    def mask(self) -> Tensor:
        """True where a real word is, (B, Tx)."""
        mask: Tensor = self.source.mask
        return mask

    def select(self, rows: Tensor) -> "ShortlistedSource":
        """The sentences at `rows`, in that order."""
        forbidden = None if self.forbidden is None else self.forbidden.index_select(0, rows)
        return ShortlistedSource(self.source.select(rows), forbidden)

    def with_forced_attention(self, positions: Tensor | None) -> "ShortlistedSource":
        """The same source for a step of forced attention."""
        return replace(self, source=self.source.with_forced_attention(positions))


class ShortlistedDecoder:
    """A decoder that chooses among the words of a batch's shortlists.

    Args:
        decoder: of the model.
        words: (S,), the ids of the logits' columns.
    """

    def __init__(self, decoder: Any, words: Tensor) -> None:
        self.words = words
        self._decoder = decoder.shortlist(words)

    def initial_state(self, encoded: Any) -> Any:
        """The state before the first word."""
        return self._decoder.initial_state(encoded.source)

    def step(self, previous_ids: Tensor, state: Any, encoded: Any) -> StepOutput:
        """One step for R rows; logits (R, S), −∞ at words that are not on the sentence's list."""
        output: StepOutput = self._decoder.step(previous_ids, state, encoded.source)
        if encoded.forbidden is not None:
            by_sentence = output.logits.view(len(encoded.forbidden), -1, len(self.words))  # (B, K, S)
            by_sentence.masked_fill_(encoded.forbidden.unsqueeze(1), float("-inf"))
        return output


class ShortlistedModel:
    """A model for one batch.

    Args:
        model: whose decoder can be cut down to a shortlist.
        words: (S,), all words of the batch's lists.
        forbidden: (B, S); see `ShortlistedSource`.
    """

    def __init__(self, model: Any, words: Tensor, forbidden: Tensor | None) -> None:
        self._model, self._forbidden = model, forbidden
        self.decoder = ShortlistedDecoder(model.decoder, words)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> ShortlistedSource:
        """Encode the batch that the lists belong to."""
        return ShortlistedSource(self._model.encode(source_ids, source_mask), self._forbidden)


def with_shortlists(model: Any, lists: Sequence[Ids], device: str) -> Any:
    """A model, or an ensemble, for a batch with these lists.

    Args:
        model: with `encode` and `decoder`.
        lists: for each sentence the ids it may choose from, in rising order.
        device: where the model is.
    """
    words = np.unique(np.concatenate(lists))  # (S,)
    allowed = torch.from_numpy(np.stack([np.isin(words, each, assume_unique=True) for each in lists]))
    forbidden = None if bool(allowed.all()) else ~allowed.to(device)
    ids = torch.from_numpy(words).to(device)
    if isinstance(model, Ensemble):
        return Ensemble([ShortlistedModel(each, ids, forbidden) for each in model.models], model.combination)
    return ShortlistedModel(model, ids, forbidden)


@dataclass(frozen=True)
class ShortlistCoverage:
    """How much of given references a shortlist covers, and how short it is.

    Attributes:
        tokens: the share of the references' tokens that are on their sentence's list.
        sentences: the share of references with all their tokens on it.
        mean_size: the mean number of words on a sentence's list.
        num_pairs: how many references there were.
    """

    tokens: float
    sentences: float
    mean_size: float
    num_pairs: int

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "covered_tokens": self.tokens,
            "covered_sentences": self.sentences,
            "mean_size": self.mean_size,
            "num_pairs": self.num_pairs,
        }


def measure_coverage(shortlist: Shortlist, pairs: Iterable[EncodedPair]) -> ShortlistCoverage:
    """How much of given references a shortlist covers; pairs with a blank side are skipped."""
    num_tokens = covered_tokens = num_pairs = covered_pairs = size = 0
    for pair in pairs:
        if not (pair.source_ids and pair.target_ids):
            continue
        words = shortlist.words_for(pair.source_ids)
        covered = int(np.isin(pair.target_ids, words).sum())
        num_tokens, covered_tokens = num_tokens + len(pair.target_ids), covered_tokens + covered
        num_pairs, covered_pairs = num_pairs + 1, covered_pairs + (covered == len(pair.target_ids))
        size += len(words)
    count = max(num_pairs, 1)
    return ShortlistCoverage(
        covered_tokens / max(num_tokens, 1), covered_pairs / count, size / count, num_pairs
    )


_WINDOW = 4096  # pairs sorted by length together
_LEAST_ALPHA = 0.1  # smaller weights are spread over the whole sentence and say nothing of a word
_MOST_PENDING = 1 << 21  # weights collected before they are summed, since summing sorts them


def train_shortlist(
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
    """Make a shortlist from the attention of a model to its training pairs.

    Args:
        model: in evaluation mode; it attends.
        pairs: what it was trained on; pairs with a blank side are skipped.
        source_size: Vx.
        target_size: Vy.
        per_word: the most target words per source word.
        frequent: how many of the most frequent target words are on every list.
        device: where the model is.
        batch_sentences: the most pairs in a batch.
        batch_tokens: the most tokens of a side in a batch, padding counted.
        listener: is called with the number of target tokens of each pair.

    Raises:
        ConfigError: a number is out of range.
        DataError: there are no pairs.
    """
    in_range("per_word", per_word, 1)
    in_range("frequent", frequent, 0)
    counts = np.zeros(target_size, dtype=np.int64)
    sums = _AlphaSums(target_size)
    num_pairs = 0
    waiting = iter(pair for pair in pairs if pair.source_ids and pair.target_ids)
    while window := list(islice(waiting, _WINDOW)):
        lengths = [pair.length for pair in window]
        for members in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [window[k] for k in members]
            with torch.inference_mode():
                hypotheses = decode_forced(model, pad_pairs(chosen).to(device))
            for pair, hypothesis in zip(chosen, hypotheses, strict=True):
                assert hypothesis.alpha is not None, "the model attends"
                sums.add(hypothesis.alpha[:-1], [*pair.source_ids, EOS], pair.target_ids)
                listener(len(pair.target_ids))
        for pair in window:
            counts += np.bincount(pair.target_ids, minlength=target_size)
        num_pairs += len(window)
    if num_pairs == 0:
        raise DataError("no pairs to make a shortlist from; give those the model was trained on")
    common = np.argsort(-counts, kind="stable")[:frequent]
    offsets, words = sums.largest(source_size, per_word)
    facts = {"pairs": num_pairs, "per_word": per_word, "frequent": frequent}
    return Shortlist(offsets, words, np.sort(common[counts[common] > 0]), target_size, facts)


class _AlphaSums:
    """Σ alpha between source and target words, over all pairs so far."""

    def __init__(self, target_size: int) -> None:
        self._target_size = target_size
        self._keys = np.empty(0, dtype=np.int64)  # source · Vy + target, rising
        self._weights: npt.NDArray[np.float64] = np.empty(0)
        self._pending: list[tuple[Ids, npt.NDArray[np.float64]]] = []
        self._num_pending = 0

    def add(self, alpha: npt.NDArray[np.float32], source_ids: list[int], target_ids: list[int]) -> None:
        """Add a pair's alpha, (Ty, Tx)."""
        i, j = np.nonzero(alpha >= _LEAST_ALPHA)
        keys = np.array(source_ids)[j] * self._target_size + np.array(target_ids)[i]
        self._pending.append((keys, alpha[i, j].astype(np.float64)))
        self._num_pending += len(keys)
        if self._num_pending > _MOST_PENDING:
            self._sum()

    def _sum(self) -> None:
        """Add the pending weights to the sums."""
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        weights = np.concatenate([self._weights, *(weights for _, weights in self._pending)])
        self._keys, places = np.unique(keys, return_inverse=True)
        self._weights = np.bincount(places, weights, minlength=len(self._keys)).astype(np.float64)
        self._pending, self._num_pending = [], 0

    def largest(self, source_size: int, number: int) -> tuple[Ids, Ids]:
        """Each source word's target words with the largest sums, as `Shortlist` keeps them."""
        self._sum()
        sources, targets = np.divmod(self._keys, self._target_size)
        order = np.lexsort((targets, -self._weights, sources))
        sources, targets = sources[order], targets[order]
        first = np.searchsorted(sources, np.arange(source_size + 1))
        rank = np.arange(len(sources)) - first[sources]
        kept = rank < number
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[kept], minlength=source_size))])
        return offsets, targets[kept]
