"""The self-attentive RNN on a GPU: one launch for all steps forwards, one back; `Read` and `Sum`.

Additive energies or dot products, no span, no dropout of states; widths that are multiples of 64. The steps' kernels
are in `read_kernels` and `sum_kernels`; here are the buffers they fill and the large products after them. The tanh of
the energies is computed again on the backward pass.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.by_hand.steps import tape_of
from regard.ops.kernels.tiles import run_steps, taken_of, tiles_of
from regard.ops.paths import first_derivative_only
from regard.ops.tape.persistent import energies_of, held, key_gradients, last_words, summands

TAKEN = ("STATES", "SUMMARIES", "KEYS", "ALPHA")


class Read(torch.autograd.Function):
    """Time first in what has steps, batch first on tapes; see `by_hand.steps.prepare` for what comes in.

    Gives h and s (T, B, n), the keys written (T, B, p), and alpha (T, B, slots).
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        query_x: Tensor,
        s0: Tensor,
        first_keys: Tensor,
        first_values: Tensor,
        valid: Tensor,
        real: Tensor,
        U: Tensor,
        S: Tensor,
        U_a: Tensor | None,
        v_a: Tensor | None,
        state_mask: None,
        scale: float,
        span: int,
    ) -> tuple[Tensor, ...]:
        """See the class."""
        from regard.ops.self_attentive_rnn import read_kernels

        (T, B, n), (p, num_first) = inputs.shape, (S.shape[0], first_keys.shape[1])
        slots = num_first + T
        keys, values = tape_of(first_keys, T), tape_of(first_values, T)
        alpha = keys.new_empty(T, B, slots, dtype=torch.float32)
        reads, queries = keys.new_empty(T, B, n), keys.new_empty(T, B, p)
        share = (s0 @ S.T).float()  # S s_{t−1}, (B, p)
        queries[0] = query_x[0] + share
        marks, words = valid.contiguous().view(torch.int8), real.contiguous().view(torch.int8)
        tiles, energies = tiles_of(keys, slots, n, p, n, n), energies_of(v_a, scale, keys)
        U, S, keyed = U.contiguous(), S.contiguous(), U_a is not None
        run_steps(
            read_kernels.forward_steps, tiles, T, *taken_of((inputs, query_x), keys), marks, words, keys, values, U, S,
            U if U_a is None else U_a.contiguous(), energies.v_a, reads, queries, share, alpha, scale=scale, T=T, B=B,
            slots=slots, num_first=num_first, n=n, p=p, DOT=energies.dot, KEYED=keyed, BQ=tiles.BQ,
            STAGES=tiles.forward_stages, QUICK=energies.quick,
        )  # fmt: skip
        summaries = held(torch.cat([s0.unsqueeze(0), reads]), real)
        ctx.save_for_backward(keys, values, alpha, reads, queries, summaries, words, U, S, U_a, v_a)
        ctx.tiles, ctx.scale = tiles, scale
        ctx.set_materialize_grads(False)
        states, new_keys = (tape[:, num_first:].transpose(0, 1).clone() for tape in (values, keys))
        return states, summaries[1:].clone(), new_keys, alpha.to(keys.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *taken: Tensor | None) -> tuple[Tensor | None, ...]:
        """From ∂/∂(h, s, keys, alpha), each None if unused, to ∂/∂(the inputs)."""
        from regard.ops.self_attentive_rnn import read_kernels

        keys, values, alpha, reads, queries, summaries, words, U, S, U_a, v_a = ctx.saved_tensors
        tiles, energies = ctx.tiles, energies_of(v_a, ctx.scale, keys)
        (T, B, slots), (p, n) = alpha.shape, S.shape
        num_first = slots - T
        split, share = summands(tiles, n, p)
        partial, d_slot = alpha.new_empty(split + share, B, n), alpha.new_empty(B, n)
        d_inputs, d_query, d_key = (torch.empty_like(each) for each in (reads, queries, queries))
        d_reads = keys.new_empty(B, T, n)
        d_energy, d_carried = torch.zeros_like(alpha), alpha.new_zeros(B, n)
        backs = (weight.T.contiguous() for weight in (U, S, U if U_a is None else U_a))
        flags = {name: gradient is not None for name, gradient in zip(TAKEN, taken, strict=True)}
        run_steps(
            read_kernels.backward_steps, tiles, T + 1, words, keys, values, *backs, energies.v_a, queries, alpha,
            *taken_of(taken, keys), partial, d_inputs, d_query, d_key, d_reads, d_energy, d_slot, d_carried,
            scale=ctx.scale, T=T, B=B, slots=slots, num_first=num_first, n=n, p=p, DOT=energies.dot,
            KEYED=U_a is not None, SPLIT=split, SHARE=share, BQ=tiles.BQ, BY=tiles.BY, BX=tiles.BX,
            STAGES=tiles.stages, QUICK=energies.quick, **flags,
        )  # fmt: skip
        d_first_keys, d_v = key_gradients(keys, queries, d_energy, energies, tiles, num_first)
        d_U, d_S = _outer(d_inputs, reads), _outer(d_query, summaries[:-1])
        d_U_a = None if U_a is None else _outer(d_key, values[:, num_first:].transpose(0, 1))
        d_s0 = d_query[0] @ S + d_carried.to(keys.dtype)
        d_first = torch.bmm(alpha[:, :, :num_first].permute(1, 2, 0).to(keys.dtype), d_reads)
        starts = (d_s0, d_first_keys, d_first, None, None)
        return d_inputs, d_query, *starts, d_U, d_S, d_U_a, d_v, None, None, None


class Sum(torch.autograd.Function):
    """As `Read`; U meets s_{t−1} alone, or s_{t−1} and h_{t−1} side by side."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        h0: Tensor,
        s0: Tensor,
        first_keys: Tensor,
        first_values: Tensor,
        valid: Tensor,
        real: Tensor,
        U: Tensor,
        S: Tensor | None,
        U_a: Tensor | None,
        v_a: Tensor | None,
        state_mask: None,
        scale: float,
        span: int,
    ) -> tuple[Tensor, ...]:
        """See the class."""
        from regard.ops.self_attentive_rnn import sum_kernels

        (T, B, n), (num_first, p) = inputs.shape, first_keys.shape[1:]
        slots = num_first + T
        keys, values = tape_of(first_keys, T), tape_of(first_values, T)
        alpha = keys.new_empty(T, B, slots, dtype=torch.float32)
        states, reads = keys.new_empty(2, T + 1, B, n)
        states[0], reads[0] = h0, s0
        queries = keys.new_empty(T, B, p)
        marks, words = valid.contiguous().view(torch.int8), real.contiguous().view(torch.int8)
        last = last_words(real)[:-1] * B + torch.arange(B, device=real.device)  # (T, B)
        tiles, energies = tiles_of(keys, slots, n, p, n, U.shape[1]), energies_of(v_a, scale, keys)
        weights = (U if weight is None else weight.contiguous() for weight in (U, S, U_a))
        run_steps(
            sum_kernels.forward_steps, tiles, T, *taken_of((inputs,), keys), marks, last.contiguous(), keys, values,
            *weights, energies.v_a, states, reads, queries, alpha, scale=scale, B=B, slots=slots, num_first=num_first,
            n=n, p=p, KEEP=U.shape[1] > n, DOT=energies.dot, KEYED=U_a is not None, QUERIED=S is not None, BQ=tiles.BQ,
            STAGES=tiles.forward_stages, QUICK=energies.quick,
        )  # fmt: skip
        ctx.save_for_backward(keys, values, alpha, states, reads, queries, last, words, U, S, U_a, v_a)
        ctx.tiles, ctx.scale = tiles, scale
        ctx.set_materialize_grads(False)
        new_keys = keys[:, num_first:].transpose(0, 1).clone()
        return states[1:].clone(), reads[1:].clone(), new_keys, alpha.to(keys.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *taken: Tensor | None) -> tuple[Tensor | None, ...]:
        """From ∂/∂(h, s, keys, alpha), each None if unused, to ∂/∂(the inputs)."""
        from regard.ops.self_attentive_rnn import sum_kernels

        keys, values, alpha, states, reads, queries, last, words, U, S, U_a, v_a = ctx.saved_tensors
        tiles, energies = ctx.tiles, energies_of(v_a, ctx.scale, keys)
        (T, B, slots), (n, met) = alpha.shape, U.shape
        num_first, keep = slots - T, met > n
        partial, d_carried = alpha.new_empty(tiles.split, B, met), alpha.new_zeros(B, met)
        d_slot, d_kept = alpha.new_empty(B, n), alpha.new_empty(B, n)
        d_inputs, d_query, d_key = (torch.empty_like(each) for each in (states[1:], queries, queries))
        d_reads, d_energy = keys.new_empty(B, T, n), torch.zeros_like(alpha)
        backs = ((U if weight is None else weight).T.contiguous() for weight in (U, S, U_a))
        flags = {name: gradient is not None for name, gradient in zip(TAKEN, taken, strict=True)}
        run_steps(
            sum_kernels.backward_steps, tiles, T, words, keys, values, *backs, energies.v_a, queries, alpha,
            *taken_of(taken, keys), partial, d_inputs, d_query, d_key, d_reads, d_energy, d_slot, d_kept, d_carried,
            scale=ctx.scale, T=T, B=B, slots=slots, num_first=num_first, n=n, p=queries.shape[2], KEEP=keep,
            DOT=energies.dot, KEYED=U_a is not None, QUERIED=S is not None, SPLIT=tiles.split, BQ=tiles.BQ, BY=tiles.BY,
            BX=tiles.BX, STAGES=tiles.stages, QUICK=energies.quick, **flags,
        )  # fmt: skip
        d_first_keys, d_v = key_gradients(keys, queries, d_energy, energies, tiles, num_first)
        met_before = [x.flatten(0, 1)[last] for x in ((reads, states) if keep else (reads,))]
        d_U = _outer(d_inputs, torch.cat(met_before, dim=-1))
        d_S, d_U_a = (None if w is None else _outer(d, states[1:]) for w, d in ((S, d_query), (U_a, d_key)))
        d_before = (d_carried + partial.sum(dim=0)).to(keys.dtype)
        d_first = torch.bmm(alpha[:, :, :num_first].permute(1, 2, 0).to(keys.dtype), d_reads)
        starts = (d_before[:, n:] if keep else None, d_before[:, :n], d_first_keys, d_first, None, None)
        return d_inputs, *starts, d_U, d_S, d_U_a, d_v, None, None, None


def _outer(d: Tensor, x: Tensor) -> Tensor:
    """Σ over steps (T) and sentences (B) of d xᵀ: of (T, B, ·) each."""
    return d.flatten(0, 1).T @ x.flatten(0, 1)
