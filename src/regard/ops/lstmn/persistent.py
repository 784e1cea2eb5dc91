"""The LSTMN on a GPU: one launch for each pass.

Additive energies or dot products, no span, no dropout of states; widths that are multiples of 64. The steps' kernels
are in `forward_kernels` and `backward_kernels`; here are the buffers they fill and the large products after them. The
tanh of the energies is recomputed in the backward pass.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.by_hand.steps import tape_of
from regard.ops.kernels.tiles import run_steps, taken_of, tiles_of
from regard.ops.paths import first_derivative_only
from regard.ops.tape.persistent import energies_of, held, key_gradients, summands

Options = tuple[float, bool, int]
"""Scale of the energies, whether h = o ∘ tanh(c), span (0 here)."""


class Recurrence(torch.autograd.Function):
    """Time first in what has steps, batch first on tapes; see `by_hand.steps.prepare` for what comes in.

    Gives h, c and s (T, B, n), the keys written (T, B, p), and alpha (T, B, slots).
    """

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        s0: Tensor,
        first_keys: Tensor,
        first: Tensor,
        valid: Tensor,
        real: Tensor,
        U: Tensor,
        S: Tensor,
        U_a: Tensor | None,
        v_a: Tensor | None,
        state_mask: None,
        options: Options,
    ) -> tuple[Tensor, ...]:
        """See the class."""
        from regard.ops.lstmn import forward_kernels

        T, B, n, p, num_first = *projected.shape[:2], U.shape[1], S.shape[0], first_keys.shape[1]
        slots = num_first + T
        projected = projected if projected.stride(2) == 1 else projected.contiguous()
        U, S = U.contiguous(), S.contiguous()
        keys, written = tape_of(first_keys, T), tape_of(first, T)
        alpha = keys.new_empty(T, B, slots, dtype=torch.float32)
        reads, queries, gates = (
            keys.new_empty(T, B, 2 * n),
            keys.new_empty(T, B, p),
            keys.new_empty(T, B, 4 * n),
        )
        share = (s0 @ S.T).float()  # S s_{t−1}, (B, p)
        queries[0] = projected[0, :, 4 * n :] + share
        marks, words = valid.contiguous().view(torch.int8), real.contiguous().view(torch.int8)
        tiles = tiles_of(keys, slots, n, p, 2 * n, n)
        energies = energies_of(v_a, options[0], keys)
        run_steps(
            forward_kernels.forward_steps, tiles, T, projected, projected.stride(0), projected.stride(1), marks, words,
            keys, written, U, S, U if U_a is None else U_a.contiguous(), energies.v_a, reads, queries, share, alpha,
            gates, scale=energies.scale, T=T, B=B, slots=slots, num_first=num_first, n=n, p=p, DOT=energies.dot,
            KEYED=U_a is not None, TANH=options[1], BQ=tiles.BQ, STAGES=tiles.forward_stages, QUICK=energies.quick,
        )  # fmt: skip
        summaries = held(torch.cat([s0.unsqueeze(0), reads[..., :n]]), real)
        ctx.save_for_backward(keys, written, alpha, reads, queries, gates, summaries, words, U, S, U_a, v_a)
        ctx.tiles, ctx.options = tiles, options
        ctx.set_materialize_grads(False)
        states, memories = torch.split(written[:, num_first:].transpose(0, 1), n, dim=-1)
        new_keys = keys[:, num_first:].transpose(0, 1)
        return states.clone(), memories.clone(), summaries[1:].clone(), new_keys.clone(), alpha.to(keys.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *taken: Tensor | None) -> tuple[Tensor | None, ...]:
        """From ∂/∂(h, c, s, keys, alpha), each None if unused, to ∂/∂(the inputs)."""
        from regard.ops.lstmn import backward_kernels

        keys, written, alpha, reads, queries, gates, summaries, words, U, S, U_a, v_a = ctx.saved_tensors
        tiles = ctx.tiles
        (T, B, slots), (p, n) = alpha.shape, S.shape
        num_first = slots - T
        energies = energies_of(v_a, ctx.options[0], keys)
        split, share = summands(tiles, 4 * n, p)
        partial = alpha.new_empty(split + share, B, n)
        d_projected = keys.new_empty(T, B, 4 * n + p)
        d_gates, d_query, d_key = (
            torch.empty_like(gates),
            torch.empty_like(queries),
            torch.empty_like(queries),
        )
        d_reads = keys.new_empty(B, T, 2 * n)
        d_energy, d_slot = torch.zeros_like(alpha), alpha.new_empty(B, 2 * n)
        d_carried = alpha.new_zeros(B, n)
        backs = (weight.T.contiguous() for weight in (U, S, U if U_a is None else U_a))
        names = ("STATES", "MEMORIES", "SUMMARIES", "KEYS", "ALPHA")
        flags = {name: gradient is not None for name, gradient in zip(names, taken, strict=True)}
        run_steps(
            backward_kernels.backward_steps, tiles, T + 1, words, keys, written, *backs, energies.v_a, reads, queries,
            alpha, gates, *taken_of(taken, gates), partial, d_gates, d_query, d_key, d_reads, d_energy, d_slot,
            d_carried, scale=energies.scale, T=T, B=B, slots=slots, num_first=num_first, n=n, p=p, DOT=energies.dot,
            KEYED=U_a is not None, TANH=ctx.options[1], SPLIT=split, SHARE=share, BY=tiles.BY, BX=tiles.BX,
            STAGES=tiles.stages, QUICK=energies.quick, **flags,
        )  # fmt: skip
        d_first_keys, d_v = key_gradients(keys, queries, d_energy, energies, tiles, num_first)
        d_projected[..., : 4 * n], d_projected[..., 4 * n :] = d_gates, d_query
        h = written[:, num_first:, :n].transpose(0, 1)
        given = () if U_a is None else ((d_key, h),)
        pairs = ((d_gates, reads[..., :n]), (d_query, summaries[:-1]), *given)
        d_U, d_S, *d_U_a = (d.flatten(0, 1).T @ x.flatten(0, 1) for d, x in pairs)
        d_s0 = d_query[0] @ S + d_carried.to(keys.dtype)
        d_first = torch.bmm(alpha[:, :, :num_first].permute(1, 2, 0).to(keys.dtype), d_reads)
        starts = (d_s0, d_first_keys, d_first, None, None)
        return d_projected, *starts, d_U, d_S, *(d_U_a or [None]), d_v, None, None
