"""Deep fusion on a GPU: one launch for each pass.

Additive energies or dot products on either tape, keys of one width on both; no span, no dropout of states; widths that
are multiples of 64. The steps' kernels are in `forward_kernels` and `backward_kernels`; here are the buffers they fill
and the large products after them.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.ops.by_hand.steps import tape_of
from regard.ops.kernels.tiles import run_steps, taken_of, tiles_of
from regard.ops.paths import first_derivative_only
from regard.ops.tape.persistent import energies_of, key_gradients, summands

Options = tuple[float, float, bool, int]
"""Scale of the own energies, of the source's, whether h = o ∘ tanh(c), span (0 here)."""


class Recurrence(torch.autograd.Function):
    """Time first in what has steps, batch first on tapes; gives h (T, B, n), p (T, B, Tx), alpha (T, B, slots)."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        s0: Tensor,
        reading0: Tensor,
        first_keys: Tensor,
        first_values: Tensor,
        first_memories: Tensor,
        valid: Tensor,
        source_keys: Tensor,
        source_tape: Tensor,
        source_mask: Tensor,
        U: Tensor,
        R: Tensor,
        S: Tensor,
        S_source: Tensor,
        U_a: Tensor | None,
        v_a: Tensor | None,
        v_source: Tensor | None,
        state_mask: None,
        options: Options,
    ) -> tuple[Tensor, ...]:
        """See the class."""
        from regard.ops.deep_fusion import forward_kernels

        (T, B), (p, n), Tx = projected.shape[:2], S.shape, source_mask.shape[1]
        slots = first_keys.shape[1] + T
        keys = tape_of(first_keys, T)  # (B, slots, p)
        written = tape_of(torch.cat([first_values, first_memories], dim=-1), T)  # (B, slots, 2n): h, c
        source_keys, source_tape = source_keys.contiguous(), source_tape.contiguous()
        alpha, source_alpha = (keys.new_empty(T, B, width, dtype=torch.float32) for width in (slots, Tx))
        gates = keys.new_empty(T, B, 5 * n)
        reads, fetches = keys.new_empty(2, T, B, 2 * n)  # s_t, c′_t; γ̃_t, α̃_t
        queries, source_queries = keys.new_empty(2, T, B, p)
        shares = ((s0 @ S.T).float(), (reading0 @ S_source.T).float())
        queries[0] = projected[0, :, 5 * n : 5 * n + p] + shares[0]
        source_queries[0] = projected[0, :, 5 * n + p :] + shares[1]
        marks, words = (mask.contiguous().view(torch.int8) for mask in (valid, source_mask))
        weights = [weight.contiguous() for weight in (U, R, S, S_source, U if U_a is None else U_a)]
        tiles = tiles_of(keys, max(slots, Tx), n, p, 2 * n, n)
        own, other = energies_of(v_a, options[0], keys), energies_of(v_source, options[1], keys)
        run_steps(
            forward_kernels.forward_steps, tiles, T, *taken_of((projected,), keys), marks, words,
            torch.ones(B, dtype=torch.int8, device=keys.device), keys, written, source_keys, source_tape, *weights,
            own.v_a, other.v_a, reads, fetches, queries, source_queries, *shares, alpha, source_alpha, gates,
            scale=own.scale, source_scale=other.scale, T=T, B=B, slots=slots, Tx=Tx, num_first=slots - T, n=n, p=p,
            DOT=own.dot, SOURCE_DOT=other.dot, KEYED=U_a is not None, TANH=options[2], BQ=tiles.BQ,
            STAGES=tiles.forward_stages, QUICK=own.quick,
        )  # fmt: skip
        tapes = (
            keys,
            written,
            source_keys,
            source_tape,
            reads,
            fetches,
            queries,
            source_queries,
            alpha,
            source_alpha,
        )
        ctx.save_for_backward(*tapes, gates, s0, reading0, U, R, S, S_source, U_a, v_a, v_source)
        ctx.tiles, ctx.options = tiles, options
        ctx.set_materialize_grads(False)
        states = written[:, slots - T :, :n].transpose(0, 1).clone()
        return states, source_alpha.to(keys.dtype), alpha.to(keys.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *taken: Tensor | None) -> tuple[Tensor | None, ...]:
        """From ∂/∂(h, p, alpha), each None if unused, to ∂/∂(the inputs)."""
        from regard.ops.deep_fusion import backward_kernels

        (
            keys,
            written,
            source_keys,
            source,
            *made,
            gates,
            s0,
            reading0,
            U,
            R,
            S,
            S_source,
            U_a,
            v_a,
            v_source,
        ) = ctx.saved_tensors
        reads, fetches, queries, source_queries, alpha, source_alpha = made
        tiles, (scale, source_scale, tanh, _) = ctx.tiles, ctx.options
        (T, B, slots), (p, n), Tx = alpha.shape, S.shape, source_alpha.shape[2]
        num_first = slots - T
        own, other = energies_of(v_a, scale, keys), energies_of(v_source, source_scale, keys)
        # two of the summands are the source's
        split, share = summands(tiles, 4 * n, p, others=2)
        partial, source_partial = (alpha.new_empty(parts, B, n) for parts in (split + share, 2))
        d_gates = torch.empty_like(gates)
        d_query, d_source_query, d_key = (torch.empty_like(queries) for _ in range(3))
        d_reads, d_fetches = keys.new_empty(2, B, T, 2 * n)
        d_energy, d_source_energy = torch.zeros_like(alpha), torch.zeros_like(source_alpha)
        backs = (weight.T.contiguous() for weight in (U, R, S, S_source, U if U_a is None else U_a))
        names = ("STATES", "SOURCE", "ALPHA")
        flags = {name: gradient is not None for name, gradient in zip(names, taken, strict=True)}
        run_steps(
            backward_kernels.backward_steps, tiles, T + 1, keys, written, source_keys, source, *backs, own.v_a,
            other.v_a, *made, gates, *taken_of(taken, gates), partial, source_partial, d_gates, d_query,
            d_source_query, d_key, d_reads, d_fetches, d_energy, d_source_energy, alpha.new_empty(B, 2 * n),
            alpha.new_zeros(B, n), scale=scale, source_scale=source_scale, T=T, B=B, slots=slots, Tx=Tx,
            num_first=num_first, n=n, p=p, DOT=own.dot, SOURCE_DOT=other.dot, KEYED=U_a is not None, TANH=tanh,
            SPLIT=split, SHARE=share, BY=tiles.BY, BX=tiles.BX, STAGES=tiles.stages, QUICK=own.quick, **flags,
        )  # fmt: skip
        d_first_keys, d_v = key_gradients(keys, queries, d_energy, own, tiles, num_first)
        d_source_keys, d_v_source = key_gradients(
            source_keys, source_queries, d_source_energy, other, tiles, Tx
        )
        d_asked = ((d_query, s0, reads), (d_source_query, reading0, fetches))
        matrices = _matrices(d_gates, d_asked)
        h = written[:, num_first:, :n].transpose(0, 1)
        d_U_a = None if U_a is None else d_key.flatten(0, 1).T @ h.flatten(0, 1)
        d_first, d_source = (
            _read_values(alpha[:, :, :num_first], d_reads),
            _read_values(source_alpha, d_fetches),
        )
        starts = (
            d_query[0] @ S,
            d_source_query[0] @ S_source,
            d_first_keys,
            d_first[..., :n],
            d_first[..., n:],
            None,
        )
        there = (d_source_keys, d_source, None)
        d_projected = torch.cat([d_gates, d_query, d_source_query], dim=-1)
        return d_projected, *starts, *there, *matrices, d_U_a, d_v, d_v_source, None, None


def _matrices(d_gates: Tensor, asked: Sequence[tuple[Tensor, Tensor, Tensor]]) -> list[Tensor]:
    """∂/∂U, ∂/∂R, ∂/∂S and ∂/∂S_source over all steps and sentences, a large product each.

    Args:
        d_gates: (T, B, 5n).
        asked: of the own tape and of the source's: ∂/∂queries (T, B, p), the first summary (B, n), what was read
            (T, B, 2n).
    """
    n = d_gates.shape[2] // 5
    gates = torch.split(d_gates, [4 * n, n], dim=-1)
    pairs = [(d, reads[..., :n]) for d, (_, _, reads) in zip(gates, asked, strict=True)]
    pairs += [(d, torch.cat([first.unsqueeze(0), reads[:-1, :, :n]])) for d, first, reads in asked]
    return [d.flatten(0, 1).T @ x.flatten(0, 1) for d, x in pairs]


def _read_values(alpha: Tensor, d_reads: Tensor) -> Tensor:
    """∂/∂(the values that alpha (T, B, slots) weighed) (B, slots, d), from ∂/∂(what was read) (B, T, d)."""
    return torch.bmm(alpha.permute(1, 2, 0).to(d_reads.dtype), d_reads)
