"""The finished hypotheses of each sentence: how they rank, and when no living one can still change the best."""

from bisect import insort

import numpy as np

from regard.search.columns import Ids
from regard.search.coverage import uncovered
from regard.search.length_penalty import divisor
from regard.search.options import SearchOptions
from regard.search.record import End, Floats

_NEVER = float("-inf")


class Finished:
    """What has been found so far.

    Args:
        options: how hypotheses rank.
        limits: (B,), the most tokens of each sentence.

    Attributes:
        ends: of each sentence, best first.
        number: (B,), how many of them there are.
        some: whether there is one at all.
        needed: (B,), what log p a living hypothesis must exceed to reach the n best.
    """

    def __init__(self, options: SearchOptions, limits: Ids) -> None:
        self._options = options
        self.ends: list[list[End]] = [[] for _ in limits]
        self.number = np.zeros(len(limits), dtype=np.int64)
        self.some = False
        self.needed = np.full(len(limits), _NEVER)
        self._longest = [self._divisor(limit) for limit in limits.tolist()]

    def _divisor(self, length: int) -> float:
        return divisor(length, self._options.length_power, self._options.length_penalty)

    def score(self, total: float, length: int, covered: Floats | None) -> float:
        """What ranks a hypothesis (Wu et al. 2016, Eq. 14).

        Args:
            total: log p of all its words.
            length: in tokens, the end mark counted.
            covered: Σ_i α_ij over its steps, (Tx,), real words only; None without a coverage penalty.
        """
        score = total / self._divisor(length)
        return score if covered is None else score + self._options.coverage * uncovered(covered)

    def add(self, b: int, end: End) -> None:
        """Keep a finished hypothesis of sentence b.

        A living hypothesis only loses log-probability as it grows, and no coverage is better than a whole one: it can
        end with no score above its present log p under the longest length's penalty.
        """
        insort(self.ends[b], end, key=lambda each: -each.score)
        self.number[b] += 1
        self.some = True
        if len(self.ends[b]) >= self._options.n_best:
            self.needed[b] = self.ends[b][self._options.n_best - 1].score * self._longest[b]

    def best(self, b: int) -> list[End]:
        """The n best of sentence b."""
        return self.ends[b][: self._options.n_best]
