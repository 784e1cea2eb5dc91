"""The cross-entropy in chunks of rows, its gradients computed in the forward pass; the same signature as `naive`.

For each chunk: its logits, its loss, the gradient of the logits in their place, and from that the chunk's terms of
every gradient. So nothing as large as (N, Vy) is ever allocated, and a chunk stays in the cache. The gradients are
those of the sum; the backward pass only scales them by the incoming gradient. Under bfloat16 autocast the three
products are narrow; the softmax and the sums over chunks are float32. The derivation is in README.md of `ops`.
"""

import math
from typing import Any

import torch
from torch import Tensor

from regard.errors import RegardError
from regard.ops.shapes import Float, Int
from regard.ops.word_loss.softmax_loss import softmax_loss_

_CPU_BYTES, _GPU_BYTES = 16 << 20, 256 << 20
"""The maximum size of a chunk's logits in float32: on a CPU about the size of its cache; more on a GPU."""


def _chunk_rows(num_rows: int, vocabulary_size: int, device: str) -> int:
    """The rows of a chunk: all chunks about equal, none above the device's limit unless it is a single row."""
    limit = _CPU_BYTES if device == "cpu" else _GPU_BYTES
    most = max(1, limit // (4 * vocabulary_size))
    num_chunks = max(1, math.ceil(num_rows / most))
    return max(1, math.ceil(num_rows / num_chunks))


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
        narrow: torch.dtype,
        differentiable: bool,
    ) -> Tensor:
        wide = torch.promote_types(narrow, torch.float32)
        wanted = [differentiable and needed for needed in ctx.needs_input_grad[:3]]
        d_readout = torch.empty_like(readout) if wanted[0] else None
        d_W_o = torch.zeros_like(W_o, dtype=wide) if wanted[1] else None
        d_b_o = torch.zeros_like(b_o, dtype=wide) if wanted[2] else None
        t, W, b = readout.to(narrow), W_o.to(narrow), b_o.to(narrow)
        rows = _chunk_rows(len(t), len(W), t.device.type)
        memory = t.new_empty(min(rows, len(t)), len(W))
        loss = t.new_zeros((), dtype=wide)
        for start in range(0, len(t), rows):
            part = slice(start, start + rows)
            logits = torch.addmm(b, t[part], W.T, out=memory[: len(t[part])])  # (R, Vy)
            gradient = logits.to(wide)
            loss += softmax_loss_(gradient, targets[part], smoothing)
            if d_b_o is not None:
                d_b_o += gradient.sum(dim=0)
            d_logits = logits if gradient is logits else logits.copy_(gradient)
            if d_readout is not None:
                d_readout[part] = d_logits @ W
            if d_W_o is not None:
                _add_product(d_W_o, d_logits.T, t[part])
        ctx.save_for_backward(d_readout, d_W_o, d_b_o)
        return loss

    @staticmethod
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        # `once_differentiable` would let a constant d_loss pass, and the second derivative would be lost
        if torch.is_grad_enabled():
            raise RegardError(
                "the loss of words by its fused path has a first derivative only; "
                "for a second one (create_graph=True) compute it within regard.ops.paths.naive_only()"
            )
        scaled = [None if kept is None else kept * d_loss for kept in ctx.saved_tensors]
        return (*scaled, None, None, None, None)


def _add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """Add a b to the total; a narrow product joins a wide total."""
    if a.dtype == total.dtype:
        total.addmm_(a, b)
    else:
        total += a @ b


def word_loss(
    readout: Float[Tensor, "N l"],
    targets: Int[Tensor, "N"],
    W_o: Float[Tensor, "Vy l"],
    b_o: Float[Tensor, "Vy"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Σ_n −log p(y_n), smoothed or not, in float32 at least."""
    device = readout.device.type
    narrow = torch.promote_types(readout.dtype, W_o.dtype)
    if torch.is_autocast_enabled(device) and narrow != torch.float64:  # which autocast leaves alone
        narrow = torch.get_autocast_dtype(device)
    differentiable = torch.is_grad_enabled()  # inside `forward` gradients are always off
    with torch.autocast(device, enabled=False):
        loss: Tensor = _WordLoss.apply(  # type: ignore[no-untyped-call]
            readout, W_o, b_o, targets, smoothing, narrow, differentiable
        )
    return loss
