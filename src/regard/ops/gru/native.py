"""The paper's GRU by C kernels on the CPU, its backward pass derived by hand; the same signature as `fused`.

If U was packed for decoding, nothing is stored for a backward pass.
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
    """(projected (B, T, 3n), mask (B, T), s_0, U, reverse) → states (B, T, n), last state."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, mask: Tensor, initial: Tensor, U: Tensor, reverse: bool
    ) -> tuple[Tensor, Tensor]:
        projected, U, mask = plain(projected), plain(U), flags(mask)
        batch, num_steps, n = *projected.shape[:2], U.shape[1]
        ctx.narrow, ctx.reverse = narrow_wanted(), reverse
        states, previous, gated = (zeros(batch, num_steps, n) for _ in range(3))
        gates = empty(batch, num_steps, 3 * n)
        last = plain(initial).clone()
        tensors = (projected, mask, U, states, previous, gated, gates, last)
        options = (batch, num_steps, n, int(reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_gru(*map(at, tensors), *options)
        ctx.save_for_backward(mask, U, previous, gated, gates)
        return states, last

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_states: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        mask, U, previous, gated, gates = ctx.saved_tensors
        batch, num_steps, n = previous.shape
        d_states, ds = plain(d_states), plain(d_last).clone()
        d_projected = torch.zeros_like(gates)
        tensors = (d_states, mask, U, previous, gates, ds, d_projected)
        options = (batch, num_steps, n, int(ctx.reverse), int(ctx.narrow), threads_for(batch))
        kernels().regard_gru_back(*map(at, tensors), *options)
        d_U = recurrent_gradient(d_projected, previous, gated, ctx.narrow)
        return d_projected, None, ds, d_U, None


def recurrent_gradient(
    d_projected: Float[Tensor, "B T gn"],
    previous: Float[Tensor, "B T n"],
    gated: Float[Tensor, "B T n"],
    narrow: bool,
) -> Float[Tensor, "3*n n"]:
    """∂/∂U: two gates multiply the previous state, the candidate that state after its reset gate."""
    flat, n = d_projected.flatten(0, 1), previous.shape[2]
    d_U = empty(3 * n, n)
    product(flat[:, : 2 * n].T, previous.flatten(0, 1), narrow=narrow, into=d_U[: 2 * n])
    product(flat[:, 2 * n :].T, gated.flatten(0, 1), narrow=narrow, into=d_U[2 * n :])
    return d_U


def gru_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    W: Float[Tensor, "3*n m"],
    U: Float[Tensor, "3*n n"],
    b: Float[Tensor, "3*n"],
    reverse: bool = False,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """The GRU over a padded batch; returns the state at each word and the last one."""
    packed = packed_of(U)
    if packed is not None:
        states = zeros(*mask.shape, packed.shape[1])
        return states, _read(affine(inputs, W, b), flags(mask), initial, packed, states, reverse)
    states, last = _Recurrence.apply(affine(inputs, W, b), mask, *initial, U, reverse)  # type: ignore[no-untyped-call]
    return states, (last,)


def gru_step(projected: Float[Tensor, "B gn"], previous_state: PlainState, U: Packed) -> PlainState:
    """One step of the GRU from W x + b, without a gradient."""
    return _read(projected.unsqueeze(1), None, previous_state, U, None)


def _read(
    projected: Float[Tensor, "B T gn"],
    mask: Bool[Tensor, "B T"] | None,
    initial: PlainState,
    U: Packed,
    states: Float[Tensor, "B T n"] | None,
    reverse: bool = False,
) -> PlainState:
    """The last state, and the state at each word written to `states`; nothing is stored for a backward pass."""
    last = plain(initial[0]).clone()
    projected = plain(projected)
    batch, num_steps, _ = projected.shape
    tensors = (projected, mask, states, last)
    kernels().regard_gru_read(U.place, *map(at, tensors), batch, num_steps, int(reverse), threads_for(batch))
    return (last,)
