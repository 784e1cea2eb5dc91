"""W x + b by torch."""

from torch import Tensor
from torch.nn import functional

from regard.ops.shapes import Float


def affine(
    x: Float[Tensor, "*rows m"], W: Float[Tensor, "n m"], b: Float[Tensor, "n"] | None = None
) -> Float[Tensor, "*rows n"]:
    """W x + b for every row."""
    return functional.linear(x, W, b)
