"""Logits → the likeliest words that each hypothesis may choose, on the host: what is large stays on the device."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.ops.best_words import best_words
from regard.search.constraints import Ruling
from regard.search.hypotheses import Floats
from regard.search.vocabulary_map import Ids, VocabularyMap

Wanted = Sequence[tuple[int, int]]
"""(row, id) of words that are weighed however unlikely they are."""

_NEVER = float("-inf")


class TopK:
    """The likeliest words of each row.

    Args:
        columns: which words the logits are of.
        never: columns that may never be chosen.
        end: the end mark's column.
        width: K, how many words of a row could be of use.
    """

    def __init__(self, columns: VocabularyMap, never: Sequence[int], end: int, width: int) -> None:
        self._columns = columns
        self._never = {ending: np.array([*never, *([] if ending else [end])]) for ending in (False, True)}
        self._k = min(width, columns.number)
        self._never_places: dict[tuple[int, bool], Tensor] = {}

    def of(self, logits: Tensor, *, ending: bool = True) -> tuple[Floats, Ids]:
        """Log-probabilities and ids (R, k), best first, −∞ where a row has fewer; overwrites the logits.

        Args:
            logits: (R, V).
            ending: whether the end mark may be chosen.
        """
        return self._best(logits, self._never_at(logits, ending))

    def under(self, logits: Tensor, ruling: Ruling, wanted: Wanted) -> tuple[Floats, Ids]:
        """As `of`, under a step's rules; the words wanted stand behind the others, (R, k + …)."""
        num_rows = logits.shape[0]
        forced = np.full(num_rows, -1) if ruling.forced is None else ruling.forced
        must = np.flatnonzero(forced >= 0)
        excluded = set(ruling.excluded.tolist())
        number = self._columns.number
        pairs = [(row, word) for row, word in wanted if forced[row] < 0]
        pairs = [(row, word) for row, word in pairs if row * number + self._columns.of(word) not in excluded]
        rows = np.array([*must.tolist(), *(row for row, _ in pairs)], dtype=np.int64)
        words = np.array([*forced[must].tolist(), *(word for _, word in pairs)], dtype=np.int64)
        values = self._log_probs_at(logits, rows, words)
        if len(must) == num_rows:
            return values[:, None], words[:, None]
        banned = torch.from_numpy(ruling.banned).to(logits.device)
        log_probs, ids = self._best(logits, torch.cat([self._never_at(logits), banned]))
        log_probs[must] = _NEVER
        log_probs[must, 0], ids[must, 0] = values[: len(must)], words[: len(must)]
        return self._beside(log_probs, ids, pairs, values[len(must) :])

    def _never_at(self, logits: Tensor, ending: bool = True) -> Tensor:
        key = num_rows, _ = logits.shape[0], ending
        if key not in self._never_places:
            places = np.arange(num_rows)[:, None] * self._columns.number + self._never[ending]
            self._never_places[key] = torch.from_numpy(places.astype(np.int64).reshape(-1)).to(logits.device)
        return self._never_places[key]

    def _best(self, logits: Tensor, banned: Tensor) -> tuple[Floats, Ids]:
        log_probs, columns = best_words(logits, self._k, banned)
        if log_probs.is_cuda:  # side by side, so that the device is waited for once
            both = torch.cat([log_probs.double(), columns.double()], dim=1).cpu().numpy()
            return both[:, : self._k], self._columns.ids(both[:, self._k :].astype(np.int64))
        return log_probs.numpy(), self._columns.ids(columns.numpy())

    def _log_probs_at(self, logits: Tensor, rows: Ids, words: Ids) -> Floats:
        """Log p of some rows' words, (n,)."""
        if len(rows) == 0:
            return np.empty(0)
        columns = np.array([self._columns.of(word) for word in words.tolist()], dtype=np.int64)
        mine, places = np.unique(rows, return_inverse=True)
        of_rows = logits.index_select(0, torch.from_numpy(mine).to(logits.device))
        log_probs = of_rows.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
        found: Floats = log_probs[torch.from_numpy(places), torch.from_numpy(columns)].cpu().numpy()
        return found

    @staticmethod
    def _beside(log_probs: Floats, ids: Ids, pairs: Wanted, values: Floats) -> tuple[Floats, Ids]:
        """Add columns with the words wanted, where a row has not found them already."""
        new: dict[int, list[tuple[int, float]]] = {}
        for (row, word), value in zip(pairs, values.tolist(), strict=True):
            if not (log_probs[row][ids[row] == word] > _NEVER).any():
                new.setdefault(row, []).append((word, value))
        more = max(map(len, new.values()), default=0)
        more_log_probs = np.full((len(ids), more), _NEVER, dtype=log_probs.dtype)
        more_ids = np.zeros((len(ids), more), dtype=np.int64)
        for row, found in new.items():
            for place, (word, value) in enumerate(found):
                more_ids[row, place], more_log_probs[row, place] = word, value
        return np.concatenate([log_probs, more_log_probs], axis=1), np.concatenate([ids, more_ids], axis=1)
