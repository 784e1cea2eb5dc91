"""Attention with projected queries, keys and values, V softmax(KᵀQ/√p), and with several heads."""

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers.attention.attention import Attention
from regard.ops.affine import affine
from regard.ops.attention import head_contexts, head_energies
from regard.ops.shapes import Float


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))


class QueryKeyValue(Attention):
    """e_ij = (W_Q s)ᵀ(W_K h_j)/√p and c_i = Σ_j α_ij W_V h_j; several heads are joined by W_O.

    The projections and heads of Vaswani et al. 2017, over recurrent states.

    Each head has its share of the rows of W_Q, W_K and W_V, and 1/√ of its own width. The values are as wide as the
    annotations, all heads together, and so is the context. One head alone has no W_O: it is the lectures' form.

    Args:
        query_size: n; None for queries that come as W_Q s already.
        annotation_size: d, a multiple of the heads.
        size: p, the width of queries and keys, all heads together; likewise.
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
