"""Deep fusion with its backward pass derived by hand; the same signature as `naive`, for two families of energies.

As `ops/lstmn/fused.py`, with a second tape that is read and not written: the source's.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.deep_fusion import persistent
from regard.ops.deep_fusion.naive import Alphas, Fusion, SourceTape
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Float
from regard.ops.tape import AdditiveScoring, DotScoring, cut
from regard.ops.tape.fused import TapeReader, tape_of, windows
from regard.ops.unroll import State

Options = tuple[float, float, bool, int]
"""Scale of the own energies, of the source's, whether h = o ∘ tanh(c), span."""


class _Recurrence(torch.autograd.Function):
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
        state_mask: Tensor | None,
        options: Options,
    ) -> tuple[Tensor, ...]:
        scale, source_scale, squash, span = options
        num_steps, batch, n = projected.shape[0], projected.shape[1], U.shape[1]
        num_first, num_words = first_keys.shape[1], source_mask.shape[1]
        keys = tape_of(first_keys, num_steps)  # (B, slots, p)
        written = tape_of(
            torch.cat([first_values, first_memories], dim=-1), num_steps
        )  # (B, slots, 2n): h, c
        alpha = keys.new_zeros(num_steps, batch, num_first + num_steps)
        p = keys.new_zeros(num_steps, batch, num_words)
        own = TapeReader(keys, written, alpha, valid, v_a, scale, span)
        other = TapeReader(source_keys, source_tape, p, source_mask, v_source, source_scale)
        sizes = [5 * n, S.shape[0], S_source.shape[0]]
        gates, queries, source_queries = (
            part.clone(memory_format=torch.contiguous_format)
            for part in torch.split(projected, sizes, dim=-1)
        )
        reads = gates.new_empty(num_steps, batch, 2 * n)  # s_t, c′_t
        fetches = gates.new_empty(num_steps, batch, 2 * n)  # γ̃_t, α̃_t
        squashed = gates.new_empty(num_steps, batch, n)  # tanh c_t
        for t, (lo, hi) in enumerate(windows(valid, num_steps, span)):
            queries[t].addmm_(reads[t - 1, :, :n] if t else s0, S.T)
            source_queries[t].addmm_(fetches[t - 1, :, :n] if t else reading0, S_source.T)
            own.read(t, queries[t], lo, hi, reads[t])
            other.read(t, source_queries[t], 0, num_words, fetches[t])
            seen, heard = reads[t, :, :n], fetches[t, :, :n]
            if state_mask is not None:
                seen, heard = seen * state_mask, heard * state_mask
            gates[t, :, : 4 * n].addmm_(seen, U.T)
            gates[t, :, 4 * n :].addmm_(heard, R.T)
            i, f, candidate, o, r = torch.split(gates[t], n, dim=-1)
            gates[t, :, : 2 * n].sigmoid_()
            candidate.tanh_()
            gates[t, :, 3 * n :].sigmoid_()
            h, c = written[:, hi, :n], written[:, hi, n:]
            torch.mul(f, reads[t, :, n:], out=c)
            c.addcmul_(i, candidate).addcmul_(r, fetches[t, :, n:])
            squashed[t] = c.tanh() if squash else c
            torch.mul(o, squashed[t], out=h)
            keys[:, hi] = h if U_a is None else h @ U_a.T
        ctx.options = options
        tapes = (keys, written, alpha, valid, source_keys, source_tape, p, source_mask)
        weights = (U, R, S, S_source, U_a, v_a, v_source, state_mask)
        ctx.save_for_backward(
            gates, queries, source_queries, reads, fetches, squashed, s0, reading0, *tapes, *weights
        )
        ctx.set_materialize_grads(False)
        return written[:, num_first:, :n].transpose(0, 1).clone(), p, alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor | None, d_p: Tensor | None, d_alpha: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        gates, queries, source_queries, reads, fetches, squashed, s0, reading0, *rest = ctx.saved_tensors
        keys, written, alpha, valid, source_keys, source_tape, p, source_mask, *weights = rest
        U, R, S, S_source, U_a, v_a, v_source, state_mask = weights
        scale, source_scale, squash, span = ctx.options
        num_steps, batch, n = squashed.shape
        num_first, num_words = keys.shape[1] - num_steps, source_mask.shape[1]
        own = TapeReader(keys, written, alpha, valid, v_a, scale, span)
        other = TapeReader(source_keys, source_tape, p, source_mask, v_source, source_scale)
        own.begin_backward()
        other.begin_backward()
        i, f, candidate, o, r = torch.split(gates, n, dim=-1)
        recalled, fetched = reads[..., n:], fetches[..., n:]
        # what depends on no later step, for all steps at once
        inner = [candidate * i * (1 - i), recalled * f * (1 - f), i * (1 - candidate * candidate)]
        through = torch.cat([*inner, squashed * o * (1 - o), fetched * r * (1 - r)], dim=-1)
        blocks = through.view(num_steps, batch, 5, n)
        through_output = o * (1 - squashed * squashed) if squash else o
        d_projected = gates.new_empty(num_steps, batch, 5 * n + S.shape[0] + S_source.shape[0])
        d_gates, d_queries, d_source_queries = torch.split(
            d_projected, [5 * n, S.shape[0], S_source.shape[0]], dim=-1
        )
        d_keys = torch.empty_like(queries)  # of the keys written here
        ds, d_reading = torch.zeros_like(s0), torch.zeros_like(reading0)
        d_read, d_fetch = (gates.new_empty(batch, 2 * n) for _ in range(2))
        for t, (lo, hi) in reversed(list(enumerate(windows(valid, num_steps, span)))):
            # the slot: all that later steps and the loss took from it
            d_slot = own.d_value(hi, t + 1)  # (B, 2n)
            dh, dc = d_slot[:, :n], d_slot[:, n:]
            d_keys[t] = own.d_key(hi)
            dh += d_keys[t] if U_a is None else d_keys[t] @ U_a
            if d_states is not None:
                dh += d_states[t]
            # the gates
            dc.addcmul_(dh, through_output[t])
            d_blocks = d_gates[t].view(batch, 5, n)
            torch.mul(dc.unsqueeze(1), blocks[t], out=d_blocks)
            torch.mul(dh, blocks[t, :, 3], out=d_blocks[:, 3])
            # what was read, here and there
            torch.mm(d_gates[t, :, : 4 * n], U, out=d_read[:, :n])
            torch.mm(d_gates[t, :, 4 * n :], R, out=d_fetch[:, :n])
            if state_mask is not None:
                d_read[:, :n] *= state_mask
                d_fetch[:, :n] *= state_mask
            d_read[:, :n] += ds
            d_fetch[:, :n] += d_reading
            torch.mul(dc, f[t], out=d_read[:, n:])
            torch.mul(dc, r[t], out=d_fetch[:, n:])
            d_queries[t] = own.back(t, queries[t], lo, hi, d_read, d_alpha)
            d_source_queries[t] = other.back(t, source_queries[t], 0, num_words, d_fetch, d_p)
            ds, d_reading = d_queries[t] @ S, d_source_queries[t] @ S_source
        matrices = _matrices(d_gates, d_queries, d_source_queries, reads, fetches, s0, reading0, state_mask)
        h = written[:, num_first:, :n].transpose(0, 1)
        d_U_a = None if U_a is None else d_keys.flatten(0, 1).T @ h.flatten(0, 1)
        d_first = own.d_first_values(num_first)
        starts = (ds, d_reading, own.d_key(slice(0, num_first)), d_first[..., :n], d_first[..., n:], None)
        there = (other.d_key(slice(0, num_words)), other.d_first_values(num_words), None)
        return d_projected, *starts, *there, *matrices, d_U_a, own.d_v, other.d_v, None, None


def _matrices(
    d_gates: Tensor,
    d_queries: Tensor,
    d_source_queries: Tensor,
    reads: Tensor,
    fetches: Tensor,
    s0: Tensor,
    reading0: Tensor,
    state_mask: Tensor | None,
) -> tuple[Tensor, ...]:
    """∂/∂U, ∂/∂R, ∂/∂S and ∂/∂S_source over all steps and sentences, a large product each."""
    n = s0.shape[1]
    summaries, readings = reads[..., :n], fetches[..., :n]
    seen, heard = (part if state_mask is None else part * state_mask for part in (summaries, readings))
    befores = [
        torch.cat([first.unsqueeze(0), x[:-1]]) for first, x in ((s0, summaries), (reading0, readings))
    ]
    pairs = (
        (d_gates[..., : 4 * n], seen),
        (d_gates[..., 4 * n :], heard),
        (d_queries, befores[0]),
        (d_source_queries, befores[1]),
    )
    return tuple(d.flatten(0, 1).T @ x.flatten(0, 1) for d, x in pairs)


def deep_fusion(
    projected: Float[Tensor, "B Ty gnpq"],
    initial: State,
    source: SourceTape,
    fusion: Fusion,
    output: str = "tanh",
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B Ty n"], Alphas]:
    """All steps of the decoder's recurrence; see `naive`."""
    U, R, S, S_source, scoring, source_scoring = fusion
    assert isinstance(scoring, AdditiveScoring | DotScoring), "no fused form for this energy"
    assert isinstance(source_scoring, AdditiveScoring | DotScoring), "no fused form for this energy"
    # mixed precision narrows what comes in; kernels take its width, else the recurrence keeps the parameters'
    slots = max(initial[7].shape[1] + projected.shape[1], source.mask.shape[1])
    kernels = persistent.applies(projected, slots, S, S_source, span, state_mask is not None)
    width = projected.dtype if kernels else U.dtype
    s0, reading0 = (part.to(width) for part in initial[2:4])
    *first, was_valid = cut(initial[4:7], initial[7], span)
    tapes = [tape.to(width) for tape in first]
    written = torch.ones(projected.shape[:2], dtype=torch.bool, device=projected.device)
    valid = torch.cat([was_valid, written], dim=1)  # (B, slots)
    source_tape = torch.cat([source.values, source.memories], dim=-1).to(width)  # (B, Tx, 2n)
    # the source's keys were made outside, so their matrix is autograd's to derive
    (_, v_source), scales = source_scoring.fused, (scoring.scale, source_scoring.scale)
    weights = (U, R, S, S_source, *scoring.fused, v_source)
    recurrence = persistent.Recurrence if kernels else _Recurrence
    with torch.autocast(projected.device.type, enabled=False):
        states, p, alpha = recurrence.apply(  # type: ignore[no-untyped-call]
            projected.transpose(0, 1).to(width),
            s0,
            reading0,
            *tapes,
            valid,
            source.keys.to(width),
            source_tape,
            source.mask,
            *(None if weight is None else weight.to(width) for weight in weights),
            state_mask,
            (*scales, output == "tanh", span),
        )
    return states.transpose(0, 1), Alphas(p.transpose(0, 1), alpha.transpose(0, 1))
