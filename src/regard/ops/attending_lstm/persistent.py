"""The attending LSTM on a GPU: one launch for each pass; the same signature as `naive`.

The steps' kernels are in `kernels`; here are the buffers they fill, the tiles they take, and the large products before
and after them. Saved for the backward pass: states, memories, gates, queries, contexts and alpha; the tanh of the
energies is recomputed. Widths are padded with zeros to multiples of the tiles: a unit without weights stays at 0.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from regard.ops.kernels.gather import gather
from regard.ops.kernels.padding import padded, stacked
from regard.ops.kernels.tiles import WIDTH, Tiles, run_steps, taken_of, tiles_of
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """Inputs and their gradients are batch first; widths padded; one precision."""

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
        tiles: Tiles,
    ) -> tuple[Tensor, Tensor, Tensor]:
        from regard.ops.attending_lstm import kernels

        (B, Ty, _), (_, Tx, a), (_, _, d), n = projected.shape, keys.shape, annotations.shape, U.shape[1]
        states = keys.new_empty(Ty + 1, B, n)
        memories = keys.new_empty(Ty + 1, B, n, dtype=torch.float32)
        states[0], memories[0] = h0, c0
        queries, contexts = keys.new_empty(Ty, B, a), keys.new_empty(Ty, B, d)
        gates = keys.new_empty(Ty, B, 4 * n)
        alpha = keys.new_empty(Ty, B, Tx, dtype=torch.float32)
        given = (projected, projected.stride(1), projected.stride(0), mask, keys, annotations, W_a, v_a, U, C)
        kept = (states, memories, queries, contexts, alpha, gates)
        quick = int(keys.is_cuda and keys.dtype != torch.float32)
        run_steps(
            kernels.forward_steps, tiles, Ty, *given, *kept, B=B, Tx=Tx, n=n, a=a, d=d,
            BQ=tiles.BQ, STAGES=tiles.forward_stages, QUICK=quick,
        )  # fmt: skip
        ctx.save_for_backward(*kept, keys, annotations, W_a, v_a, U, C)
        ctx.tiles = tiles
        ctx.set_materialize_grads(False)
        return (
            states[1:].transpose(0, 1),
            contexts.transpose(0, 1),
            alpha.transpose(0, 1).to(keys.dtype),
        )

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor | None, d_contexts: Tensor | None, d_alpha: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        from regard.ops.attending_lstm import kernels

        saved = ctx.saved_tensors
        states, memories, queries, contexts, alpha, gates, keys, annotations, W_a, v_a, U, C = saved
        tiles: Tiles = ctx.tiles
        (Ty, B, Tx), a, (d, n) = alpha.shape, keys.shape[2], (C.shape[1], U.shape[1])
        W = torch.cat([U.T, C.T])  # (n + d, 4n)
        partial = memories.new_empty(tiles.split, B, n + d)
        d_gates, d_query, d_context = (torch.empty_like(x) for x in (gates, queries, contexts))
        d_energy, d_initial, d_memory = (
            torch.empty_like(alpha),
            torch.empty_like(memories[0]),
            torch.zeros_like(memories[0]),
        )
        outer = tuple(None if x is None else x.transpose(0, 1) for x in (d_states, d_contexts, d_alpha))
        taken = taken_of(outer, gates)
        read = (keys, annotations, v_a, W, W_a.T.contiguous(), gates, memories, queries, alpha)
        made = (partial, d_gates, d_query, d_context, d_energy, d_initial, d_memory)
        quick = int(keys.is_cuda and keys.dtype != torch.float32)
        run_steps(
            kernels.backward_steps, tiles, Ty + 1, *read, *taken, *made, last_step=Ty - 1, B=B, Tx=Tx, n=n, a=a, d=d,
            STATES=d_states is not None, CONTEXTS=d_contexts is not None, ALPHA=d_alpha is not None, QUICK=quick,
            SPLIT=tiles.split, BY=tiles.BY, BX=tiles.BX, STAGES=tiles.stages,
        )  # fmt: skip
        d_keys, d_v_a = gather(keys, queries, d_energy, v_a, quick)
        flat, before = d_gates.flatten(0, 1), states[:-1].flatten(0, 1)
        d_U, d_C = flat.T @ before, flat.T @ contexts.flatten(0, 1)
        d_W_a = d_query.flatten(0, 1).T @ before
        # δh_j = Σ_i α_ij δc_i
        d_annotations = None
        if ctx.needs_input_grad[4]:
            d_annotations = torch.bmm(alpha.permute(1, 2, 0).to(keys.dtype), d_context.transpose(0, 1))
        starts = (d_initial.to(keys.dtype), d_memory.to(keys.dtype))
        weights = (d_W_a, d_v_a, d_U, d_C)
        return d_gates.transpose(0, 1), *starts, d_keys, d_annotations, None, *weights, None


def _tiles(keys: Tensor, annotations: Tensor, U: Tensor) -> Tiles:
    """Tiles for these; where weights and source do not fit into the second cache together, the weights stay."""
    (_, Tx, a), d, n = keys.shape, annotations.shape[2], U.shape[1]
    tiles = tiles_of(keys, Tx, n, a, d, n + d)
    units = keys.numel() + annotations.numel() + 4 * n * (n + d) + a * n
    if (
        keys.is_cuda
        and units * keys.element_size() > torch.cuda.get_device_properties(keys.device).L2_cache_size
    ):
        return replace(tiles, stream="evict_first")
    return tiles


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
    width = keys.dtype
    a, d, n = keys.shape[2], annotations.shape[2], U.shape[1]
    more_n, more_a, more_d = (-size % WIDTH for size in (n, a, d))
    projected = padded(torch.unflatten(projected, -1, (4, n)), more_n).flatten(-2)
    h0, c0 = (padded(part, more_n) for part in initial)
    W_a, v_a = padded(W_a, more_n, more_a), padded(v_a, more_a)
    U, C = stacked(U, 4, more_n, more_n), stacked(C, 4, more_d, more_n)
    keys, annotations = padded(keys, more_a), padded(annotations, more_d)
    tiles = _tiles(keys, annotations, U)
    projected = projected.to(width)
    projected = projected if projected.stride(-1) == 1 else projected.contiguous()
    given = (part.to(width).contiguous() for part in (keys, annotations))
    weights = (part.to(width).contiguous() for part in (W_a, v_a, U, C))
    with torch.autocast(keys.device.type, enabled=False):
        states, contexts, alpha = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected, h0, c0, *given, mask.contiguous().view(torch.int8), *weights, tiles
        )
    return states[..., :n], contexts[..., :d], alpha
