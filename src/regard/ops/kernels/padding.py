"""Zero padding of widths, so that every width a kernel sees is a multiple of a tile's.

`widened` is for callers that leave the backward pass to autograd; `fitted` and `cut` for those that derive it by hand.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.ops.kernels.tiles import WIDTH


def widened(x: Tensor, *widths: int) -> Tensor:
    """`x` with zeros after each block of units, up to a multiple of a tile's width.

    Args:
        x: whose last dimensions consist of blocks, as gates are stacked.
        widths: of a block, one for each of these dimensions.
    """
    for dim, width in enumerate(widths, start=x.dim() - len(widths)):
        more = -width % WIDTH
        if more:
            blocks = torch.unflatten(x, dim, (-1, width))
            x = pad(blocks, [0, 0] * (x.dim() - 1 - dim) + [0, more]).flatten(dim, dim + 1)
    return x


def fitted(x: Tensor, blocks: int, rows: int, columns: int, dtype: torch.dtype) -> Tensor:
    """(blocks·n, m) → (blocks·rows, columns) in that precision, each block followed by zeros."""
    n, m = x.shape[0] // blocks, x.shape[1]
    if (n, m) == (rows, columns):
        return x.to(dtype).contiguous()
    out = x.new_zeros(blocks, rows, columns, dtype=dtype)
    out[:, :n, :m] = x.view(blocks, n, m)
    return out.flatten(0, 1)


def cut(x: Tensor, blocks: int, like: Tensor) -> Tensor:
    """What `fitted` made of `like`, or the gradient of that, back to its shape and precision."""
    n, m = like.shape[0] // blocks, like.shape[1]
    return x.view(blocks, -1, x.shape[1])[:, :n, :m].to(like.dtype).reshape(like.shape)
