"""How a translator searches: options to be given by name, as in ``translate(lines, beam=10)``, and how it draws."""

from dataclasses import dataclass, field
from typing import TypedDict

from regard.configuration import in_range
from regard.search import Drawing, LengthLimit, LengthPenalty


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


@dataclass(frozen=True)
class Sampling:
    """Translations that are drawn rather than searched for.

    Attributes:
        drawing: temperature, top-k and top-p.
        number: how many of each line; the first is the translation, the others are its alternatives.
        seed: the same gives the same draws; each line and each draw has a seed of its own that comes of it.
    """

    drawing: Drawing = field(default_factory=Drawing)
    number: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        in_range("the number of samples", self.number, 1)

    def seeds(self, line: int) -> list[str]:
        """A seed for each draw of a line."""
        return [f"{self.seed} {line} {k}" for k in range(self.number)]
