"""What each step decided, and the way back from an end to its first word."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.search.columns import Ids
from regard.search.hypothesis import Hypothesis
from regard.text.specials import EOS

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
