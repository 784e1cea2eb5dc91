"""The LSTM by C kernels on the CPU, its backward pass derived by hand; the same signature as `fused`.

Padding may be at any position. The matrices' gradients are one large product each. If U was packed for decoding,
nothing is stored for a backward pass.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.native import Packed, narrow_wanted, packed_of, product
from regard.ops.native.call import at, empty, flags, kernels, plain, threads_for, zeros
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """(projected (B, T, 4n), mask (B, T), h_0, c_0, U, reverse) → states (B, T, n), last h, last c."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, mask: Tensor, h0: Tensor, c0: Tensor, U: Tensor, reverse: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        projected, c0, U, mask = plain(projected), plain(c0), plain(U), flags(mask)
        batch, num_steps, n = *projected.shape[:2], U.shape[1]
        ctx.narrow, ctx.reverse = narrow_wanted(), reverse
        states, previous, memories = (zeros(batch, num_steps, n) for _ in range(3))
        gates = empty(batch, num_steps, 4 * n)
        h, c = plain(h0).clone(), c0.clone()
        tensors = (projected, mask, U, states, previous, memories, gates, h, c)
        options = (batch, num_steps, n, int(reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_lstm(*map(at, tensors), *options)
        ctx.save_for_backward(mask, c0, U, previous, memories, gates)
        return states, h, c

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_states: Tensor, d_h: Tensor, d_c: Tensor) -> tuple[Tensor | None, ...]:
        mask, c0, U, previous, memories, gates = ctx.saved_tensors
        batch, num_steps, n = previous.shape
        dh, dc = plain(d_h).clone(), plain(d_c).clone()
        d_projected = torch.zeros_like(gates)
        d_states = plain(d_states)
        tensors = (d_states, mask, U, memories, gates, c0, dh, dc, d_projected)
        options = (batch, num_steps, n, int(ctx.reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_lstm_back(*map(at, tensors), *options)
        d_U = product(d_projected.flatten(0, 1).T, previous.flatten(0, 1), narrow=ctx.narrow)
        return d_projected, None, dh, dc, d_U, None


def lstm_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "4*n m"],
    U: Float[Tensor, "4*n n"],
    b: Float[Tensor, "4*n"],
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The LSTM over a padded batch; returns h at each word and the last (h, c)."""
    packed = packed_of(U)
    if packed is not None:
        states = zeros(*mask.shape, packed.shape[1])
        return states, _read(affine(inputs, W, b), flags(mask), initial, packed, states, reverse)
    states, h, c = _Recurrence.apply(  # type: ignore[no-untyped-call]
        affine(inputs, W, b), mask, *initial, U, reverse
    )
    return states, (h, c)


def lstm_step(projected: Float[Tensor, "B gn"], previous_state: PlainState, U: Packed) -> PlainState:
    """One step of the LSTM from W x + b, without a gradient."""
    return _read(projected.unsqueeze(1), None, previous_state, U, None)


def _read(
    projected: Float[Tensor, "B T gn"],
    mask: Bool[Tensor, "B T"] | None,
    initial: PlainState,
    U: Packed,
    states: Float[Tensor, "B T n"] | None,
    reverse: bool = False,
) -> PlainState:
    """The last (h, c), and h at each word written to `states`; nothing is stored for a backward pass."""
    h, c = (plain(part).clone() for part in initial)
    projected = plain(projected)
    batch, num_steps, _ = projected.shape
    tensors = (projected, mask, states, h, c)
    kernels().regard_lstm_read(U.place, *map(at, tensors), batch, num_steps, int(reverse), threads_for(batch))
    return h, c
