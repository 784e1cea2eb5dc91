"""The options of a search, to be given by name: ``translate(lines, beam=10)``."""

from typing import TypedDict

from regard.search import LengthLimit, LengthPenalty


class Searching(TypedDict, total=False):
    """The fields of `SearchOptions`."""

    beam: int
    n_best: int
    length_penalty: LengthPenalty
    length_power: float
    coverage: float
    min_length: int
    min_ratio: float
    limit: LengthLimit
    block_ngrams: int
    unknowns: bool
