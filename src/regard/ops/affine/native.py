"""W x + b by the C kernel, and the three products of its backward pass; the same signature as `naive`.

Mixed precision rounds the factors of the products to bfloat16; what comes out is float32.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.native import large_product, narrow_wanted, product
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Float


class _Affine(torch.autograd.Function):
    """(x (N, m), W (n, m), b (n,) or None) → (N, n), in training."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        ctx.narrow = narrow_wanted()
        ctx.save_for_backward(x, W)
        return large_product(x, W.T, b, narrow=ctx.narrow)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        x, W = ctx.saved_tensors
        for_x, for_W, for_b = ctx.needs_input_grad
        d_x = large_product(d_out, W, narrow=ctx.narrow) if for_x else None
        d_W = large_product(d_out.T, x, narrow=ctx.narrow) if for_W else None
        return d_x, d_W, d_out.sum(dim=0) if for_b else None


def affine(
    x: Float[Tensor, "*rows m"], W: Float[Tensor, "n m"], b: Float[Tensor, "n"] | None = None
) -> Float[Tensor, "*rows n"]:
    """W x + b for every row, float32."""
    flat = x.to(torch.float32).reshape(-1, x.shape[-1])
    if torch.is_grad_enabled():
        out: Tensor = _Affine.apply(flat, W, b)  # type: ignore[no-untyped-call]
    else:  # a translation does not depend on its neighbours in a batch
        out = product(flat.detach(), W.detach().T, b, narrow=narrow_wanted())
    return out.view(*x.shape[:-1], W.shape[0])
