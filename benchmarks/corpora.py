"""Generated parallel corpora, the same on every machine: what every toolkit in a comparison learns from.

In: a `Corpus`, which is sizes and a seed. Out: pairs of lines, tokens parted by blanks, and files of them. Every word
type stands in the training part, so that vocabularies have exactly the size asked for. Knows nothing of models.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

_STRIDE = 7  # target type = (source type · stride + shift) modulo the types, one to one
_SHIFT = 3
_TURNS = 4  # every fourth type changes places with the word behind it
_PAIRED = 11  # every eleventh type, beginning behind the commonest, is written as two words


@dataclass(frozen=True)
class Corpus:
    """What a corpus is like.

    Attributes:
        types: how many different words a side has.
        shortest: the least words of a source.
        longest: the most words of either side.
        train: pairs to learn from; at least as many as types.
        valid: pairs to validate with.
        zipf: whether words are as frequent as in a language, the k-th 1/k of the first; else all alike.
        seed: of all draws.
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
        """The pairs to learn from, and those to validate with."""
        drawn = self._drawn()
        train = [next(drawn) for _ in range(self.train)]
        return train, [next(drawn) for _ in range(self.valid)]

    def _drawn(self) -> Iterator[tuple[str, str]]:
        """Pair after pair; the k-th source begins with type k, so that none is missing."""
        rng = random.Random(self.seed)
        weights = [1 / (k + 1) if self.zipf else 1.0 for k in range(self.types)]
        bounds = list(accumulate(weights))
        number = 0
        while True:
            length = rng.randint(self.shortest, self.longest)
            source = [number % self.types, *rng.choices(range(self.types), cum_weights=bounds, k=length - 1)]
            target = self._translated(source)
            if len(target) <= self.longest:
                yield " ".join(f"s{k}" for k in source), " ".join(f"t{k}" for k in target)
                number += 1

    def _translated(self, source: list[int]) -> list[int]:
        """Word for word by a fixed table, some two for one, some changing places with the next."""
        groups = []
        for k in source:
            word = (k * _STRIDE + _SHIFT) % self.types
            groups.append([word, (word + 1) % self.types] if k % _PAIRED == _PAIRED // 2 else [word])
        for i in range(len(source) - 1):
            if source[i] % _TURNS == 1:
                groups[i], groups[i + 1] = groups[i + 1], groups[i]
        return [word for group in groups for word in group]


def write(corpus: Corpus, folder: Path) -> None:
    """Write a corpus as others read it: parallel files, tab-separated ones, and a list of words a side.

    Args:
        corpus: which.
        folder: gets ``train.source``, ``train.target``, ``train.tsv``, the same of ``valid``, and ``words.source``,
            ``words.target``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = dict(zip(("train", "valid"), corpus.pairs(), strict=True))
    for name, pairs in parts.items():
        write_part(pairs, folder, name)
    for side, name in enumerate(("source", "target")):
        words = sorted({word for pair in parts["train"] for word in pair[side].split()})
        (folder / f"words.{name}").write_text("".join(f"{word}\n" for word in words))


def write_part(pairs: Iterable[tuple[str, str]], folder: Path, name: str) -> None:
    """Write pairs as ``NAME.source`` and ``NAME.target``, and both with a tab between them as ``NAME.tsv``."""
    lines = {"source": "", "target": "", "tsv": ""}
    for source, target in pairs:
        lines["source"] += f"{source}\n"
        lines["target"] += f"{target}\n"
        lines["tsv"] += f"{source}\t{target}\n"
    for ending, text in lines.items():
        (folder / f"{name}.{ending}").write_text(text)
