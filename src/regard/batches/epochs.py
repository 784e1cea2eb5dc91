"""The order of an epoch over any number of examples, computed and never stored.

In: the number of examples, their lengths, a seed. Out: the batches of an epoch, by number. An epoch is a pseudo-random
permutation of the examples, cut into windows; within a window, neighbours in length share a batch, and the batches are
shuffled. The permutation is a function of one number, so a window can be computed without those before it: memory does
not grow with the examples beyond one count per window, and a run can go on anywhere. Knows nothing of texts or models.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, isqrt
from typing import overload

import numpy as np
import numpy.typing as npt

from regard.config import in_range

Numbers = npt.NDArray[np.int64]

_ROUNDS = 3  # of both halves
_WINDOW = 100  # batches' worth of examples that are sorted together


class Permutation:
    """A pseudo-random permutation of 0 … n−1, in O(1) memory.

    A generalised Feistel cipher over ⌈√n⌉ × ⌈n/⌈√n⌉⌉ pairs (Black & Rogaway 2002, "Ciphers with arbitrary finite
    domains", method 3): each round adds a hash of one half to the other, which can be undone, so different numbers stay
    different. The few numbers of that rectangle beyond n are permuted until they fall below it ("cycle walking").

    Args:
        size: n.
        seed: with `epoch`, says which permutation.
        epoch: which pass over the examples.
    """

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        self._size = size
        self._rows = max(1, isqrt(max(size - 1, 0)) + 1)
        self._columns = max(1, -(-size // self._rows))
        rng = random.Random(f"{seed} {epoch}")
        self._keys = [
            (np.uint64(rng.getrandbits(64)), np.uint64(rng.getrandbits(64))) for _ in range(_ROUNDS)
        ]

    def __call__(self, numbers: Numbers) -> Numbers:
        """The images of some numbers below n, in their order."""
        images = self._encipher(numbers)
        while len(outside := np.flatnonzero(images >= self._size)):
            images[outside] = self._encipher(images[outside])
        return images

    def _encipher(self, numbers: Numbers) -> Numbers:
        rows, columns = np.divmod(numbers.astype(np.uint64), np.uint64(self._columns))
        for first, second in self._keys:
            rows = (rows + _hash(columns, first)) % np.uint64(self._rows)
            columns = (columns + _hash(rows, second)) % np.uint64(self._columns)
        return (rows * np.uint64(self._columns) + columns).astype(np.int64)


def _hash(values: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.uint64]:
    """32 bits of each value and a key: the finaliser of MurmurHash3 (Appleby 2011), which spreads every bit."""
    mixed = values ^ key
    for factor in (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)):
        mixed = (mixed ^ (mixed >> np.uint64(33))) * factor
    return mixed >> np.uint64(32)


class Mixture:
    """Ranges of examples, each with a weight: how often an epoch has each of its examples.

    A weight of 3 has every example of the range three times; one of 0.25 has a quarter of them, and the next quarter in
    the next epoch.

    Args:
        sizes: of the ranges, which follow one another from example 0 on.
        weights: of each, above 0.
    """

    def __init__(self, sizes: Sequence[int], weights: Sequence[float]) -> None:
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._counts = np.array([round(w * n) for w, n in zip(weights, sizes, strict=True)], np.int64)
        self._ends = np.cumsum(self._counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __call__(self, numbers: Numbers, epoch: int) -> Numbers:
        """The examples that places 0 … len − 1 of an epoch stand for."""
        ranges = np.searchsorted(self._ends, numbers, side="right")
        counts = self._counts[ranges]
        places = numbers - (self._ends[ranges] - counts) + epoch * counts
        sizes = self._starts[ranges + 1] - self._starts[ranges]
        examples: Numbers = self._starts[ranges] + places % sizes
        return examples


class EpochPlan(Sequence[list[int]]):
    """The batches of one epoch over examples that are not in memory, each as the numbers of its examples.

    Equal arguments give equal batches. A window is computed when one of its batches is read, and the last one is kept:
    reading in order computes each window once more than counting did.

    Args:
        lengths: of each example, in tokens: an array, in memory or mapped.
        max_sentences: the most examples in a batch.
        max_tokens: the most tokens in a batch, padding counted; a longer example has a batch of its own.
        seed: the run's seed.
        epoch: which pass over the examples; each has its own order.
        mixture: how often each example is in an epoch; None for once.

    Raises:
        ConfigError: a limit is below 1.
    """

    def __init__(
        self,
        lengths: npt.NDArray[np.int32],
        max_sentences: int,
        max_tokens: int,
        *,
        seed: int,
        epoch: int,
        mixture: Mixture | None = None,
    ) -> None:
        in_range("max_sentences", max_sentences, 1)
        in_range("max_tokens", max_tokens, 1)
        self._lengths, self._max_sentences, self._max_tokens = lengths, max_sentences, max_tokens
        self._seed, self._epoch = seed, epoch
        self._mixture, self._size = mixture, len(lengths if mixture is None else mixture)
        self._permutation = Permutation(self._size, seed, epoch)
        self._window = _WINDOW * max_sentences
        counts = (len(self._cut(w)[1]) - 1 for w in range(ceil(self._size / self._window)))
        self._ends = list(accumulate(counts))
        self._at, self._batches = -1, list[list[int]]()

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> list[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[int]]: ...
    def __getitem__(self, index: int | slice) -> list[int] | list[list[int]]:
        """One batch by number, or several."""
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        number = range(len(self))[index]
        window = bisect_right(self._ends, number)
        if window != self._at:
            self._at, self._batches = window, self._shuffled(window)
        return self._batches[number - (self._ends[window - 1] if window else 0)]

    def __iter__(self) -> Iterator[list[int]]:
        return (self[k] for k in range(len(self)))

    def _cut(self, window: int) -> tuple[Numbers, list[int]]:
        """The examples of a window, sorted by length, and where its batches begin and end among them."""
        start = window * self._window
        numbers = self._permutation(np.arange(start, min(start + self._window, self._size)))
        if self._mixture is not None:
            numbers = self._mixture(numbers, self._epoch)
        lengths = self._lengths[numbers]
        order = np.argsort(lengths, kind="stable")
        return numbers[order], cut_sorted(
            lengths[order].astype(np.int64), self._max_sentences, self._max_tokens
        )

    def _shuffled(self, window: int) -> list[list[int]]:
        numbers, edges = self._cut(window)
        batches = [numbers[start:end].tolist() for start, end in pairwise(edges)]
        random.Random(f"{self._seed} {self._epoch} {window}").shuffle(batches)
        return batches


class Groups(Sequence[Sequence[Sequence[int]]]):
    """Batches in groups, each the batches of one update, read when they are needed.

    Args:
        batches: of an epoch.
        size: of a group; the last one may be smaller.
    """

    def __init__(self, batches: Sequence[Sequence[int]], size: int) -> None:
        self._batches, self._size = batches, size

    def __len__(self) -> int:
        return ceil(len(self._batches) / self._size)

    @overload
    def __getitem__(self, index: int) -> Sequence[Sequence[int]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sequence[Sequence[int]]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[Sequence[int]] | list[Sequence[Sequence[int]]]:
        """One group by number, or several."""
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        start = range(len(self))[index] * self._size
        return self._batches[start : start + self._size]


def cut_sorted(lengths: Numbers, max_sentences: int, max_tokens: int) -> list[int]:
    """Where batches begin and end in sorted examples; each is as large as the limits allow, and has one at least.

    Args:
        lengths: in rising order. A batch of the next k examples has k · (its last length) tokens with padding, which
            rises with k, so the largest k is found by bisection.
        max_sentences: the most examples in a batch.
        max_tokens: the most tokens in a batch, padding counted.
    """
    counts = np.arange(1, max_sentences + 1)
    edges = [0]
    while edges[-1] < len(lengths):
        part = lengths[edges[-1] : edges[-1] + max_sentences]
        fits = int(np.searchsorted(part * counts[: len(part)], max_tokens, side="right"))
        edges.append(edges[-1] + max(fits, 1))
    return edges
