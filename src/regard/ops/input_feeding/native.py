"""Input feeding by C kernels on the CPU, its backward pass derived by hand; the same signature as `naive`.

As in `fused`, W_c multiplies the annotations once per sentence, and two products are left in a step. The loop over time
runs in C; the sentences are divided among the threads.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.native import narrow_wanted, product
from regard.ops.native.call import at, empty, flags, kernels, plain, source_of, zeros
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """projected (B, Ty, 4n), values W_c h̄_s (B, Tx, l) → readouts (B, Ty, l), alpha (B, Ty, Tx)."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor,
        fed: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        W_q: Tensor,
        v_a: Tensor | None,
        W: Tensor,
        dropped: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        projected, h0, c0, fed, keys, values = map(plain, (projected, h0, c0, fed, keys, values))
        W_q, W, mask = plain(W_q), plain(W), flags(mask)
        v_a, dropped = (None if each is None else plain(each) for each in (v_a, dropped))
        (batch, num_steps, _), n, l = projected.shape, h0.shape[1], fed.shape[1]
        p = W_q.shape[0] - l  # of the query; 0 if the state itself is the query
        ctx.narrow = narrow_wanted()
        carried = empty(batch, num_steps, n + l)
        states, memories = empty(batch, num_steps, n), empty(batch, num_steps, n)
        gates, asked = torch.empty_like(projected), empty(batch, num_steps, p + l)
        readouts, alpha = empty(batch, num_steps, l), empty(batch, num_steps, keys.shape[1])
        source = source_of(keys, values, mask, None, v_a, num_steps, n, narrow=ctx.narrow)
        given = (projected, W, W_q, h0, c0, fed, dropped)
        kept = (carried, states, memories, gates, asked, readouts, alpha)
        kernels().regard_input_feeding(source.place, p, *map(at, (*given, *kept)))
        saved = (carried, states, memories, gates, asked, alpha)
        ctx.save_for_backward(c0, keys, values, mask, W_q, v_a, W, dropped, *saved)
        return readouts, alpha

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_readouts: Tensor, d_alpha: Tensor) -> tuple[Tensor | None, ...]:
        c0, keys, values, mask, W_q, v_a, W, dropped, *saved = ctx.saved_tensors
        carried, states, memories, gates, asked, alpha = saved
        (batch, num_steps, n), l = states.shape, values.shape[2]
        p = W_q.shape[0] - l
        source = source_of(keys, values, mask, None, v_a, num_steps, n, narrow=ctx.narrow)
        d_readouts, d_alpha = plain(d_readouts), plain(d_alpha)
        d_gates, d_asked = torch.empty_like(gates), torch.empty_like(asked)
        d_keys, d_v = torch.zeros_like(keys), zeros(batch, keys.shape[2])
        d_first, dc = empty(batch, n + l), empty(batch, n)
        given = (W, W_q, c0, dropped, states, memories, gates, asked, alpha, d_readouts, d_alpha)
        found = (d_gates, d_asked, d_keys, d_v, d_first, dc)
        kernels().regard_input_feeding_back(source.place, p, *map(at, (*given, *found)))
        d_W = product(d_gates.flatten(0, 1).T, carried.flatten(0, 1), narrow=ctx.narrow)
        d_W_q = product(d_asked.flatten(0, 1).T, states.flatten(0, 1), narrow=ctx.narrow)
        with torch.autocast("cpu", enabled=False):  # also if the backward pass is called under autocast
            d_values = torch.bmm(alpha.transpose(1, 2), d_asked[..., p:])  # (B, Tx, l)
        d_v_a = None if v_a is None else d_v.sum(dim=0)
        return d_gates, d_first[:, :n], dc, d_first[:, n:], d_keys, d_values, None, d_W_q, d_v_a, d_W, None


def input_feeding_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    fed: Float[Tensor, "B l"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"] | None,
    v_a: Float[Tensor, "a"] | None,
    F: Float[Tensor, "4*n l"],
    U: Float[Tensor, "4*n n"],
    W_c: Float[Tensor, "l d+n"],
    dropped: Float[Tensor, "B Ty l"] | None,
) -> tuple[Float[Tensor, "B Ty l"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence; see `naive`."""
    d = annotations.shape[2]
    values = affine(annotations, W_c[:, :d])  # (B, Tx, l)
    W_q = W_c[:, d:] if W_a is None else torch.cat([W_a, W_c[:, d:]])  # (l, n), or (a + l, n)
    W = torch.cat([U, F], dim=1)  # (4n, n + l)
    found: tuple[Tensor, Tensor] = _Recurrence.apply(  # type: ignore[no-untyped-call]
        projected, *initial, fed, keys, values, mask, W_q, v_a, W, dropped
    )
    return found
