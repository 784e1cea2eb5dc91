"""What a search hands back for one sentence."""

from dataclasses import dataclass

from regard.search.history import History
from regard.search.hypothesis import Hypothesis


@dataclass(frozen=True)
class Found:
    """The best outputs of one sentence.

    Attributes:
        hypotheses: best first.
        history: how they were found, where it was asked for.
    """

    hypotheses: tuple[Hypothesis, ...]
    history: History | None = None

    @property
    def best(self) -> Hypothesis:
        """The first of them."""
        return self.hypotheses[0]
