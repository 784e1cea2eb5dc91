"""Hypotheses: how they grow, how they rank, and what a finished one holds.

`Hypothesis` is what search hands out: tokens, log-probabilities, score, attention. `Backpointers` keeps what each step
chose and traces a finished hypothesis back to its first token; `FinishedHypotheses` ranks them by the length and
coverage penalties, and says when no partial hypothesis can still change the n best; `length_limits` bounds them. Knows
no decoder. Arrays on the host are numpy's: ``Ids``, ``Floats``, ``Flags``.
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

from regard.errors import DataError
from regard.search.options import LengthPenalty, SearchOptions
from regard.text.specials import EOS

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]
Flags = npt.NDArray[np.bool_]

NEVER = float("-inf")
"""Log p of what may not be chosen, and of an empty slot."""

_LARGEST_LIMIT = 1e9  # tokens, so that any ratio gives an integer


@dataclass(frozen=True)
class Hypothesis:
    """One finished output.

    Attributes:
        ids: the words, EOS last.
        log_prob: log p(words, end ∣ source).
        score: what ranks it: `log_prob` under the length and coverage penalties.
        token_log_probs: log p of each id given those before it.
        alpha: (len(ids), Tx) over the source's real tokens, its EOS last; None without attention.
        alignment: the same of an alignment attention, which knows the words; None without one.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    token_log_probs: tuple[float, ...]
    alpha: npt.NDArray[np.float32] | None
    alignment: npt.NDArray[np.float32] | None = None


def length_limits(source_mask: Tensor, options: SearchOptions) -> Ids:
    """The most tokens of each output, EOS counted, (B,).

    Args:
        source_mask: (B, Tx); the source's EOS is not counted.
        options: `max_ratio` × source tokens + `max_extra`.
    """
    source_words = source_mask.sum(dim=1) - 1
    limits = (source_words * options.max_ratio).floor().clamp_max(_LARGEST_LIMIT).long() + options.max_extra
    on_host: Ids = limits.cpu().numpy()
    return on_host


def length_normalised(
    log_prob: float, length: int, power: float, penalty: LengthPenalty = "average"
) -> float:
    """Return log p under the length penalty: p = 0 leaves it, an average with p = 1 gives the mean over its tokens.

    Args:
        log_prob: of the whole output with its EOS.
        length: in tokens, EOS counted.
        power: p, from 0 up.
        penalty: what log p is divided by; see `divisor`.
    """
    return log_prob / divisor(length, power, penalty)


def divisor(length: float, power: float, penalty: LengthPenalty = "average") -> float:
    """Return what divides log p: lengthᵖ; for ``wu`` ((5 + length)/6)ᵖ (Wu et al. 2016, Eq. 14); for ``none`` 1."""
    if penalty == "average":
        return float(length**power)
    if penalty == "wu":
        return float(((5 + length) / 6) ** power)
    return 1.0


def diverged(b: int) -> DataError:
    """The error of a sentence b for which nothing has a probability."""
    return DataError(
        f"sentence {b + 1}: no output has a probability: the model's numbers are not finite; train it again, or take "
        "an earlier checkpoint"
    )


class HypothesisEnd(NamedTuple):
    """A finished hypothesis before it is traced back.

    Attributes:
        step: at which EOS was chosen.
        row: which of that step's rows chose it.
        log_prob: of EOS.
        score: what ranks it.
    """

    step: int
    row: int
    log_prob: float
    score: float


class Backpointers:
    """The steps of a search: for each row of a step, the row it came from.

    Row r of step t, t > 0, continues row `parents[t][r]` of step t − 1 with the token `tokens[t][r]`.
    """

    def __init__(self) -> None:
        self._parents: list[Ids] = [np.empty(0, dtype=np.int64)]
        self._tokens: list[Ids] = [np.empty(0, dtype=np.int64)]
        self._log_probs: list[Floats] = [np.empty(0)]
        self._alphas: list[Tensor] = []

    def add_alpha(self, alpha: Tensor | None) -> None:
        """Keep a step's alpha, (R, Tx)."""
        if alpha is not None:
            self._alphas.append(alpha)

    def add_step(self, parents: Ids, tokens: Ids, log_probs: Floats) -> None:
        """Keep where the next step's rows come from, (R′,) each."""
        self._parents.append(parents)
        self._tokens.append(tokens)
        self._log_probs.append(log_probs)

    def prefix(self, row: int) -> tuple[int, ...]:
        """The tokens of the partial hypothesis in a row of the last step."""
        ids = []
        for t in range(len(self._tokens) - 1, 0, -1):
            ids.append(self._tokens[t].item(row))
            row = self._parents[t].item(row)
        return tuple(reversed(ids))

    def trace(self, ends: Sequence[HypothesisEnd], source_lengths: Sequence[int]) -> list[Hypothesis]:
        """The hypotheses with these ends, each with the length of its source."""
        # the alphas of all steps are laid one after another
        first = [0, *accumulate(alpha.shape[0] for alpha in self._alphas)]
        paths = [self._path(end) for end in ends]
        alphas: Sequence[npt.NDArray[np.float32] | None] = [None] * len(ends)
        if self._alphas and ends:
            places = [first[t] + row for _, _, rows in paths for t, row in enumerate(rows)]
            alphas = self._alphas_at(places, [len(rows) for _, _, rows in paths], source_lengths)
        return [
            Hypothesis(tuple(ids), sum(log_probs), end.score, tuple(log_probs), alpha)
            for (ids, log_probs, _), end, alpha in zip(paths, ends, alphas, strict=True)
        ]

    def _path(self, end: HypothesisEnd) -> tuple[list[int], list[float], list[int]]:
        """The tokens, log p of each, and the rows that chose them."""
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


LEAST_COVERED = 1e-6
"""The least that a word counts as covered: an attention can be 0."""


class Coverage:
    """Σ_i α_ij of each row, for the coverage penalty.

    Args:
        source_lengths: (B,), real tokens.
    """

    def __init__(self, source_lengths: Ids) -> None:
        self._source_lengths = source_lengths
        self._covered: Tensor | None = None  # (R, Tx)

    def add(self, alpha: Tensor) -> None:
        """Add a step's alpha, (R, Tx)."""
        wide = alpha.to(torch.promote_types(alpha.dtype, torch.float32))
        self._covered = wide if self._covered is None else self._covered + wide

    def select(self, rows: Ids) -> None:
        """Continue with these rows, in that order."""
        if self._covered is not None:
            self._covered = self._covered.index_select(0, torch.from_numpy(rows).to(self._covered.device))

    def on_host(self) -> Floats:
        """Of all rows, (R, Tx)."""
        assert self._covered is not None, "no step was added"
        covered: Floats = self._covered.cpu().numpy()
        return covered

    def row_on_host(self, row: int, sentence: int) -> Floats:
        """Of one row, over the real tokens of its sentence, (Tx,)."""
        assert self._covered is not None, "no step was added"
        covered: Floats = self._covered[row, : int(self._source_lengths[sentence])].cpu().numpy()
        return covered


def uncovered(covered: Floats) -> float:
    """Σ_j log min(Σ_i α_ij, 1) over source words j: 0 where each had its attention, below 0 where one had less."""
    return float(np.log(np.clip(covered, LEAST_COVERED, 1.0)).sum())


class FinishedHypotheses:
    """The finished hypotheses of each sentence.

    Args:
        options: how hypotheses rank.
        limits: (B,), the most tokens of each sentence.

    Attributes:
        ends: of each sentence, best first.
        count: (B,), how many of them there are.
        any: whether there is one at all.
        needed: (B,), what log p a partial hypothesis must exceed to reach the n best.
    """

    def __init__(self, options: SearchOptions, limits: Ids) -> None:
        self._options = options
        self.ends: list[list[HypothesisEnd]] = [[] for _ in limits]
        self.count = np.zeros(len(limits), dtype=np.int64)
        self.any = False
        self.needed = np.full(len(limits), NEVER)
        self._largest_divisor = [self._divisor(limit) for limit in limits.tolist()]

    def _divisor(self, length: int) -> float:
        return divisor(length, self._options.length_power, self._options.length_penalty)

    def score(self, total: float, length: int, covered: Floats | None) -> float:
        """The score of a hypothesis (Wu et al. 2016, Eq. 14).

        Args:
            total: log p of all its words.
            length: in tokens, EOS counted.
            covered: Σ_i α_ij over its steps, (Tx,), real words only; None without a coverage penalty.
        """
        score = total / self._divisor(length)
        return score if covered is None else score + self._options.coverage * uncovered(covered)

    def add(self, b: int, end: HypothesisEnd) -> None:
        """Keep a finished hypothesis of sentence b.

        A partial hypothesis only loses log-probability as it grows, and no coverage is better than a complete one: no
        score of its continuations exceeds its present log p under the penalty of the longest output.
        """
        insort(self.ends[b], end, key=lambda each: -each.score)
        self.count[b] += 1
        self.any = True
        if len(self.ends[b]) >= self._options.n_best:
            self.needed[b] = self.ends[b][self._options.n_best - 1].score * self._largest_divisor[b]

    def best(self, b: int) -> list[HypothesisEnd]:
        """The n best of sentence b."""
        return self.ends[b][: self._options.n_best]
