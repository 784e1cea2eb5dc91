"""BPE-dropout (Provilkov et al. 2020, Algorithm 1): words in other pieces each time they are read.

In: ids as a `bpe` tokenizer gives them. Out: ids of the same text in pieces that a segmentation with dropout gives:
before each merge, every merge that is possible is left out with probability p; the segmentation ends where none is
left. So a model sees rare pieces and characters in many words, which helps where there is little data. To translate,
words are in the tokenizer's own pieces.

Each word has `NUM_SAMPLES` segmentations, sampled once from the seed and the word, and each reading chooses one of
them: as good as sampling anew after that many epochs, and a hundred times as fast.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

from regard.errors import ConfigError
from regard.text.specials import SPECIALS
from regard.text.tokenizer import MARK, Tokenizer

NUM_SAMPLES = 64
"""Segmentations sampled for each word."""

Word = tuple[int, ...]


class BPEDropout:
    """Segmentations of words by BPE-dropout.

    Args:
        tokenizer: of kind ``bpe``.
        dropout: p, the probability of leaving out a merge.
        seed: of the samples.

    Raises:
        ConfigError: the tokenizer has no merges.
    """

    def __init__(self, tokenizer: Tokenizer, dropout: float, seed: int) -> None:
        if tokenizer.kind != "bpe":
            raise ConfigError(f"BPE-dropout is for bpe; these are tokens of kind {tokenizer.kind!r}")
        self._dropout = dropout
        self._seed = seed
        self._pieces = tokenizer.tokens(range(tokenizer.size - len(tokenizer.features)))
        self._ids = {piece: i for i, piece in enumerate(self._pieces[len(SPECIALS) :], start=len(SPECIALS))}
        self._ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges())}
        self._samples: dict[Word, list[Word]] = {}

    def sample(self, ids: Sequence[int], rng: random.Random) -> list[int]:
        """Ids of the same text in sampled pieces; specials and features stay as they are.

        Args:
            ids: in the tokenizer's own pieces.
            rng: chooses one of a word's samples.
        """
        sampled: list[int] = []
        for word in self._words(ids):
            samples = self._samples.get(word)
            if samples is None:
                samples = self._samples[word] = self._segmentations(word)
            sampled += samples[int(rng.random() * len(samples))]
        return sampled

    def _words(self, ids: Sequence[int]) -> Iterator[Word]:
        """The ids of each word; what is no piece is by itself."""
        start = 0
        for k, i in enumerate(ids):
            if k > start and (not self._is_piece(i) or self._pieces[i].startswith(MARK)):
                yield tuple(ids[start:k])
                start = k
            if not self._is_piece(i):
                yield (i,)
                start = k + 1
        if start < len(ids):
            yield tuple(ids[start:])

    def _is_piece(self, i: int) -> bool:
        return len(SPECIALS) <= i < len(self._pieces)

    def _segmentations(self, word: Word) -> list[Word]:
        if not self._is_piece(word[0]):
            return [word]
        text = "".join(self._pieces[i] for i in word)
        rng = random.Random(f"{self._seed} {text}")
        samples = [tuple(self._ids[piece] for piece in self._segment(text, rng)) for _ in range(NUM_SAMPLES)]
        return samples if len(set(samples)) > 1 else samples[:1]

    def _segment(self, text: str, rng: random.Random) -> list[str]:
        """Algorithm 1: from characters up, the merge of the highest priority that is not left out, until none is."""
        pieces = list(text)
        while True:
            merges = [
                (self._ranks[pair], k)
                for k, pair in enumerate(pairwise(pieces))
                if pair in self._ranks and rng.random() >= self._dropout
            ]
            if not merges:
                return pieces
            _, k = min(merges)
            pieces[k : k + 2] = [pieces[k] + pieces[k + 1]]
