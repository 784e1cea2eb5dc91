"""How long an output may grow, and which words may never be chosen."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.configuration import in_range
from regard.text.specials import BOS, EOS, PAD

_ENDLESS = 1e9  # tokens: what a ratio beyond all measure comes to


@dataclass(frozen=True)
class LengthLimit:
    """At most `ratio` × (source tokens) + `extra` tokens, the end mark counted.

    The limit is each sentence's own, so that it does not depend on the batch. At its last step only the end
    mark may be chosen: every hypothesis is a finished one, and its score is the model's for exactly these
    words.
    """

    ratio: float = 2.0
    extra: int = 10

    def __post_init__(self) -> None:
        in_range("the length limit's ratio", self.ratio, 0, below=float("inf"))
        in_range("the length limit's extra", self.extra, 1)

    def of(self, source_mask: Tensor) -> Tensor:
        """The limit of each sentence, (B,); the source's end mark is not counted."""
        words = source_mask.sum(dim=1) - 1
        return (words * self.ratio).floor().clamp_max(_ENDLESS).long() + self.extra


def only_legal(log_probs: Tensor, last: Tensor) -> Tensor:
    """Log-probabilities with −∞ at what may not be chosen.

    Padding and the begin mark never may; at a sentence's last step nothing but the end mark may.

    Args:
        log_probs: (R, Vy).
        last: (R,), True where this is the sentence's last step.
    """
    legal = log_probs.clone()
    legal[:, [PAD, BOS]] = float("-inf")
    if bool(last.any()):
        end = legal[:, EOS].clone()
        legal = legal.masked_fill(last.unsqueeze(1), float("-inf"))
        legal[:, EOS] = end
    return legal


def begin(encoded_mask: Tensor) -> Tensor:
    """y_0 for each sentence, (B,)."""
    return torch.full((encoded_mask.shape[0],), BOS, device=encoded_mask.device)
