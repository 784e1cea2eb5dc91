"""Dot-product attention: plain, scaled, and bilinear (Luong et al. 2015, §3.1: "dot" and "general")."""

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers.attention.attention import Attention
from regard.ops.attention import bilinear_energies, bilinear_keys, dot_energies, scaled_dot_energies
from regard.ops.shapes import Float


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
        matrix = None if query_size is None else nn.Parameter(torch.empty(query_size, annotation_size))
        self.register_parameter("W_a", matrix)
        if matrix is not None:
            nn.init.xavier_uniform_(matrix)

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
