"""What each step decided, and the way back from an end to its first word."""

from collections.abc import Sequence
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
        if not ends:
            return []
        lengths = np.array([end.step + 1 for end in ends])
        row = np.array([end.row for end in ends])
        rows = np.zeros((len(ends), lengths.max()), dtype=np.int64)  # whose logits chose each word
        tokens = np.full(rows.shape, EOS)
        log_probs = np.array([[end.log_prob] for end in ends]).repeat(lengths.max(), axis=1)
        for t in range(int(lengths.max()) - 1, -1, -1):
            now = np.flatnonzero(lengths > t)
            rows[now, t] = row[now]
            if t > 0:
                tokens[now, t - 1] = self._tokens[t][row[now]]
                log_probs[now, t - 1] = self._log_probs[t][row[now]]
                row[now] = self._parents[t][row[now]]
        alphas = self._alphas_of(rows, lengths)
        found = []
        for k, end in enumerate(ends):
            length = end.step + 1
            values = log_probs[k, :length].tolist()
            alpha = None if alphas is None else np.ascontiguousarray(alphas[k][:, : source_lengths[k]])
            ids = tuple(tokens[k, :length].tolist())
            found.append(Hypothesis(ids, sum(values), end.score, tuple(values), alpha))
        return found

    def _alphas_of(self, rows: Ids, lengths: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float32]] | None:
        if not self._alphas:
            return None
        steps = self._alphas[: rows.shape[1]]
        first = np.cumsum([0, *(len(alpha) for alpha in steps[:-1])])  # of each step, laid one after another
        real = np.arange(rows.shape[1]) < lengths[:, None]
        places = torch.from_numpy((rows + first)[real]).to(steps[0].device)
        alphas = torch.cat(steps).index_select(0, places).float().cpu().numpy()
        return np.split(alphas, lengths.cumsum()[:-1])
