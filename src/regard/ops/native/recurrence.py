"""The LSTM and the plain RNN by C kernels on the CPU, their backward pass derived by hand.

Padding may be at any position. The recurrent matrix's gradient is one large product.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, flags, kernels, plain, threads_for, zeros
from regard.ops.native.choose import narrow_wanted
from regard.ops.native.product import product
from regard.ops.native.structs import CELLS
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """(projected (B, T, gn), mask (B, T), h_0, c_0 or None, U, cell, reverse) → states (B, T, n), last h, last c."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        mask: Tensor,
        h0: Tensor,
        c0: Tensor | None,
        U: Tensor,
        cell: int,
        reverse: bool,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        projected, U, mask = plain(projected), plain(U), flags(mask)
        c0 = None if c0 is None else plain(c0)
        batch, num_steps, n = *projected.shape[:2], U.shape[1]
        ctx.narrow, ctx.reverse, ctx.cell = narrow_wanted(), reverse, cell
        states, previous = zeros(batch, num_steps, n), zeros(batch, num_steps, n)
        memories = None if c0 is None else empty(batch, num_steps, n)
        gates = empty(*projected.shape)
        h, c = plain(h0).clone(), None if c0 is None else c0.clone()
        tensors = (projected, mask, U, states, previous, memories, gates, h, c)
        options = (batch, num_steps, n, int(reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_recurrence(cell, *map(at, tensors), *options)
        ctx.save_for_backward(mask, c0, U, previous, memories, gates)
        return states, h, c

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_states: Tensor, d_h: Tensor, d_c: Tensor | None) -> tuple[Tensor | None, ...]:
        mask, c0, U, previous, memories, gates = ctx.saved_tensors
        batch, num_steps, n = previous.shape
        dh, dc = plain(d_h).clone(), None if c0 is None or d_c is None else plain(d_c).clone()
        d_projected = torch.zeros_like(gates)
        d_states = plain(d_states)
        tensors = (d_states, mask, U, memories, gates, c0, dh, dc, d_projected)
        options = (batch, num_steps, n, int(ctx.reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_recurrence_back(ctx.cell, *map(at, tensors), *options)
        d_U = product(d_projected.flatten(0, 1).T, previous.flatten(0, 1), narrow=ctx.narrow)
        return d_projected, None, dh, dc, d_U, None, None


def recurrence(
    cell: str,
    projected: Float[Tensor, "B T gn"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    U: Float[Tensor, "gn n"],
    reverse: bool,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """One of `CELLS` over a padded batch, from W x + b; returns h at each word and the last state."""
    h0, c0 = (*initial, None)[:2]
    states, h, c = _Recurrence.apply(projected, mask, h0, c0, U, CELLS.index(cell), reverse)  # type: ignore[no-untyped-call]
    return states, (h,) if c is None else (h, c)
