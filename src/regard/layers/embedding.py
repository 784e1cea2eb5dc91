"""Ids → vectors, E y; and feature vectors, standardised by the statistics of a training set."""

import torch
from torch import Tensor, nn

from regard.ops.shapes import Float, Int


class Embedding(nn.Module):
    """The embedding matrix E (Bahdanau et al. 2015, A.2.1), stored (V, m); the paper stores it transposed.

        embedded = Embedding(V, m)(ids)       # ids (B, T), embedded (B, T, m)

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


class Standardize(nn.Module):
    """(x − mean) / scale, feature by feature; the identity before `fit`.

    Mean and scale are buffers: `fit` measures them once on the training set, and they are saved with the model, which
    then takes raw features (B, f).

    Args:
        size: f, the number of features.

    Attributes:
        mean: (f,).
        scale: (f,), the standard deviation; 1 for a constant feature, which is then only centred.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def fit(self, features: Float[Tensor, "N f"]) -> None:
        """Measure mean and scale on the rows of a training set.

        A feature that varies only by rounding errors counts as constant: dividing by its deviation would amplify them.
        """
        exact = features.double()
        deviation, mean = torch.std_mean(exact, dim=0, correction=0)  # (f,)
        rounding = torch.finfo(torch.float32).eps * exact.abs().amax(dim=0)
        self.mean.copy_(mean)
        self.scale.copy_(torch.where(deviation > rounding, deviation, 1.0))

    def forward(self, features: Float[Tensor, "B f"]) -> Float[Tensor, "B f"]:
        """Raw features, standardised."""
        return (features - self.mean) / self.scale
