"""Log-probability → score: long outputs are made of more factors below 1, and would lose every comparison.

How long an output may grow, and which words may never be chosen.

What a search is told: how wide, how it ranks, and what it may not choose; the same for every sentence.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor

from regard.config import in_range, one_of
from regard.text.specials import BOS, EOS, PAD

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


@dataclass(frozen=True)
class SearchOptions:
    """How to search.

    Attributes:
        beam: K, how many hypotheses are kept for each sentence; 1 is greedy search.
        n_best: how many to return, at most K; a sentence with fewer possible outputs gives fewer.
        length_penalty: what divides log p for the score: ``average``, lengthᵖ; ``wu``, ((5 + length)/6)ᵖ
            (Wu et al. 2016, Eq. 14); ``none``, nothing.
        length_power: p of the length penalty, 0 to 10.
        coverage: β of the coverage penalty (Wu et al. 2016, Eq. 14); 0 for none.
        min_length: the fewest words, the end mark not counted.
        min_ratio: the fewest words for each word of the source; the larger of the two minima counts. A minimum gives
            way to the limit, and where no word is left that may be chosen.
        limit: how long outputs may grow.
        block_ngrams: n, where no n words may follow each other twice in an output; 0 where they may.
        unknowns: whether the unknown word may be chosen.
    """

    beam: int = 5
    n_best: int = 1
    length_penalty: LengthPenalty = "average"
    length_power: float = 1.0
    coverage: float = 0.0
    min_length: int = 0
    min_ratio: float = 0.0
    limit: LengthLimit = field(default_factory=LengthLimit)
    block_ngrams: int = 0
    unknowns: bool = True

    def __post_init__(self) -> None:
        in_range("the beam's width", self.beam, 1)
        in_range("n_best", self.n_best, 1, self.beam)
        one_of("length_penalty", self.length_penalty, get_args(LengthPenalty))
        infinity = float("inf")
        in_range("length_power", self.length_power, 0, 10)
        in_range("coverage", self.coverage, 0, below=infinity)
        in_range("min_length", self.min_length, 0)
        in_range("min_ratio", self.min_ratio, 0, below=infinity)
        in_range("block_ngrams", self.block_ngrams, 0)
