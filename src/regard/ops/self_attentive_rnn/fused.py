"""The self-attentive RNN with its backward pass derived by hand; as `naive`, for two families of energies.

Inputs are projected for all steps in one product before the loop, keys and states are written once to tapes made for
all steps. The backward loops carry what the tapes' slots receive and leave the gradients of every matrix to large
products after them. The derivation is in README.md of `ops`.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.self_attentive_rnn import persistent
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, cut
from regard.ops.tape.fused import TapeReader, at_words, last_real, tape_of, windows, written_tape
from regard.ops.unroll import State

Gradients = tuple[Tensor | None, ...]


class _Read(torch.autograd.Function):
    """Time first in what has steps, batch first on tapes.

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
        state_mask: Tensor | None,
        scale: float,
        span: int,
    ) -> tuple[Tensor, ...]:
        num_steps, batch, n = inputs.shape
        num_first = first_keys.shape[1]
        keys, values = tape_of(first_keys, num_steps), tape_of(first_values, num_steps)
        alpha = keys.new_zeros(num_steps, batch, num_first + num_steps)
        reader = TapeReader(keys, values, alpha, valid, v_a, scale, span)
        queries = torch.empty_like(query_x, memory_format=torch.contiguous_format)  # (T, B, p)
        reads = inputs.new_empty(num_steps, batch, n)
        summaries = inputs.new_empty(num_steps + 1, batch, n)  # s_0 … s_T, over padding as they were
        summaries[0] = s0
        states = inputs.clone(memory_format=torch.contiguous_format)  # (T, B, n)
        for t, (lo, hi) in enumerate(windows(valid, num_steps, span)):
            torch.addmm(query_x[t], summaries[t], S.T, out=queries[t])
            reader.read(t, queries[t], lo, hi, reads[t])
            torch.where(real[t], reads[t], summaries[t], out=summaries[t + 1])
            states[t].addmm_(reads[t] if state_mask is None else reads[t] * state_mask, U.T).tanh_()
            values[:, hi] = states[t]
            keys[:, hi] = states[t] if U_a is None else states[t] @ U_a.T
        ctx.options = (scale, span)
        ctx.save_for_backward(
            states, queries, reads, summaries, keys, values, alpha, valid, real, U, S, U_a, v_a, state_mask
        )
        ctx.set_materialize_grads(False)
        return states, summaries[1:].clone(), keys[:, num_first:].transpose(0, 1).clone(), alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any,
        d_states: Tensor | None,
        d_summaries: Tensor | None,
        d_new_keys: Tensor | None,
        d_alpha: Tensor | None,
    ) -> Gradients:
        states, queries, reads, summaries, keys, values, alpha, valid, real, U, S, U_a, v_a, state_mask = (
            ctx.saved_tensors
        )
        scale, span = ctx.options
        num_steps = states.shape[0]
        num_first = keys.shape[1] - num_steps
        reader = TapeReader(keys, values, alpha, valid, v_a, scale, span)
        reader.begin_backward()
        through = 1 - states * states  # a padded slot is never read, so it receives no gradient
        d_inputs, d_queries, d_keys = (torch.empty_like(each) for each in (states, queries, queries))
        ds = torch.zeros_like(summaries[0])
        for t, (lo, hi) in reversed(list(enumerate(windows(valid, num_steps, span)))):
            # the slot: all that later steps and the loss took from it
            dh = reader.d_value(hi, t + 1)
            torch.add(reader.d_key(hi), 0 if d_new_keys is None else d_new_keys[t], out=d_keys[t])
            dh += d_keys[t] if U_a is None else d_keys[t] @ U_a
            if d_states is not None:
                dh += d_states[t]
            torch.mul(dh, through[t], out=d_inputs[t])
            # what was read
            if d_summaries is not None:
                ds = ds + d_summaries[t]
            d_read = d_inputs[t] @ U
            if state_mask is not None:
                d_read *= state_mask
            d_read.addcmul_(ds, real[t])
            d_queries[t] = reader.back(t, queries[t], lo, hi, d_read, d_alpha)
            ds = torch.addmm(torch.where(real[t], 0.0, ds), d_queries[t], S)
        seen = reads if state_mask is None else reads * state_mask
        d_U = d_inputs.flatten(0, 1).T @ seen.flatten(0, 1)
        d_S = d_queries.flatten(0, 1).T @ summaries[:-1].flatten(0, 1)
        d_U_a = None if U_a is None else d_keys.flatten(0, 1).T @ states.flatten(0, 1)
        d_first_keys, d_first_values = reader.d_key(slice(0, num_first)), reader.d_first_values(num_first)
        starts = (ds, d_first_keys, d_first_values, None, None)
        return d_inputs, d_queries, *starts, d_U, d_S, d_U_a, reader.d_v, None, None, None


class _Sum(torch.autograd.Function):
    """As `_Read`; U meets s_{t−1} alone, or s_{t−1} and h_{t−1} side by side."""

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
        state_mask: Tensor | None,
        scale: float,
        span: int,
    ) -> tuple[Tensor, ...]:
        num_steps, batch, n = inputs.shape
        num_first = first_keys.shape[1]
        keys, values = tape_of(first_keys, num_steps), tape_of(first_values, num_steps)
        alpha = keys.new_zeros(num_steps, batch, num_first + num_steps)
        reader = TapeReader(keys, values, alpha, valid, v_a, scale, span)
        # [s_t; h_t], t = 0 … T, over padding as they were; what U does not meet is left out
        carried = inputs.new_empty(num_steps + 1, batch, U.shape[1])
        carried[0] = torch.cat([s0, h0], dim=-1)[:, : U.shape[1]]
        mask = None if state_mask is None else state_mask.repeat(1, U.shape[1] // n)
        states = inputs.clone(memory_format=torch.contiguous_format)  # (T, B, n)
        reads = inputs.new_empty(num_steps, batch, n)
        for t, (lo, hi) in enumerate(windows(valid, num_steps, span, own=1)):
            h = states[t].addmm_(carried[t] if mask is None else carried[t] * mask, U.T).tanh_()
            values[:, hi - 1] = h
            keys[:, hi - 1] = h if U_a is None else h @ U_a.T
            reader.read(t, h if S is None else h @ S.T, lo, hi, reads[t])
            new = reads[t] if U.shape[1] == n else torch.cat([reads[t], h], dim=-1)
            torch.where(real[t], new, carried[t], out=carried[t + 1])
        ctx.options = (scale, span)
        ctx.save_for_backward(states, carried, keys, values, alpha, valid, real, U, S, U_a, v_a, mask)
        ctx.set_materialize_grads(False)
        return states, reads, keys[:, num_first:].transpose(0, 1).clone(), alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any,
        d_states: Tensor | None,
        d_reads: Tensor | None,
        d_new_keys: Tensor | None,
        d_alpha: Tensor | None,
    ) -> Gradients:
        states, carried, keys, values, alpha, valid, real, U, S, U_a, v_a, mask = ctx.saved_tensors
        scale, span = ctx.options
        num_steps, n = states.shape[0], states.shape[2]
        num_first = keys.shape[1] - num_steps
        reader = TapeReader(keys, values, alpha, valid, v_a, scale, span)
        reader.begin_backward()
        through = 1 - states * states
        queries = states if S is None else states @ S.T  # (T, B, p)
        d_inputs, d_queries, d_keys = (torch.empty_like(each) for each in (states, queries, queries))
        d_carried = torch.zeros_like(carried[0])
        for t, (lo, hi) in reversed(list(enumerate(windows(valid, num_steps, span, own=1)))):
            # what was read
            d_new = d_carried * real[t]  # of [s_t; h_t]
            d_read = d_new[:, :n]
            if d_reads is not None:
                d_read = d_read + d_reads[t]
            d_queries[t] = reader.back(t, queries[t], lo, hi, d_read, d_alpha)
            # the slot: all that this step, later ones and the loss took from it
            dh = reader.d_value(hi - 1, t)
            torch.add(reader.d_key(hi - 1), 0 if d_new_keys is None else d_new_keys[t], out=d_keys[t])
            dh += d_keys[t] if U_a is None else d_keys[t] @ U_a
            dh += d_queries[t] if S is None else d_queries[t] @ S
            if U.shape[1] > n:
                dh += d_new[:, n:]
            if d_states is not None:
                dh += d_states[t]
            torch.mul(dh, through[t], out=d_inputs[t])
            before = d_inputs[t] @ U
            if mask is not None:
                before *= mask
            d_carried = torch.where(real[t], before, d_carried)
        seen = carried[:-1] if mask is None else carried[:-1] * mask
        d_U = d_inputs.flatten(0, 1).T @ seen.flatten(0, 1)
        d_S = None if S is None else d_queries.flatten(0, 1).T @ states.flatten(0, 1)
        d_U_a = None if U_a is None else d_keys.flatten(0, 1).T @ states.flatten(0, 1)
        d_h0 = d_carried[:, n:] if U.shape[1] > n else None
        d_first_keys, d_first_values = reader.d_key(slice(0, num_first)), reader.d_first_values(num_first)
        starts = (d_h0, d_carried[:, :n], d_first_keys, d_first_values, None, None)
        return d_inputs, *starts, d_U, d_S, d_U_a, reader.d_v, None, None, None


def self_attentive_rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "np m"],
    U: Float[Tensor, "n nk"],
    b: Float[Tensor, "n"],
    S: Float[Tensor, "p n"] | None,
    scoring: AdditiveScoring | DotScoring,
    form: str,
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """One of `FORMS` over a padded batch; returns h at each word, the last state, and alpha."""
    n = U.shape[0]
    bias = torch.nn.functional.pad(b, (0, W.shape[0] - n))
    projected = torch.nn.functional.linear(inputs, W, bias).transpose(0, 1)  # (T, B, n + p)
    # mixed precision narrows the projection; kernels take its width, else the recurrence keeps the parameters'
    slots, p = initial[4].shape[1] + inputs.shape[1], initial[2].shape[2]
    kernels = persistent.applies(projected, slots, n, p, span, state_mask is not None)
    width = projected.dtype if kernels else U.dtype
    projected = projected.to(width)
    real = mask.T.unsqueeze(-1)  # (T, B, 1)
    if reverse:
        projected, real = projected.flip(0), real.flip(0)
    h0, s0 = (part.to(width) for part in initial[:2])
    *first, was_valid = cut(initial[2:4], initial[4], span)
    first_keys, first_values = (tape.to(width) for tape in first)
    valid = torch.cat([was_valid, real.squeeze(-1).T], dim=1)  # (B, slots)
    weights = (None if weight is None else weight.to(width) for weight in (U, S, *scoring.fused))
    given = (s0, first_keys, first_values, valid, real, *weights, state_mask, scoring.scale, span)
    with torch.autocast(projected.device.type, enabled=False):
        if form == "read":
            read = persistent.Read if kernels else _Read
            parts = torch.split(projected, [n, p], dim=-1)
            states, summaries, keys, alpha = read.apply(*parts, *given)  # type: ignore[no-untyped-call]
        else:
            total = persistent.Sum if kernels else _Sum
            states, summaries, keys, alpha = total.apply(projected, h0, *given)  # type: ignore[no-untyped-call]
    ends = (last_real(states, h0, real), last_real(summaries, s0, real))
    tapes = [written_tape(*tape, real) for tape in ((first_keys, keys), (first_values, states))]
    last = (*ends, *cut(tapes, valid, span))
    return at_words(states, real, reverse), last, at_words(alpha, real, reverse)
