"""How much of its alpha each word of the source has had so far, for the coverage penalty."""

import numpy as np
import torch
from torch import Tensor

from regard.search.columns import Ids
from regard.search.record import Floats

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
