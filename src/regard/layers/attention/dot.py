"""Dot-product attention: plain, scaled, and bilinear (Luong et al. 2015, §3.1: "dot" and "general")."""

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers.attention.attention import Attention
from regard.ops.attention import bilinear_energies, bilinear_keys, dot_energies, scaled_dot_energies
from regard.ops.shapes import Float


class Dot(Attention):
    """e_ij = sᵀ h_j; the state must be as wide as the annotations.

    Raises:
        ConfigError: the widths differ.
    """

    def __init__(self, query_size: int, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size)
        if query_size != annotation_size:
            raise ConfigError(
                f"dot-product attention compares decoder states of {query_size} units with annotations of "
                f"{annotation_size}; make them equal (a bidirectional encoder's annotations are twice its "
                "state_size wide), or use the bilinear energy"
            )

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx d"]:
        """The annotations themselves."""
        return annotations

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return dot_energies(query, keys)


class ScaledDot(Dot):
    """e_ij = sᵀ h_j / √p, p the width of both."""

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return scaled_dot_energies(query, keys)


class Bilinear(Attention):
    """e_ij = sᵀ W_a h_j: Luong's "general"."""

    def __init__(self, query_size: int, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size)
        self.W_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(query_size, annotation_size)))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """W_a h_j."""
        return bilinear_keys(annotations, self.W_a)

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/bilinear`."""
        return bilinear_energies(query, keys, self.W_a)
