"""The attending LSTM by C kernels on the CPU, its backward pass derived by hand; the same signature as `naive`.

The loop over time runs in C, a share of the sentences to each thread; the gradients of U, C, W_a and of the
annotations are left to large products after it. The derivation is in README.md beside this file.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.native import narrow_wanted, product
from regard.ops.native.call import at, empty, flags, kernels, plain, source_of, zeros
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """projected (B, Ty, 4n) → states (B, Ty, n), contexts (B, Ty, d), alpha (B, Ty, Tx)."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor,
        keys: Tensor,
        annotations: Tensor,
        mask: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        projected, h0, c0, keys, annotations = map(plain, (projected, h0, c0, keys, annotations))
        W_a, v_a, U, C, mask = plain(W_a), plain(v_a), plain(U), plain(C), flags(mask)
        batch, num_steps, n = *projected.shape[:2], U.shape[1]
        ctx.narrow = narrow_wanted()
        states, previous, memories = (empty(batch, num_steps, n) for _ in range(3))
        gates = torch.empty_like(projected)
        contexts = empty(batch, num_steps, annotations.shape[2])
        queries = empty(batch, num_steps, keys.shape[2])
        alpha = empty(batch, num_steps, keys.shape[1])
        source = source_of(keys, annotations, mask, W_a, v_a, num_steps, n, narrow=ctx.narrow)
        given = (projected, U, C, h0, c0)
        kept = (states, previous, memories, gates, contexts, queries, alpha)
        kernels().regard_attending_lstm(source.place, *map(at, (*given, *kept)))
        ctx.save_for_backward(c0, keys, annotations, mask, W_a, v_a, U, C, *kept[1:])
        return states, contexts, alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor, d_contexts: Tensor, d_alpha: Tensor
    ) -> tuple[Tensor | None, ...]:
        c0, keys, annotations, mask, W_a, v_a, U, C, *kept = ctx.saved_tensors
        previous, memories, gates, contexts, queries, alpha = kept
        batch, num_steps, n = previous.shape
        source = source_of(keys, annotations, mask, W_a, v_a, num_steps, n, narrow=ctx.narrow)
        d_states, d_alpha = plain(d_states), plain(d_alpha)
        d_context = plain(d_contexts).clone()  # completed on the way
        d_projected, d_query = torch.empty_like(gates), torch.empty_like(queries)
        d_keys, d_v = torch.zeros_like(keys), zeros(batch, len(v_a))
        dh, dc = empty(batch, n), empty(batch, n)
        given = (U, C, c0, queries, memories, gates, alpha, d_states, d_alpha)
        found = (d_context, d_projected, d_query, d_keys, d_v, dh, dc)
        kernels().regard_attending_lstm_back(source.place, *map(at, (*given, *found)))
        flat, before = d_projected.flatten(0, 1), previous.flatten(0, 1)
        d_U = product(flat.T, before, narrow=ctx.narrow)
        d_C = product(flat.T, contexts.flatten(0, 1), narrow=ctx.narrow)
        d_W_a = product(d_query.flatten(0, 1).T, before, narrow=ctx.narrow)
        with torch.autocast("cpu", enabled=False):  # also if the backward pass is called under autocast
            d_annotations = torch.bmm(alpha.transpose(1, 2), d_context)  # (B, Tx, d)
        return d_projected, dh, dc, d_keys, d_annotations, None, d_W_a, d_v.sum(dim=0), d_U, d_C


def attending_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"],
    v_a: Float[Tensor, "a"],
    U: Float[Tensor, "4*n n"],
    C: Float[Tensor, "4*n d"],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence; see `naive`."""
    found: tuple[Tensor, Tensor, Tensor] = _Recurrence.apply(  # type: ignore[no-untyped-call]
        projected, *initial, keys, annotations, mask, W_a, v_a, U, C
    )
    return found
