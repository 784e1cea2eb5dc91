"""Log-probability → score: long outputs are made of more factors below 1, and would lose every comparison."""

from typing import Literal

LengthPenalty = Literal["average", "wu", "none"]


def length_normalised(
    log_prob: float, length: int, power: float, penalty: LengthPenalty = "average"
) -> float:
    """Return log p under the length penalty: p = 0 leaves it, an average with p = 1 gives the mean of its tokens.

    Args:
        log_prob: of the whole output with its end mark.
        length: in tokens, the end mark counted.
        power: p, from 0 up.
        penalty: by what log p is divided; see `divisor`.
    """
    return log_prob / divisor(length, power, penalty)


def divisor(length: float, power: float, penalty: LengthPenalty = "average") -> float:
    """Return what divides log p: lengthᵖ; for ``wu`` ((5 + length)/6)ᵖ (Wu et al. 2016, Eq. 14); for ``none`` 1."""
    if penalty == "average":
        return float(length**power)
    if penalty == "wu":
        return float(((5 + length) / 6) ** power)
    return 1.0
