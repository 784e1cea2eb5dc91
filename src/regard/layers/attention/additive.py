"""Additive attention, the alignment model of RNNsearch (Bahdanau et al. 2015, A.1.2), and Luong's concat."""

import torch
from torch import Tensor, nn

from regard.layers.attention.attention import Attention
from regard.ops.affine import affine
from regard.ops.attention import (
    additive_energies,
    concat_energies,
    concat_keys,
    concat_queries,
    covered_energies,
)
from regard.ops.shapes import Float


def _vector(size: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))


class Additive(Attention):
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), with + w_c C_{i−1,j} inside where it sees the coverage.

    The alignment model of Bahdanau et al. 2015, A.1.2.

    Args:
        query_size: n; None for queries that come as W_a s already.
        annotation_size: 2n for a bidirectional encoder.
        size: a, the alignment units (the paper's n′).
        coverage: whether it sees what was attended to before (see `ops/attention/coverage`).
    """

    sized = covering = True
    W_a: nn.Parameter | None

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        query_matrix = None if query_size is None else nn.Parameter(torch.empty(size, query_size))
        self.register_parameter("W_a", query_matrix)
        if query_matrix is not None:
            nn.init.xavier_uniform_(query_matrix)
        self.U_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, annotation_size)))
        self.v_a = _vector(size)
        if coverage:
            self.w_c = _vector(size)

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx a"]:
        """U_a h_j."""
        return affine(annotations, self.U_a)

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q a"]:
        """W_a s_{i−1}."""
        return query if self.W_a is None else affine(query, self.W_a)

    def score(
        self, projected: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/additive`."""
        return additive_energies(projected, keys, self.v_a)

    def covered_score(
        self,
        projected: Float[Tensor, "B Q a"],
        keys: Float[Tensor, "B Tx a"],
        coverage: Float[Tensor, "B Q Tx"],
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/coverage`."""
        assert self.w_c is not None, "this attention was made without coverage"
        return covered_energies(projected, keys, self.v_a, self.w_c, coverage)


class Concat(Attention):
    """e_ij = v_aᵀ tanh(W_a [s; h_j]) with one matrix over both (Luong et al. 2015, §3.1).

    Args:
        query_size: n; None for queries that come multiplied by their part of W_a already.
        annotation_size: the width of the annotations.
        size: a, the rows of W_a.
        coverage: whether it sees what was attended to before (see `ops/attention/coverage`).
    """

    sized = covering = True

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        columns = (query_size or 0) + annotation_size
        self.W_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, columns)))
        self.v_a = _vector(size)
        if coverage:
            self.w_c = _vector(size)

    @property
    def _printed(self) -> bool:
        """Whether the energy is as printed, [s; h_j] under one matrix, and not one whose parts come split."""
        return self.query_size is not None and self.w_c is None

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """The annotations' part of W_a [s; h_j]."""
        if self._printed:
            return concat_keys(annotations, self.W_a)
        return affine(annotations, self.W_a[:, -self.annotation_size :])

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """The query's part of W_a [s; h_j]."""
        if self._printed:
            return concat_queries(query, self.W_a)
        return query if self.query_size is None else query @ self.W_a[:, : self.query_size].T

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/concat`."""
        if self._printed:
            return concat_energies(projected, keys, self.W_a, self.v_a)
        return additive_energies(projected, keys, self.v_a)

    def covered_score(
        self,
        projected: Float[Tensor, "B Q a"],
        keys: Float[Tensor, "B Tx a"],
        coverage: Float[Tensor, "B Q Tx"],
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/coverage`."""
        assert self.w_c is not None, "this attention was made without coverage"
        return covered_energies(projected, keys, self.v_a, self.w_c, coverage)
