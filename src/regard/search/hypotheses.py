"""What search finds: words, how likely they are, and where the decoder looked.

What each step decided, and the way back from an end to its first word.

How much of its alpha each word of the source has had so far, for the coverage penalty.

The finished hypotheses of each sentence: how they rank, and when no living one can still change the best.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.search.options import SearchOptions, divisor
from regard.search.vocabulary_map import Ids
from regard.text.specials import EOS


@dataclass(frozen=True)
class Hypothesis:
    """One finished output.

    Attributes:
        ids: the words, the end mark last.
        log_prob: log p(words, end ∣ source).
        score: what ranks it: `log_prob` under the length penalty.
        token_log_probs: log p of each id given those before it.
        alpha: (len(ids), Tx) over the source's real tokens, its end mark last; None without attention.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    token_log_probs: tuple[float, ...]
    alpha: npt.NDArray[np.float32] | None


Floats = npt.NDArray[np.floating]


class End(NamedTuple):
    """A finished hypothesis before it is traced back.

    Attributes:
        step: at which the end mark was chosen.
        row: which of that step's rows chose it.
        log_prob: of the end mark.
        score: what ranks it.
    """

    step: int
    row: int
    log_prob: float
    score: float


class Record:
    """The steps of a search: for each row that a step was given, what it came from.

    Row r of step t, t > 0, goes on from row `parents[t][r]` of step t − 1 with the word `tokens[t][r]`.
    """

    def __init__(self) -> None:
        self._parents: list[Ids] = [np.empty(0, dtype=np.int64)]
        self._tokens: list[Ids] = [np.empty(0, dtype=np.int64)]
        self._log_probs: list[Floats] = [np.empty(0)]
        self._alphas: list[Tensor] = []

    def looked(self, alpha: Tensor | None) -> None:
        """Keep a step's alpha, (R, Tx)."""
        if alpha is not None:
            self._alphas.append(alpha)

    def went_on(self, parents: Ids, tokens: Ids, log_probs: Floats) -> None:
        """Keep where the next step's rows come from, (R′,) each."""
        self._parents.append(parents)
        self._tokens.append(tokens)
        self._log_probs.append(log_probs)

    def trace(self, ends: Sequence[End], source_lengths: Sequence[int]) -> list[Hypothesis]:
        """The hypotheses with these ends, each over a source so long."""
        # the alphas of all steps are laid one after another
        first = [0, *accumulate(alpha.shape[0] for alpha in self._alphas)]
        ways = [self._way(end) for end in ends]
        alphas: Sequence[npt.NDArray[np.float32] | None] = [None] * len(ends)
        if self._alphas and ends:
            places = [first[t] + row for _, _, rows in ways for t, row in enumerate(rows)]
            alphas = self._alphas_at(places, [len(rows) for _, _, rows in ways], source_lengths)
        return [
            Hypothesis(tuple(ids), sum(log_probs), end.score, tuple(log_probs), alpha)
            for (ids, log_probs, _), end, alpha in zip(ways, ends, alphas, strict=True)
        ]

    def _way(self, end: End) -> tuple[list[int], list[float], list[int]]:
        """The words, log p of each, and the rows that chose them."""
        ids, log_probs, rows = [EOS], [end.log_prob], [end.row]
        row = end.row
        for t in range(end.step, 0, -1):
            ids.append(self._tokens[t].item(row))
            log_probs.append(self._log_probs[t].item(row))
            row = self._parents[t].item(row)
            rows.append(row)
        return ids[::-1], log_probs[::-1], rows[::-1]

    def _alphas_at(
        self, places: list[int], lengths: Sequence[int], source_lengths: Sequence[int]
    ) -> list[npt.NDArray[np.float32]]:
        """The rows of alpha at these places, cut into hypotheses of these lengths."""
        chosen = torch.tensor(places, device=self._alphas[0].device)
        alphas = torch.cat(self._alphas).index_select(0, chosen).float().cpu().numpy()
        ends = accumulate(lengths)
        return [
            np.ascontiguousarray(alphas[end - length : end, :width])
            for end, length, width in zip(ends, lengths, source_lengths, strict=True)
        ]


_UNSEEN = 1e-6  # the least that counts, for an attention that can be 0


class Coverage:
    """Σ_i α_ij of each row.

    Args:
        source_lengths: (B,), real tokens.
    """

    def __init__(self, source_lengths: Ids) -> None:
        self._source_lengths = source_lengths
        self._covered: Tensor | None = None  # (R, Tx)

    def add(self, alpha: Tensor) -> None:
        """Take in a step's alpha, (R, Tx)."""
        wide = alpha.to(torch.promote_types(alpha.dtype, torch.float32))
        self._covered = wide if self._covered is None else self._covered + wide

    def select(self, rows: Ids) -> None:
        """Go on with these rows, in that order."""
        if self._covered is not None:
            self._covered = self._covered.index_select(0, torch.from_numpy(rows).to(self._covered.device))

    def host(self) -> Floats:
        """All rows', (R, Tx)."""
        assert self._covered is not None, "no step has been taken in"
        found: Floats = self._covered.cpu().numpy()
        return found

    def of(self, row: int, sentence: int) -> Floats:
        """One row's, over the real words of its sentence."""
        assert self._covered is not None, "no step has been taken in"
        found: Floats = self._covered[row, : int(self._source_lengths[sentence])].cpu().numpy()
        return found


def uncovered(covered: Floats) -> float:
    """Σ_j log min(Σ_i α_ij, 1) over the source's words j: 0 where each was looked at, below where one was not."""
    return float(np.log(np.clip(covered, _UNSEEN, 1.0)).sum())


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
