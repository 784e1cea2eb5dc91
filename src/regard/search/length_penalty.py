"""Log-probability → score: long outputs are made of more factors below 1, and would lose every comparison."""

from typing import overload

from torch import Tensor


@overload
def length_normalised(log_prob: float, length: int, power: float) -> float: ...
@overload
def length_normalised(log_prob: Tensor, length: Tensor, power: float) -> Tensor: ...
def length_normalised(log_prob: float | Tensor, length: int | Tensor, power: float) -> float | Tensor:
    """Return log p / lengthᵖ: p = 0 leaves it, p = 1 gives the mean of the tokens' log-probabilities.

    Args:
        log_prob: of the whole output with its end mark.
        length: in tokens, the end mark counted.
        power: p, from 0 up.
    """
    return log_prob / length**power
