"""RNNsearch's recurrence on a GPU: one launch for each pass; the same signature as `naive`.

The steps' kernels are in `kernels`; here are the buffers they fill, the tiles they take, and the large products before
and after them. C multiplies the annotations before the loop rather than the contexts inside it, and the contexts are
one product after it: only the readout needs them. Saved for the backward pass: states, gates, candidates, r ∘ s,
queries and alpha; the tanh of the energies is recomputed. Widths are padded with zeros to multiples of the tiles: a
unit without weights stays at 0.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.kernels.gather import gather
from regard.ops.kernels.padding import cut, fitted
from regard.ops.kernels.tiles import (
    WIDTH,
    launch,
    narrow_columns,
    power_of,
    programs_of,
    rows_of,
    slots_of,
    taken_of,
    units_of,
)
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float


class _Recurrence(torch.autograd.Function):
    """As `naive`; inputs and their gradients are batch first, in the precision of the keys."""

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
        from regard.ops.attending_gru import kernels

        (B, Ty, _), Tx, (units, width), dtype = projected.shape, keys.shape[1], W_a.shape, keys.dtype
        n, a = (size + -size % WIDTH for size in (width, units))
        given = (W_a, v_a, U, C)
        keys = fitted(keys.flatten(0, 1), 1, B * Tx, a, dtype).view(B, Tx, a)
        W = torch.cat([fitted(W_a, 1, a, n, dtype), fitted(U, 3, n, n, dtype)])  # (a + 3n, n)
        v, C = fitted(v_a.unsqueeze(0), 1, 1, a, dtype).flatten(), fitted(C, 3, n, C.shape[1], dtype)
        annotations = annotations.to(dtype)
        values = annotations @ C.T  # (B, Tx, 3n)
        states, exact = keys.new_empty(Ty + 1, B, n), keys.new_zeros(B, n, dtype=torch.float32)
        exact[:, :width] = initial
        states[0] = exact
        gates, gated, queries = (keys.new_empty(Ty, B, size) for size in (3 * n, n, a))
        alpha, shares = exact.new_empty(Ty, B, Tx), exact.new_empty(B, 3 * n)
        projected = projected if projected.stride(2) == 1 else projected.contiguous()
        read = (projected, projected.stride(1), projected.stride(0), mask.contiguous().view(torch.int8))
        made = (states, exact, shares, queries, alpha, gates, gated)
        launch(
            kernels.forward_steps, programs_of(keys), 3, Ty, *read, keys, values, W, v, W[a + 2 * n :], *made,
            B=B, Tx=Tx, n=n, a=a, width=width, BQ=narrow_columns(keys, B, a, 2 * n), BN=power_of(n), STAGES=6,
            **_tiles(keys, n, 8, 128),
        )  # fmt: skip
        weights = alpha.transpose(0, 1).to(dtype)  # (B, Ty, Tx)
        ctx.save_for_backward(
            states, gates, gated, queries, alpha, weights, keys, values, annotations, W, v, C, *given
        )
        ctx.set_materialize_grads(False)
        # Eq. 5
        return states[1:, :, :width].transpose(0, 1), torch.bmm(weights, annotations), weights

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor | None, d_contexts: Tensor | None, d_alpha: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        from regard.ops.attending_gru import kernels

        states, gates, gated, queries, alpha, weights, keys, values, annotations, W, v, C, *given = (
            ctx.saved_tensors
        )
        (Ty, B, Tx), a, n, (units, width) = alpha.shape, keys.shape[2], W.shape[1], given[0].shape
        if d_contexts is not None:
            through = torch.bmm(d_contexts, annotations.transpose(1, 2))
            d_alpha = through if d_alpha is None else d_alpha + through
        d_gates, d_query, d_energy = (torch.empty_like(x) for x in (gates, queries, alpha))
        d_state = torch.zeros_like(states[0], dtype=torch.float32)
        W_q, W_g, W_c = (part.T.contiguous() for part in torch.split(W, [a, 2 * n, n]))
        taken = taken_of(tuple(None if x is None else x.transpose(0, 1) for x in (d_states, d_alpha)), gates)
        read = (keys, values, v, W_g, W_q, W_c, gates, states, queries, alpha)
        tiles = _tiles(keys, n, 16, 256)
        launch(
            kernels.backward_steps, programs_of(keys), 3, Ty + 1, *read, *taken, d_gates, d_query, d_energy, d_state,
            last_step=Ty - 1, B=B, Tx=Tx, n=n, a=a, width=width, STATES=d_states is not None,
            ALPHA=d_alpha is not None, BA=power_of(a), STAGES=4, **tiles,
        )  # fmt: skip
        d_keys, d_v_a = gather(keys, queries, d_energy, v, tiles["QUICK"])
        before, d_W = states[:-1].flatten(0, 1), torch.empty_like(W)
        d_parts = (d_query, *torch.split(d_gates, [2 * n, n], dim=2))
        for part, d, x in zip(
            torch.split(d_W, [a, 2 * n, n]), d_parts, (before, before, gated.flatten(0, 1)), strict=True
        ):
            torch.mm(d.flatten(0, 1).T, x, out=part)
        # δ(C h_j) = Σ_i α_ij δx_i
        d_values = torch.bmm(weights.transpose(1, 2), d_gates.transpose(0, 1)).flatten(0, 1)  # (B·Tx, 3n)
        d_annotations = (d_values @ C).view_as(annotations)
        if d_contexts is not None:
            d_annotations.baddbmm_(weights.transpose(1, 2), d_contexts)
        d_C = d_values.T @ annotations.flatten(0, 1)
        d_x = torch.unflatten(d_gates, 2, (3, n))[..., :width].transpose(0, 1)  # (B, Ty, 3, n)
        inputs = (d_x.reshape(B, Ty, 3 * width), d_state[:, :width], d_keys[..., :units], d_annotations, None)
        W_a, _, U, C = given
        return *inputs, cut(d_W[:a], 1, W_a), d_v_a[:units], cut(d_W[a:], 3, U), cut(d_C, 3, C)


def _tiles(keys: Tensor, n: int, at_once: int, inner: int) -> dict[str, Any]:
    """Tiles that leave few programs idle, named as in the kernels.

    `at_once` words are read at a time, and up to `inner` bytes of a row where all units meet.
    """
    (B, Tx, a), size = keys.shape, keys.element_size()
    BM, BT = rows_of(B), slots_of(Tx)
    sizes = {"BM": BM, "BU": units_of(programs_of(keys), -(-B // BM), n, 16), "BJ": at_once, "BT": BT}
    sizes |= {
        "BK": (inner if n % 128 == 0 else 128) // size,
        "BL": (256 if n % 128 == 0 and a % 128 == 0 else 128) // size,
    }
    sizes |= {"BE": max(16, min(128, 2 * 8192 // size // BT)), "ROW_STAGES": 4, "num_warps": 8}
    quick = int(keys.is_cuda and keys.dtype != torch.float32)
    # where weights and source do not fit into the second cache together, the weights stay
    units = B * Tx * (a + 3 * n) + n * (3 * n + a)
    cache = torch.cuda.get_device_properties(keys.device).L2_cache_size if keys.is_cuda else units * size
    return sizes | {"QUICK": quick, "STREAM": "evict_first" if units * size > cache else ""}


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
    with torch.autocast(keys.device.type, enabled=False):
        made: tuple[Tensor, Tensor, Tensor] = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected, initial, keys, annotations, mask, W_a, v_a, U, C
        )
    return made
