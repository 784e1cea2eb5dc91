"""The LSTMN with its backward pass derived by hand; the same signature as `naive`, for two families of energies.

Inputs are projected for all steps in one product before the loop; keys are written once to a tape made for all
steps, and h and c are side by side on another, so that one product reads both. The backward loop carries what
the tapes' slots receive and leaves the gradients of every matrix to large products after it. The derivation is in
README.md of `ops`.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.lstmn import persistent
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, cut
from regard.ops.tape.fused import TapeReader, at_words, last_real, tape_of, windows, written_tape
from regard.ops.unroll import State

Options = tuple[float, bool, int]
"""Scale of the energies, whether h = o ∘ tanh(c), span."""


class _Recurrence(torch.autograd.Function):
    """Time first in what has steps, batch first on tapes; see `lstmn_sequence` for what comes in.

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
        state_mask: Tensor | None,
        options: Options,
    ) -> tuple[Tensor, ...]:
        scale, squash, span = options
        num_steps, batch, n = projected.shape[0], projected.shape[1], U.shape[1]
        num_first = first_keys.shape[1]
        keys = tape_of(first_keys, num_steps)  # (B, slots, p)
        written = tape_of(first, num_steps)  # (B, slots, 2n): h, c
        alpha = keys.new_zeros(num_steps, batch, num_first + num_steps)
        reader = TapeReader(keys, written, alpha, valid, v_a, scale, span)
        gates = projected[..., : 4 * n].clone(memory_format=torch.contiguous_format)  # (T, B, 4n)
        queries = projected[..., 4 * n :].clone(memory_format=torch.contiguous_format)  # (T, B, p)
        reads = gates.new_empty(num_steps, batch, 2 * n)  # s_t, c′_t
        summaries = gates.new_empty(num_steps + 1, batch, n)  # s_0 … s_T, over padding as they were
        summaries[0] = s0
        squashed = gates.new_empty(num_steps, batch, n)  # tanh c_t
        whole = bool(real.all())
        for t, (lo, hi) in enumerate(windows(valid, num_steps, span)):
            queries[t].addmm_(summaries[t], S.T)
            reader.read(t, queries[t], lo, hi, reads[t])
            summary = reads[t, :, :n]
            summaries[t + 1] = summary if whole else torch.where(real[t], summary, summaries[t])
            gates[t].addmm_(summary if state_mask is None else summary * state_mask, U.T)
            i, f, candidate, o = torch.split(gates[t], n, dim=-1)
            gates[t, :, : 2 * n].sigmoid_()
            candidate.tanh_()
            o.sigmoid_()
            h, c = written[:, hi, :n], written[:, hi, n:]
            torch.mul(f, reads[t, :, n:], out=c)
            c.addcmul_(i, candidate)
            squashed[t] = c.tanh() if squash else c
            torch.mul(o, squashed[t], out=h)
            keys[:, hi] = h if U_a is None else h @ U_a.T
        ctx.options = options
        tapes, weights = (keys, written, alpha, valid, real), (U, S, U_a, v_a, state_mask)
        ctx.save_for_backward(gates, queries, reads, summaries, squashed, *tapes, *weights)
        ctx.set_materialize_grads(False)
        states, memories = torch.split(written[:, num_first:].transpose(0, 1), n, dim=-1)
        new_keys = keys[:, num_first:].transpose(0, 1)
        return states.clone(), memories.clone(), summaries[1:].clone(), new_keys.clone(), alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any,
        d_states: Tensor | None,
        d_memories: Tensor | None,
        d_summaries: Tensor | None,
        d_new_keys: Tensor | None,
        d_alpha: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        gates, queries, reads, summaries, squashed, *tapes, U, S, U_a, v_a, state_mask = ctx.saved_tensors
        keys, written, alpha, valid, real = tapes
        scale, squash, span = ctx.options
        num_steps, batch, n = squashed.shape
        num_first = keys.shape[1] - num_steps
        reader = TapeReader(keys, written, alpha, valid, v_a, scale, span)
        reader.begin_backward()
        blocks, through_output = _factors(gates, reads[..., n:], squashed, squash)
        d_projected = gates.new_empty(num_steps, batch, 4 * n + S.shape[0])
        d_gates, d_queries = torch.split(d_projected, [4 * n, S.shape[0]], dim=-1)
        d_keys = torch.empty_like(queries)  # of the keys written here
        ds = torch.zeros_like(summaries[0])
        d_read = gates.new_empty(batch, 2 * n)
        whole = bool(real.all())
        for t, (lo, hi) in reversed(list(enumerate(windows(valid, num_steps, span)))):
            # the slot: all that later steps and the loss took from it
            d_slot = reader.d_value(hi, t + 1)  # (B, 2n)
            dh, dc = d_slot[:, :n], d_slot[:, n:]
            torch.add(reader.d_key(hi), 0 if d_new_keys is None else d_new_keys[t], out=d_keys[t])
            dh += d_keys[t] if U_a is None else d_keys[t] @ U_a
            if d_states is not None:
                dh += d_states[t]
            if d_memories is not None:
                dc += d_memories[t]
            # the gates
            dc.addcmul_(dh, through_output[t])
            d_blocks = d_gates[t].view(batch, 4, n)
            torch.mul(dc.unsqueeze(1), blocks[t, :, :3], out=d_blocks[:, :3])
            torch.mul(dh, blocks[t, :, 3], out=d_blocks[:, 3])
            # what was read
            if d_summaries is not None:
                ds = ds + d_summaries[t]
            torch.mm(d_gates[t], U, out=d_read[:, :n])
            if state_mask is not None:
                d_read[:, :n] *= state_mask
            d_read[:, :n] += ds if whole else ds * real[t]
            torch.mul(dc, gates[t, :, n : 2 * n], out=d_read[:, n:])
            d_queries[t] = reader.back(t, queries[t], lo, hi, d_read, d_alpha)
            before = d_queries[t] @ S
            ds = before if whole else before + ds * ~real[t]
        seen = reads[..., :n] if state_mask is None else reads[..., :n] * state_mask
        h = written[:, num_first:, :n].transpose(0, 1)
        pairs = ((d_gates, seen), (d_queries, summaries[:-1]), *(() if U_a is None else ((d_keys, h),)))
        d_U, d_S, *d_U_a = (d.flatten(0, 1).T @ x.flatten(0, 1) for d, x in pairs)
        starts = (ds, reader.d_key(slice(0, num_first)), reader.d_first_values(num_first), None, None)
        return d_projected, *starts, d_U, d_S, *(d_U_a or [None]), reader.d_v, None, None


def _factors(gates: Tensor, recalled: Tensor, squashed: Tensor, squash: bool) -> tuple[Tensor, Tensor]:
    """What a step's gradient is multiplied by and no later step has a say in: to the gates (T, B, 4, n), h to c."""
    i, f, candidate, o = torch.split(gates, squashed.shape[2], dim=-1)
    inner = [candidate * i * (1 - i), recalled * f * (1 - f), i * (1 - candidate * candidate)]
    blocks = torch.stack([*inner, squashed * o * (1 - o)], dim=2)
    return blocks, o * (1 - squashed * squashed) if squash else o


def lstmn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "gnp m"],
    U: Float[Tensor, "gn n"],
    b: Float[Tensor, "gn"],
    S: Float[Tensor, "p n"],
    scoring: AdditiveScoring | DotScoring,
    output: str = "tanh",
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """The LSTMN over a padded batch; returns h at each word, the last state, and alpha."""
    bias = torch.nn.functional.pad(b, (0, S.shape[0]))
    projected = torch.nn.functional.linear(inputs, W, bias).transpose(0, 1)  # (T, B, 4n + p)
    # mixed precision narrows the projection; kernels take its width, else the recurrence keeps the parameters'
    slots = initial[6].shape[1] + inputs.shape[1]
    kernels = persistent.applies(projected, slots, S, span, state_mask is not None)
    width = projected.dtype if kernels else U.dtype
    projected = projected.to(width)
    real = mask.T.unsqueeze(-1)  # (T, B, 1)
    if reverse:
        projected, real = projected.flip(0), real.flip(0)
    h0, c0, s0 = (part.to(width) for part in initial[:3])
    *given_tapes, was_valid = cut(initial[3:6], initial[6], span)
    first_keys, first_values, first_memories = (tape.to(width) for tape in given_tapes)
    first = torch.cat([first_values, first_memories], dim=-1)  # (B, t0, 2n)
    valid = torch.cat([was_valid, real.squeeze(-1).T], dim=1)  # (B, slots)
    options = (scoring.scale, output == "tanh", span)
    weights = (None if weight is None else weight.to(width) for weight in (U, S, *scoring.fused))
    given = (s0, first_keys, first, valid, real, *weights, state_mask, options)
    recurrence = persistent.Recurrence if kernels else _Recurrence
    with torch.autocast(projected.device.type, enabled=False):
        states, memories, summaries, keys, alpha = recurrence.apply(projected, *given)  # type: ignore[no-untyped-call]
    ends = (last_real(new, old, real) for new, old in ((states, h0), (memories, c0), (summaries, s0)))
    pairs = ((first_keys, keys), (first_values, states), (first_memories, memories))
    last = (*ends, *cut([written_tape(*pair, real) for pair in pairs], valid, span))
    return at_words(states, real, reverse), last, at_words(alpha, real, reverse)
