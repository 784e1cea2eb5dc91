"""Zero padding of widths, so that every width a kernel sees is a multiple of a tile's.

`padded` and `stacked` are for callers that leave the backward pass to autograd; `fitted` and `cut` for those that
derive it by hand.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad


def padded(x: Tensor, *more: int) -> Tensor:
    """`x` with `more` zeros after each of the last dimensions, the last one first."""
    return pad(x, [side for count in more for side in (0, count)]) if any(more) else x


def stacked(x: Tensor, blocks: int, *more: int) -> Tensor:
    """`blocks` blocks of rows, as gates are stacked, each followed by zeros: `more` as for `padded`, rows last."""
    return padded(torch.unflatten(x, 0, (blocks, x.shape[0] // blocks)), *more).flatten(0, 1)


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
