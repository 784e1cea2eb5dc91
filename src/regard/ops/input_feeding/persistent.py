"""Input feeding on a GPU: one launch for each pass; the same signature as `naive`.

The steps' kernels are in `kernels`; here are the buffers they fill, the tiles they take, and the large products before
and after them. W_c multiplies the annotations once per sentence. Saved for the backward pass: states,
memories, gates, h̃ before and after dropout, queries and alpha; the tanh of additive energies is recomputed. Widths are
padded with zeros to multiples of the tiles: a unit without weights stays at 0.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from regard.ops.kernels.padding import padded, stacked
from regard.ops.kernels.tiles import WIDTH, Tiles, narrow_columns, run_steps, taken_of, tiles_of
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """Inputs and their gradients are batch first; widths padded; one precision. `values` are W_c's part of h̄_s.

    W_q is W_a over the state's part of W_c, or that part alone.
    """

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor,
        fed0: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        W_q: Tensor,
        v_a: Tensor | None,
        F: Tensor,
        U: Tensor,
        dropped: Tensor | None,
        tiles: Tiles,
    ) -> tuple[Tensor, Tensor]:
        from regard.ops.input_feeding import kernels

        (B, Ty, _), (_, Tx, a), (wide, n), l = projected.shape, keys.shape, W_q.shape, values.shape[2]
        states, fed = keys.new_empty(Ty + 1, B, n), keys.new_empty(Ty + 1, B, l)
        memories = keys.new_empty(Ty + 1, B, n, dtype=torch.float32)
        states[0], memories[0], fed[0] = h0, c0, fed0
        asked, gates = keys.new_empty(Ty, B, wide), keys.new_empty(Ty, B, 4 * n)
        alpha = keys.new_empty(Ty, B, Tx, dtype=torch.float32)
        # dot products have no v_a; the kernel does not read the argument
        weights = (keys if v_a is None else v_a, U, F, W_q)
        noise = taken_of((None if dropped is None else dropped.transpose(0, 1),), keys)
        ctx.kind = {"OWN": wide > l, "DOT": v_a is None, "DROPPED": dropped is not None}
        ctx.kind |= {"QUICK": int(keys.is_cuda and keys.dtype != torch.float32)}
        run_steps(
            kernels.forward_steps, tiles, Ty, projected, projected.stride(1), projected.stride(0), mask, keys, values,
            *weights, *noise, states, memories, fed, asked, alpha, gates,
            B=B, Tx=Tx, n=n, a=a, l=l, BQ=tiles.BQ, STAGES=tiles.forward_stages, **ctx.kind,
        )  # fmt: skip
        kept = (states, memories, fed, asked, alpha, gates)
        ctx.save_for_backward(*kept, keys, values, W_q, v_a, F, U, dropped)
        ctx.tiles = tiles
        ctx.set_materialize_grads(False)
        return fed[1:].transpose(0, 1), alpha.transpose(0, 1).to(keys.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_readouts: Tensor | None, d_alpha: Tensor | None) -> tuple[Tensor | None, ...]:
        from regard.ops.input_feeding import kernels

        states, memories, fed, asked, alpha, gates, keys, values, W_q, v_a, F, U, dropped = ctx.saved_tensors
        tiles: Tiles = ctx.tiles
        (Ty, B, Tx), a, n, l = alpha.shape, keys.shape[2], U.shape[1], values.shape[2]
        W = torch.cat([U, F], dim=1)  # (4n, n + l)
        partial = memories.new_zeros(tiles.split, B, n + l)
        d_gates, d_asked, d_energy = (torch.empty_like(x) for x in (gates, asked, alpha))
        d_query = d_asked if ctx.kind["OWN"] else keys.new_empty(Ty, B, a)
        d_memory = torch.zeros_like(memories[0])
        outer = taken_of(
            tuple(None if x is None else x.transpose(0, 1) for x in (d_readouts, d_alpha)), gates
        )
        noise = taken_of((None if dropped is None else dropped.transpose(0, 1),), keys)
        read = (keys, values, keys if v_a is None else v_a, W.T.contiguous(), W_q.T.contiguous())
        run_steps(
            kernels.backward_steps, tiles, Ty, *read, gates, memories, states, asked, alpha, *noise, *outer,
            partial, d_gates, d_asked, d_query, d_energy, d_memory, last_step=Ty - 1, B=B, Tx=Tx, n=n, a=a, l=l,
            READOUTS=d_readouts is not None, ALPHA=d_alpha is not None, SPLIT=tiles.split, BY=tiles.BY, BX=tiles.BX,
            STAGES=tiles.stages, **ctx.kind,
        )  # fmt: skip
        queries = asked[..., :a] if ctx.kind["OWN"] else states[1:]
        d_keys, d_v = _gather(keys, queries, d_energy, v_a, tiles, ctx.kind["QUICK"])
        flat = d_gates.flatten(0, 1)
        d_U, d_F = flat.T @ states[:-1].flatten(0, 1), flat.T @ fed[:-1].flatten(0, 1)
        d_W_q = d_asked.flatten(0, 1).T @ states[1:].flatten(0, 1)
        # δv_j = Σ_t α_tj δz_t
        d_values = torch.bmm(alpha.permute(1, 2, 0).to(keys.dtype), d_asked[..., -l:].transpose(0, 1))
        d_h0, d_fed0 = torch.split(d_gates[0] @ W, [n, l], dim=1)
        starts = (d_h0, d_memory.to(keys.dtype), d_fed0)
        return d_gates.transpose(0, 1), *starts, d_keys, d_values, None, d_W_q, d_v, d_F, d_U, None, None


def _gather(
    keys: Tensor, queries: Tensor, d_energy: Tensor, v_a: Tensor | None, tiles: Tiles, quick: int
) -> tuple[Tensor, Tensor | None]:
    """From all steps' ∂/∂energies (Ty, B, Tx) and queries (Ty, B, a) to ∂/∂keys (B, Tx, a) and ∂/∂v_a."""
    if v_a is None:
        return torch.bmm(d_energy.permute(1, 2, 0).to(keys.dtype), queries.transpose(0, 1)), None
    from regard.ops.kernels import parts

    Ty, (B, Tx, a) = queries.shape[0], keys.shape
    d_keys, d_v = torch.empty_like(keys), d_energy.new_empty(B, a)
    wide = max(16, min(64, 4096 // tiles.BT))
    parts.gather_keys[(B, a // wide)](
        keys,
        queries.contiguous(),
        d_energy,
        v_a,
        d_keys,
        d_v,
        Ty,
        B,
        Tx,
        a,
        tiles.BT,
        wide,
        quick,
        2,
        num_warps=4,
    )
    return d_keys, d_v.sum(dim=0).to(v_a.dtype)


def _tiles(keys: Tensor, values: Tensor, W_q: Tensor) -> Tiles:
    """Tiles for these; where weights and source together fill half the second cache, the weights stay."""
    (B, Tx, a), l, (wide, n) = keys.shape, values.shape[2], W_q.shape
    tiles = tiles_of(keys, Tx, n, wide, l, n + l)
    at_once = 8 if l >= 1024 else 16
    tiles = replace(tiles, BQ=narrow_columns(keys, B, wide), BA=1 << (a - 1).bit_length(), BJ=at_once)
    size = (keys.numel() + values.numel() + 4 * n * (n + l) + W_q.numel()) * keys.element_size()
    # a processor is near to one half, and what it reads from the other lies in both
    if keys.is_cuda and 2 * size > torch.cuda.get_device_properties(keys.device).L2_cache_size:
        return replace(tiles, stream="evict_first")
    return tiles


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
    width = keys.dtype
    a, d, n, l = keys.shape[2], annotations.shape[2], U.shape[1], fed.shape[1]
    more_n, more_a, more_l = (-size % WIDTH for size in (n, a, l))
    projected = padded(torch.unflatten(projected, -1, (4, n)), more_n).flatten(-2).to(width)
    projected = projected if projected.stride(-1) == 1 else projected.contiguous()
    starts = (padded(initial[0], more_n), padded(initial[1], more_n), padded(fed, more_l).to(width))
    W_h = padded(W_c[:, d:], more_n, more_l)
    W_q = W_h if W_a is None else torch.cat([padded(W_a, more_n, more_a), W_h])
    v_a = None if v_a is None else padded(v_a, more_a).to(width).contiguous()
    matrices = (W_q, stacked(F, 4, more_l, more_n), stacked(U, 4, more_n, more_n))
    W_q, F, U = (part.to(width).contiguous() for part in matrices)
    noise = None if dropped is None else padded(dropped, more_l).to(width)
    with torch.autocast(keys.device.type, enabled=False):
        values = annotations.to(width) @ padded(W_c[:, :d], 0, more_l).to(width).T  # (B, Tx, l)
        keys = padded(keys, more_a).contiguous()
        readouts, alpha = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected, *starts, keys, values, mask.contiguous().view(torch.int8), W_q, v_a, F, U, noise,
            _tiles(keys, values, W_q),
        )  # fmt: skip
    return readouts[..., :l], alpha
