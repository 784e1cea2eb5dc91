"""Additive attention, the alignment model of RNNsearch (Bahdanau et al. 2015, A.1.2), and Luong's concat."""

import torch
from torch import Tensor, nn

from regard.layers.attention.attention import Attention
from regard.ops.attention import additive_energies, concat_energies, concat_keys
from regard.ops.shapes import Float


class Additive(Attention):
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j).

    Args:
        query_size: n.
        annotation_size: 2n for a bidirectional encoder.
        size: a, the alignment units (the paper's n′).
    """

    def __init__(self, query_size: int, annotation_size: int, size: int) -> None:
        super().__init__(query_size, annotation_size)
        self.W_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, query_size)))
        self.U_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, annotation_size)))
        self.v_a = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx a"]:
        """U_a h_j."""
        return annotations @ self.U_a.T

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx a"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/additive`."""
        return additive_energies(query @ self.W_a.T, keys, self.v_a)


class Concat(Attention):
    """e_ij = v_aᵀ tanh(W_a [s; h_j]) with one matrix over both (Luong et al. 2015, §3.1).

    Args:
        query_size: n.
        annotation_size: the width of the annotations.
        size: a, the rows of W_a.
    """

    def __init__(self, query_size: int, annotation_size: int, size: int) -> None:
        super().__init__(query_size, annotation_size)
        self.W_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, query_size + annotation_size)))
        self.v_a = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """The annotations' part of W_a [s; h_j]."""
        return concat_keys(annotations, self.W_a)

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/concat`."""
        return concat_energies(query, keys, self.W_a, self.v_a)
