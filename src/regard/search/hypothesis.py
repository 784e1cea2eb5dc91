"""What search finds: words, how likely they are, and where the decoder looked."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


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
