"""Attentions by their energy: additive and concat, dot products, bilinear, and projected queries, keys and values.

Additive is the alignment model of RNNsearch (Bahdanau et al. 2015, A.1.2); concat, dot and bilinear ("general") are
those of Luong et al. 2015 (§3.1); the projections and heads are those of Vaswani et al. 2017.
"""

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers.attention.attention import Attention
from regard.ops.affine import affine
from regard.ops.attention import (
    additive_energies,
    bilinear_energies,
    bilinear_keys,
    concat_energies,
    concat_keys,
    concat_queries,
    covered_energies,
    dot_energies,
    head_contexts,
    head_energies,
    scaled_dot_energies,
)
from regard.ops.shapes import Float


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))


def _vector(size: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))


class _TanhAttention(Attention):
    """An energy v_aᵀ tanh(…), whose tanh the coverage can join."""

    sized = covering = True
    v_a: nn.Parameter

    def covered_score(
        self,
        projected: Float[Tensor, "B Q a"],
        keys: Float[Tensor, "B Tx a"],
        coverage: Float[Tensor, "B Q Tx"],
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/coverage`."""
        assert self.w_c is not None, "this attention was made without coverage"
        return covered_energies(projected, keys, self.v_a, self.w_c, coverage)


class Additive(_TanhAttention):
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), the alignment model of Bahdanau et al. 2015 (A.1.2).

    With coverage, e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + w_c C_{i−1,j}), C the sum of the alphas so far.

        context, alpha, _ = Additive(n, d, a)(query, annotations, mask)

    query (B, Ty, n), annotations (B, Tx, d), mask (B, Tx); context (B, Ty, d), alpha (B, Ty, Tx).

    Args:
        query_size: n; None for queries that come as W_a s already.
        annotation_size: 2n for a bidirectional encoder.
        size: a, the alignment units (the paper's n′).
        coverage: whether the energies see the sum of the alphas so far (see `ops/attention/coverage`).
    """

    W_a: nn.Parameter | None

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        self.register_parameter("W_a", None if query_size is None else _matrix(size, query_size))
        self.U_a = _matrix(size, annotation_size)
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


class Concat(_TanhAttention):
    """e_ij = v_aᵀ tanh(W_a [s; h_j]) with one matrix over both (Luong et al. 2015, §3.1).

    Args:
        query_size: n; None for queries that come multiplied by their part of W_a already.
        annotation_size: the width of the annotations.
        size: a, the rows of W_a.
        coverage: whether the energies see the sum of the alphas so far (see `ops/attention/coverage`).
    """

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        columns = (query_size or 0) + annotation_size
        self.W_a = _matrix(size, columns)
        self.v_a = _vector(size)
        if coverage:
            self.w_c = _vector(size)

    @property
    def _as_printed(self) -> bool:
        """Whether the energy is computed as printed, one matrix over [s; h_j], and not from two products."""
        return self.query_size is not None and self.w_c is None

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """The annotations' part of W_a [s; h_j]."""
        if self._as_printed:
            return concat_keys(annotations, self.W_a)
        return affine(annotations, self.W_a[:, -self.annotation_size :])

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """The query's part of W_a [s; h_j]."""
        if self._as_printed:
            return concat_queries(query, self.W_a)
        return query if self.query_size is None else query @ self.W_a[:, : self.query_size].T

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/concat`."""
        if self._as_printed:
            return concat_energies(projected, keys, self.W_a, self.v_a)
        return additive_energies(projected, keys, self.v_a)


class Dot(Attention):
    """e_ij = sᵀ h_j (Luong et al. 2015); the state must be as wide as the annotations.

    Args:
        query_size: n; None for queries that come as wide as the annotations already.
        annotation_size: the width of the annotations.

    Raises:
        ConfigError: the widths differ.
    """

    def __init__(self, query_size: int | None, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size, query_width=annotation_size)
        if query_size not in (None, annotation_size):
            raise ConfigError(
                f"dot-product attention compares decoder states of {query_size} units with annotations of "
                f"{annotation_size}; make them equal (a bidirectional encoder's annotations are twice its "
                "state_size wide), or use the bilinear energy"
            )

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx d"]:
        """The annotations themselves."""
        return annotations

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return dot_energies(projected, keys)


class ScaledDot(Dot):
    """e_ij = sᵀ h_j / √p, p the width of both (Vaswani et al. 2017)."""

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return scaled_dot_energies(projected, keys)


class Bilinear(Attention):
    """e_ij = sᵀ W_a h_j: the "general" of Luong et al. 2015.

    Args:
        query_size: n; None for queries that come as W_aᵀ s already, which leaves a dot product.
        annotation_size: the width of the annotations.
    """

    W_a: nn.Parameter | None

    def __init__(self, query_size: int | None, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size, query_size or annotation_size)
        self.register_parameter("W_a", None if query_size is None else _matrix(query_size, annotation_size))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """W_a h_j."""
        return annotations if self.W_a is None else bilinear_keys(annotations, self.W_a)

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/bilinear`."""
        if self.W_a is None:
            return dot_energies(projected, keys)
        return bilinear_energies(projected, keys, self.W_a)


class QueryKeyValue(Attention):
    """e_ij = (W_Q s)ᵀ(W_K h_j)/√p and c_i = Σ_j α_ij W_V h_j; several heads are joined by W_O.

    The projections and heads of Vaswani et al. 2017, over recurrent states.

    Each head has its share of the rows of W_Q, W_K and W_V, and 1/√ of its own width. The values are as wide as the
    annotations, all heads together, and so is the context. A single head has no W_O: it is the lectures' form.

    Args:
        query_size: n; None for queries that come as W_Q s already.
        annotation_size: d, a multiple of the heads.
        size: p, the width of queries and keys, all heads together; a multiple of the heads.
        heads: H.

    Raises:
        ConfigError: a width does not divide among the heads.
    """

    sized = True
    W_Q: nn.Parameter | None
    W_O: nn.Parameter | None

    def __init__(self, query_size: int | None, annotation_size: int, size: int, heads: int = 1) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        if size % heads or annotation_size % heads:
            raise ConfigError(
                f"{heads} heads cannot share queries of {size} units and annotations of {annotation_size}; make both "
                "multiples of the number of heads"
            )
        self.heads = heads
        self.register_parameter("W_Q", None if query_size is None else _matrix(size, query_size))
        self.W_K = _matrix(size, annotation_size)
        self.W_V = _matrix(annotation_size, annotation_size)
        self.register_parameter("W_O", None if heads == 1 else _matrix(annotation_size, annotation_size))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """W_K h_j."""
        return affine(annotations, self.W_K)

    def values(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx d"]:
        """W_V h_j."""
        return affine(annotations, self.W_V)

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """W_Q s."""
        return query if self.W_Q is None else affine(query, self.W_Q)

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B HQ Tx"]:
        """See `ops/attention/query_key_value`."""
        return head_energies(projected, keys, self.heads)

    def mix(self, alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Q d"]:
        """The heads' contexts side by side, and W_O over them."""
        contexts = head_contexts(alpha, values, self.heads)
        return contexts if self.W_O is None else affine(contexts, self.W_O)
