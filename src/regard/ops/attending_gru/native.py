"""RNNsearch's recurrence by C kernels on the CPU, its backward pass derived by hand; the same signature as `naive`.

The loop over time runs in C, a share of the sentences to each thread; the gradients of U, C, W_a and of the
annotations are left to large products after it. The derivation is in ops/README.md.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.gru.native import recurrent_gradient
from regard.ops.native import narrow_wanted, product
from regard.ops.native.call import at, empty, flags, kernels, plain, source_of, zeros
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float


class _Recurrence(torch.autograd.Function):
    """projected (B, Ty, 3n) → states (B, Ty, n), contexts (B, Ty, d), alpha (B, Ty, Tx)."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        initial: Tensor,
        keys: Tensor,
        annotations: Tensor,
        mask: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        projected, initial, keys, annotations = map(plain, (projected, initial, keys, annotations))
        W_a, v_a, U, C, mask = plain(W_a), plain(v_a), plain(U), plain(C), flags(mask)
        batch, num_steps, n = *projected.shape[:2], U.shape[1]
        ctx.narrow = narrow_wanted()
        states, previous, gated = (empty(batch, num_steps, n) for _ in range(3))
        gates = torch.empty_like(projected)
        contexts = empty(batch, num_steps, annotations.shape[2])
        queries = empty(batch, num_steps, keys.shape[2])
        alpha = empty(batch, num_steps, keys.shape[1])
        source = source_of(keys, annotations, mask, W_a, v_a, num_steps, n, narrow=ctx.narrow)
        kept = (states, previous, gated, gates, contexts, queries, alpha)
        kernels().regard_attending_gru(source.place, *map(at, (projected, U, C, initial, *kept)))
        ctx.save_for_backward(keys, annotations, mask, W_a, v_a, U, C, *kept[1:])
        return states, contexts, alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor, d_contexts: Tensor, d_alpha: Tensor
    ) -> tuple[Tensor | None, ...]:
        keys, annotations, mask, W_a, v_a, U, C, *kept = ctx.saved_tensors
        previous, gated, gates, contexts, queries, alpha = kept
        batch, num_steps, n = previous.shape
        source = source_of(keys, annotations, mask, W_a, v_a, num_steps, n, narrow=ctx.narrow)
        d_states, d_alpha = plain(d_states), plain(d_alpha)
        d_context = plain(d_contexts).clone()  # completed on the way
        d_projected, d_query = torch.empty_like(gates), torch.empty_like(queries)
        d_keys, d_v = torch.zeros_like(keys), zeros(batch, len(v_a))
        d_initial = empty(batch, n)
        given = (U, C, queries, previous, gates, alpha, d_states, d_alpha)
        found = (d_context, d_projected, d_query, d_keys, d_v, d_initial)
        kernels().regard_attending_gru_back(source.place, *map(at, (*given, *found)))
        d_U = recurrent_gradient(d_projected, previous, gated, ctx.narrow)
        d_C = product(d_projected.flatten(0, 1).T, contexts.flatten(0, 1), narrow=ctx.narrow)
        d_W_a = product(d_query.flatten(0, 1).T, previous.flatten(0, 1), narrow=ctx.narrow)
        with torch.autocast("cpu", enabled=False):  # also if the backward pass is called under autocast
            d_annotations = torch.bmm(alpha.transpose(1, 2), d_context)  # (B, Tx, d)
        return d_projected, d_initial, d_keys, d_annotations, None, d_W_a, d_v.sum(dim=0), d_U, d_C


def attending_gru(
    projected: Float[Tensor, "B Ty gn"],
    initial: Float[Tensor, "B n"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"],
    v_a: Float[Tensor, "a"],
    U: Float[Tensor, "3*n n"],
    C: Float[Tensor, "3*n d"],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence; see `naive`."""
    found: tuple[Tensor, Tensor, Tensor] = _Recurrence.apply(  # type: ignore[no-untyped-call]
        projected, initial, keys, annotations, mask, W_a, v_a, U, C
    )
    return found
