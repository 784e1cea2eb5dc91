"""Ids → vectors: E y."""

import torch
from torch import Tensor, nn

from regard.ops.shapes import Float, Int


class Embedding(nn.Module):
    """The embedding matrix E, stored (V, m); the paper stores it transposed.

    Args:
        vocabulary_size: V.
        size: m.
        shared: another embedding's matrix to share, or None.
    """

    def __init__(self, vocabulary_size: int, size: int, shared: nn.Parameter | None = None) -> None:
        super().__init__()
        self.E = shared if shared is not None else nn.Parameter(torch.empty(vocabulary_size, size))
        if shared is None:
            nn.init.normal_(self.E, std=size**-0.5)

    def forward(self, ids: Int[Tensor, "*rows"]) -> Float[Tensor, "*rows m"]:
        """E y for each id."""
        return nn.functional.embedding(ids, self.E)
