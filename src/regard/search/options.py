"""What a search is told: how wide, how it ranks, and what it may not choose; the same for every sentence."""

from dataclasses import dataclass, field
from typing import get_args

from regard.configuration import in_range, one_of
from regard.search.length_penalty import LengthPenalty
from regard.search.limits import LengthLimit


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
