"""W x + b: `naive` calls torch; `native` is a C kernel for the CPU, in which each row is computed independently.

A matrix that its owner packed for decoding (`ops/native/packed`) is used in that form, whatever the number of rows.
"""

from torch import Tensor

from regard.ops.affine import naive, native
from regard.ops.native import PackedWeights, native_applies
from regard.ops.shapes import Float

__all__ = ["affine"]

_ROWS, _PRODUCTS = 64, 1 << 20
"""Rows and multiplications below which laying W out costs more than the kernel saves."""


def affine(
    x: Float[Tensor, "*rows m"],
    W: Float[Tensor, "n m"],
    b: Float[Tensor, "n"] | None = None,
    packed: PackedWeights | None = None,
) -> Float[Tensor, "*rows n"]:
    """W x + b for every row, by the fastest path that applies; `packed`: where W may be packed for decoding."""
    layout = None if packed is None else packed.of(W)
    if layout is not None and native_applies(W, x):
        return layout.product(x, b)
    rows = x.shape[:-1].numel()
    if rows >= _ROWS and rows * W.numel() >= _PRODUCTS and native_applies(W, x, op="affine"):
        return native.affine(x, W, b)
    return naive.affine(x, W, b)
