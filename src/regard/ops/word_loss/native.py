"""The cross-entropy of the target words by C kernels on the CPU; the same signature as `naive`.

As `fused` has it, with larger chunks: what is summed over chunks, ∂/∂W_o, is as large as W_o, and each sum passes over
it once. Mixed precision rounds the factors of the products to bfloat16; all else is float32.
"""

from typing import Any

import torch
from torch import Tensor

from regard.errors import RegardError
from regard.ops.native import large_product, narrow_wanted
from regard.ops.native.call import at, empty, kernels, plain, zeros
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Float, Int

_CHUNK_BYTES = 64 << 20
"""The most that the logits of a chunk take."""


class _WordLoss(torch.autograd.Function):
    """(readout (N, l), W_o (Vy, l), b_o (Vy,)) → the loss, ()."""

    @staticmethod
    def forward(
        ctx: Any,
        readout: Tensor,
        W_o: Tensor,
        b_o: Tensor,
        targets: Tensor,
        smoothing: float,
        differentiable: bool,
    ) -> Tensor:
        t, narrow = plain(readout), narrow_wanted()
        for_t, for_W, for_b = (differentiable and needed for needed in ctx.needs_input_grad[:3])
        d_t = torch.empty_like(t) if for_t else None
        d_W = empty(*W_o.shape) if for_W else None
        d_b = zeros(len(W_o)) if for_b else None
        losses = empty(len(t))
        rows = max(1, _CHUNK_BYTES // (4 * len(W_o)))
        for start in range(0, len(t) or 1, rows):  # of no rows one chunk, whose gradients are 0
            part = slice(start, start + rows)
            logits = large_product(t[part], W_o.T, b_o, narrow=narrow)  # (R, Vy), then their gradient
            right, lost = targets[part].to(torch.int64).contiguous(), losses[part]
            sizes = (len(logits), len(W_o), smoothing, torch.get_num_threads())
            kernels().regard_softmax_loss(at(logits), at(right), at(lost), *sizes)
            if d_t is not None:
                large_product(logits, W_o, narrow=narrow, into=d_t[part])
            if d_W is not None:
                large_product(logits.T, t[part], narrow=narrow, into=d_W, add=start > 0)
            if d_b is not None:
                d_b += logits.sum(dim=0)
        ctx.save_for_backward(d_t, d_W, d_b)
        return losses.sum()

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        # not in place: there may be another way back
        scaled = (None if kept is None else kept * d_loss for kept in ctx.saved_tensors)
        return (*scaled, None, None, None)


def word_loss(
    readout: Float[Tensor, "N l"],
    targets: Int[Tensor, "N"],
    W_o: Float[Tensor, "Vy l"],
    b_o: Float[Tensor, "Vy"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Σ_n −log p(y_n), smoothed or not, in float32.

    Raises:
        RegardError: a target is not in the vocabulary.
    """
    least, most = (int(targets.min()), int(targets.max())) if len(targets) else (0, 0)
    if least < 0 or most >= len(W_o):
        raise RegardError(
            f"targets from {least} to {most} are not all words of a vocabulary of {len(W_o)}; "
            "leave padding out, and give ids from 0 on"
        )
    differentiable = torch.is_grad_enabled()  # inside `forward` gradients are always off
    loss: Tensor = _WordLoss.apply(  # type: ignore[no-untyped-call]
        readout, W_o, b_o, targets, smoothing, differentiable
    )
    return loss
