"""One interface for every attention: query, keys, values and mask in; context and alpha out.

A subclass says what its keys are, computed once a sentence, and how energies follow from queries and keys.
Several queries at once are the rule, not the exception: the steps of a whole target sentence, or the
hypotheses of a beam, against one copy of the source.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from torch import Tensor, nn

from regard.ops.attention import attend
from regard.ops.shapes import Bool, Float


class Attended(NamedTuple):
    """What attention gives back.

    Attributes:
        context: (B, Q, d), one for each query.
        alpha: (B, Q, Tx), each row summing to 1 over real words.
    """

    context: Tensor
    alpha: Tensor


class Attention(nn.Module, ABC):
    """A way to score queries of `query_size` against annotations of `annotation_size`."""

    def __init__(self, query_size: int, annotation_size: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.annotation_size = annotation_size

    @abstractmethod
    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """What the queries are compared with; needs no query, so it is computed once a sentence."""

    @abstractmethod
    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """How well each query matches each key."""

    def forward(
        self,
        query: Float[Tensor, "B Q n"],
        keys: Float[Tensor, "B Tx p"],
        values: Float[Tensor, "B Tx d"],
        mask: Bool[Tensor, "B Tx"],
    ) -> Attended:
        """Attend: energies, alpha (Eq. 6), context (Eq. 5)."""
        return Attended(*attend(self.energies(query, keys), values, mask))
