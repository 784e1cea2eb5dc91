"""Raw features → features of mean 0 and variance 1, by what a training set was like.

In: vectors in whatever units they were measured. Out: vectors that a projection can learn from, however large or far
from zero their numbers were. Mean and scale are no parameters: they are measured once, never learnt, and saved with the
model, which can then be given raw features for ever after.
"""

import torch
from torch import Tensor, nn

from regard.ops.shapes import Float


class Standardize(nn.Module):
    """(x − mean) / scale, feature by feature; as made it changes nothing.

    Args:
        size: f, the number of features.

    Attributes:
        mean: (f,).
        scale: (f,), the standard deviation; 1 for a feature that never changed, which is thereby only centred.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def fit(self, features: Float[Tensor, "N f"]) -> None:
        """Measure mean and scale on the rows of a training set.

        What a feature's numbers differ by only in their rounding is no variance: divided by it, the rounding would
        become the signal.
        """
        exact = features.double()
        deviation, mean = torch.std_mean(exact, dim=0, correction=0)  # (f,)
        rounding = torch.finfo(torch.float32).eps * exact.abs().amax(dim=0)
        self.mean.copy_(mean)
        self.scale.copy_(torch.where(deviation > rounding, deviation, 1.0))

    def forward(self, features: Float[Tensor, "B f"]) -> Float[Tensor, "B f"]:
        """Raw features, standardised."""
        return (features - self.mean) / self.scale
