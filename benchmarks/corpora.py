"""Generated parallel corpora, the same on every machine: the training data of every toolkit in a comparison.

In: a `Corpus`, which is sizes and a seed. Out: pairs of lines, tokens separated by blanks, and files of them. Every
word type occurs in the training set, so that vocabularies have exactly the specified size. Knows nothing of models.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

_STRIDE = 7  # target type = (source type · stride + shift) modulo the number of types: one to one
_SHIFT = 3
_SWAPPED = 4  # every fourth type swaps places with the next word
_DOUBLED = 11  # every eleventh type, except the most frequent ones, is translated by two words


@dataclass(frozen=True)
class Corpus:
    """The parameters of a corpus.

    Attributes:
        types: the number of different words on each side.
        shortest: minimum number of words of a source.
        longest: maximum number of words of either side.
        train: training pairs; at least as many as types.
        valid: validation pairs.
        zipf: whether word frequencies follow Zipf's law, the k-th 1/k of the first; otherwise they are uniform.
        seed: of the random numbers.
    """

    types: int
    shortest: int
    longest: int
    train: int
    valid: int
    zipf: bool
    seed: int = 20

    def __post_init__(self) -> None:
        if self.types % _STRIDE == 0:
            raise ValueError(f"{self.types} types: a multiple of {_STRIDE} would not be mapped one to one")
        if self.train < self.types:
            raise ValueError(f"{self.train} pairs cannot begin with each of {self.types} types; make more")

    def pairs(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """The training pairs and the validation pairs."""
        generated = self._generate()
        train = [next(generated) for _ in range(self.train)]
        return train, [next(generated) for _ in range(self.valid)]

    def _generate(self) -> Iterator[tuple[str, str]]:
        """Pair after pair; the k-th source begins with type k, so that every type occurs."""
        rng = random.Random(self.seed)
        weights = [1 / (k + 1) if self.zipf else 1.0 for k in range(self.types)]
        bounds = list(accumulate(weights))
        number = 0
        while True:
            length = rng.randint(self.shortest, self.longest)
            source = [number % self.types, *rng.choices(range(self.types), cum_weights=bounds, k=length - 1)]
            target = self._translate(source)
            if len(target) <= self.longest:
                yield " ".join(f"s{k}" for k in source), " ".join(f"t{k}" for k in target)
                number += 1

    def _translate(self, source: list[int]) -> list[int]:
        """Word for word by a fixed table; some words become two, and some swap places with the next."""
        groups = []
        for k in source:
            word = (k * _STRIDE + _SHIFT) % self.types
            groups.append([word, (word + 1) % self.types] if k % _DOUBLED == _DOUBLED // 2 else [word])
        for i in range(len(source) - 1):
            if source[i] % _SWAPPED == 1:
                groups[i], groups[i + 1] = groups[i + 1], groups[i]
        return [word for group in groups for word in group]


def write(corpus: Corpus, folder: Path) -> None:
    """Write a corpus in the formats that the toolkits read.

    Args:
        corpus: its parameters.
        folder: gets ``train.source``, ``train.target``, ``train.tsv``, the same for ``valid``, and the word lists
            ``words.source`` and ``words.target``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    splits = dict(zip(("train", "valid"), corpus.pairs(), strict=True))
    for name, pairs in splits.items():
        write_pairs(pairs, folder, name)
    for side, name in enumerate(("source", "target")):
        words = sorted({word for pair in splits["train"] for word in pair[side].split()})
        (folder / f"words.{name}").write_text("".join(f"{word}\n" for word in words))


def write_pairs(pairs: Iterable[tuple[str, str]], folder: Path, name: str) -> None:
    """Write pairs as ``NAME.source`` and ``NAME.target``, and tab-separated as ``NAME.tsv``."""
    lines = {"source": "", "target": "", "tsv": ""}
    for source, target in pairs:
        lines["source"] += f"{source}\n"
        lines["target"] += f"{target}\n"
        lines["tsv"] += f"{source}\t{target}\n"
    for ending, text in lines.items():
        (folder / f"{name}.{ending}").write_text(text)


def opposite_words(pairs: Iterable[Any]) -> dict[Any, Counter[Any]]:
    """How often each target word stands opposite a source word, or one word from there, in pairs of lists of words."""
    opposite: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
    for source, target in pairs:
        for i, word in enumerate(target):
            middle = i * len(source) // len(target)
            for j in range(max(0, middle - 1), min(len(source), middle + 2)):
                opposite[source[j]][word] += 1
    return opposite
