"""The paper's GRU with its backward pass derived by hand; the same signature as `naive`.

Inputs are projected for all steps in one product before the loop. The loop keeps only what the backward pass
reads: the gates, the candidates and the states. The backward loop runs the chain rule over time and leaves
the gradients of U to two large products after it. Padding needs no branch: with the update gate at 0 the
state stays as it was, and nothing flows back.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """(projected (T, B, 3n), mask (T, B, 1), s_0 (B, n), U (3n, n)) → states (T, B, n)."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, mask: Tensor, initial: Tensor, U: Tensor) -> Tensor:
        num_steps, batch, n = projected.shape[0], projected.shape[1], U.shape[1]
        gates = projected[..., : 2 * n].clone(memory_format=torch.contiguous_format)  # (T, B, 2n)
        candidates = projected[..., 2 * n :].clone(memory_format=torch.contiguous_format)  # (T, B, n)
        states = projected.new_empty(num_steps + 1, batch, n)  # s_0 … s_T
        states[0] = initial
        U_gates, U_candidate = U[: 2 * n].T, U[2 * n :].T
        for t in range(num_steps):
            s = states[t]
            gates[t].addmm_(s, U_gates).sigmoid_()
            gates[t, :, :n] *= mask[t]
            candidates[t].addmm_(gates[t, :, n:] * s, U_candidate).tanh_()
            torch.lerp(s, candidates[t], gates[t, :, :n], out=states[t + 1])
        ctx.save_for_backward(gates, candidates, states, U)
        return states[1:].clone()

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        gates, candidates, states, U = ctx.saved_tensors
        num_steps, n = d_states.shape[0], U.shape[1]
        update, reset = gates[..., :n], gates[..., n:]
        previous = states[:-1]
        # what depends on no later step, for all steps at once
        through_update = (candidates - previous) * update * (1 - update)
        through_candidate = update * (1 - candidates * candidates)
        through_reset = previous * reset * (1 - reset)
        d_projected = gates.new_empty(num_steps, gates.shape[1], 3 * n)
        U_gates, U_candidate = U[: 2 * n], U[2 * n :]
        ds = torch.zeros_like(states[0])
        for t in reversed(range(num_steps)):
            ds = ds + d_states[t]
            d_candidate = torch.mul(ds, through_candidate[t], out=d_projected[t, :, 2 * n :])
            d_gated = d_candidate @ U_candidate  # ∂/∂(r ∘ s)
            torch.mul(ds, through_update[t], out=d_projected[t, :, :n])
            torch.mul(d_gated, through_reset[t], out=d_projected[t, :, n : 2 * n])
            ds = ds - ds * update[t] + d_gated * reset[t]
            ds.addmm_(d_projected[t, :, : 2 * n], U_gates)
        flat = d_projected.flatten(0, 1)  # (T·B, 3n)
        d_U = torch.cat(
            [
                flat[:, : 2 * n].T @ previous.flatten(0, 1),
                flat[:, 2 * n :].T @ (reset * previous).flatten(0, 1),
            ]
        )
        return d_projected, None, ds, d_U


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
    # mixed precision narrows the projection; the recurrence keeps the width of the parameters
    projected = torch.nn.functional.linear(inputs, W, b).transpose(0, 1).to(U.dtype)  # (T, B, 3n)
    real = mask.T.unsqueeze(-1)  # (T, B, 1)
    if reverse:
        projected, real = projected.flip(0), real.flip(0)
    start = initial[0].to(U.dtype)  # (B, n)
    with torch.autocast(projected.device.type, enabled=False):
        states: Tensor = _Recurrence.apply(projected, real, start, U)  # type: ignore[no-untyped-call]  # (T, B, n)
    last = states[-1]
    states = torch.where(real, states, 0.0)
    if reverse:
        states = states.flip(0)
    return states.transpose(0, 1), (last,)
