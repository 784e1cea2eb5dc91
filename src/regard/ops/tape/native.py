"""Recurrences with a tape by C kernels on the CPU, their backward pass derived by hand.

In: a cell of ``native/source/cell.h``, when it attends, and what `naive` takes. Out: what `naive` gives. The gradients
of the matrices are one large product each, after the steps. The derivation is in README.md of `ops`.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.native import narrow_wanted, product
from regard.ops.native.call import at, empty, flags, kernels, plain, threads_for, zeros
from regard.ops.native.structs import CELLS, Tape
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.tape.naive import cut
from regard.ops.tape.scoring import AdditiveScoring, DotScoring
from regard.ops.unroll import State


@dataclass(frozen=True)
class Form:
    """Which recurrence.

    Attributes:
        cell: one of `CELLS`.
        after: whether it attends after its update, with h_t, or before it, with x_t and s_{t−1}.
        scale: of dot products.
        span: how many real slots a step reads; 0 for all.
        reverse: read from the last position to the first.
    """

    cell: str
    after: bool
    scale: float
    span: int
    reverse: bool


_SAVED = (
    *("there", "valid", "U", "S", "U_a", "v", "dropped"),
    *("keys", "written", "alpha", "queries", "reads", "gates", "carried", "c"),
)
"""What the backward pass reads, by the names of ``native/source/tape.h``."""


class _Recurrence(torch.autograd.Function):
    """Batch first; see `tape_recurrence` for what comes in, ``native/source/tape.h`` for the shapes.

    Gives the states (B, T, n), alpha (B, T, slots), the last s and h (and c), and the tapes: keys and [h] or [h; c].
    """

    @staticmethod
    def forward(
        ctx: Any,
        form: Form,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor | None,
        s0: Tensor,
        first_keys: Tensor,
        first: Tensor,
        valid: Tensor,
        mask: Tensor,
        U: Tensor,
        S: Tensor | None,
        U_a: Tensor | None,
        v_a: Tensor | None,
        state_mask: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        (batch, num_steps), num_first, met = mask.shape, first.shape[1], U.shape[1]
        slots, n, p, d = num_first + num_steps, h0.shape[1], first_keys.shape[2], first.shape[2]
        keys, written = zeros(batch, slots, p), zeros(batch, slots, d)
        keys[:, :num_first], written[:, :num_first] = first_keys, first
        # what the steps leave out at padding meets gradients of 0 in large products, so it has to be finite
        by_step = {"states": n, "alpha": slots, "queries": p, "reads": d, "carried": met, "gates": U.shape[0]}
        weights = {"U": U, "S": S, "U_a": U_a, "v": v_a, "dropped": state_mask, "projected": projected}
        tensors: dict[str, Tensor | None] = {
            "there": flags(mask),
            "valid": flags(valid),
            "keys": keys,
            "written": written,
            **{name: None if each is None else plain(each) for name, each in weights.items()},
            **{name: zeros(batch, num_steps, width) for name, width in by_step.items()},
            **{
                name: None if part is None else plain(part).clone()
                for name, part in (("h", h0), ("c", c0), ("s", s0))
            },
        }
        ctx.form, ctx.narrow = form, narrow_wanted()
        kernels().regard_tape(ctypes.byref(_tape(form, n, ctx.narrow, tensors)))
        ctx.save_for_backward(*(tensors[name] for name in _SAVED))
        ctx.set_materialize_grads(False)
        return tuple(tensors[name] for name in ("states", "alpha", "s", "h", "c", "keys", "written"))

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *taken: Tensor | None) -> tuple[Tensor | None, ...]:
        tensors = dict(zip(_SAVED, ctx.saved_tensors, strict=True))
        form, narrow, U, S, U_a = ctx.form, ctx.narrow, *(tensors[name] for name in ("U", "S", "U_a"))
        keys, written, carried, reads = (tensors[name] for name in ("keys", "written", "carried", "reads"))
        (batch, num_steps), g, p, d = carried.shape[:2], U.shape[0], keys.shape[2], written.shape[2]
        num_first, n = keys.shape[1] - num_steps, d if tensors["c"] is None else d // 2
        d_states, d_alpha, *rest = (None if each is None else plain(each) for each in taken)
        shapes = (*[(batch, n)] * 3, keys.shape, written.shape)
        # each is what the loss takes when it comes in and all that is taken when it goes out
        ds, dh, dc, d_keys, d_written = (
            zeros(*shape) if each is None else each.clone() for each, shape in zip(rest, shapes, strict=True)
        )
        d_projected = zeros(batch, num_steps, g if form.after else g + p)
        d_queries = zeros(batch, num_steps, p) if form.after else d_projected[..., g:]
        d_v = zeros(batch, p)  # by sentence, so that it does not depend on the number of threads
        tensors |= {"d_states": d_states, "d_alpha": d_alpha, "d_keys": d_keys, "d_written": d_written}
        tensors |= {"d_projected": d_projected, "d_queries": d_queries, "d_reads": empty(*reads.shape)}
        tensors |= {"ds": ds, "dh": dh, "dc": dc, "d_v": d_v}
        kernels().regard_tape_back(ctypes.byref(_tape(form, n, narrow, tensors)))

        def summed(d: Tensor, x: Tensor) -> Tensor:
            """Σ d xᵀ over all steps and sentences."""
            return product(d.flatten(0, 1).T, x.flatten(0, 1), narrow=narrow)

        h = written[:, num_first:, :n]  # in the order of the steps
        seen = carried if form.after else reads[..., :n]
        if tensors["dropped"] is not None:
            seen = seen * tensors["dropped"].repeat(1, seen.shape[2] // n).unsqueeze(1)
        asking = (h.flip(1) if form.reverse else h) if form.after else carried
        d_U = summed(d_projected[..., :g], seen)
        d_S = None if S is None else summed(d_queries, asking)
        d_U_a = None if U_a is None else summed(d_keys[:, num_first:], h)
        d_v_a = None if tensors["v"] is None else d_v.sum(dim=0)
        starts = (dh, None if tensors["c"] is None else dc, ds)
        first = (d_keys[:, :num_first], d_written[:, :num_first])
        return None, d_projected, *starts, *first, None, None, d_U, d_S, d_U_a, d_v_a, None


def _tape(form: Form, n: int, narrow: bool, tensors: Mapping[str, Tensor | None]) -> Tape:
    """What the kernels take; the caller keeps the tensors alive."""
    keys, U, there = tensors["keys"], tensors["U"], tensors["there"]
    assert keys is not None
    assert U is not None
    assert there is not None
    (batch, num_steps), (_, slots, p) = there.shape, keys.shape
    return Tape(
        *(batch, num_steps, slots - num_steps, n, p, U.shape[1], form.span),
        scale=form.scale,
        cell=CELLS.index(form.cell),
        after=int(form.after),
        reverse=int(form.reverse),
        narrow=int(narrow),
        threads=threads_for(batch),
        **{name: at(tensor) for name, tensor in tensors.items()},
    )


def tape_recurrence(
    cell: str,
    after: bool,
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "gnp m"],
    U: Float[Tensor, "gn nk"],
    b: Float[Tensor, "gn"],
    S: Float[Tensor, "p n"] | None,
    scoring: AdditiveScoring | DotScoring,
    span: int,
    reverse: bool,
    state_mask: Float[Tensor, "B n"] | None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """A recurrence with a tape over a padded batch; returns h at each word, the last state, and alpha.

    Args:
        cell: one of `CELLS`; the LSTM is the LSTMN.
        after: whether it attends after its update, with h_t.
        inputs: x_1 … x_T.
        mask: True at real words.
        initial: h (and c), s, the tapes of keys, values (and memories), and their mask.
        W: the input's matrix, and P, its part of the query, below it.
        U: the matrix of s_t, or of s_{t−1} (and h_{t−1}).
        b: the bias.
        S: the matrix of s_{t−1}, or of h_t, in the query; None where the query is h_t itself.
        scoring: how the query is compared with the keys.
        span: how many real slots a step reads; 0 for all.
        reverse: read from the last position to the first.
        state_mask: variational dropout of what meets U; one mask for all steps.
    """
    n, num_heads = initial[0].shape[1], (len(initial) - 1) // 2  # h, c, s and three tapes; or h, s and two
    projected = affine(inputs, W, torch.nn.functional.pad(b, (0, W.shape[0] - b.shape[0])))
    (h0, *c0, s0), tapes, was_valid = initial[:num_heads], initial[num_heads:-1], initial[-1]
    first_keys, *first, was_valid = cut(tapes, was_valid, span)
    valid = torch.cat([was_valid, mask.flip(1) if reverse else mask], dim=1)  # (B, slots)
    states, alpha, s, h, c, keys, written = _Recurrence.apply(  # type: ignore[no-untyped-call]
        Form(cell, after, scoring.scale, span, reverse),
        *(projected, h0, c0[0] if c0 else None, s0, first_keys, torch.cat(first, dim=-1)),
        *(valid, mask, U, S, *scoring.fused, state_mask),
    )
    heads = (h, s) if c is None else (h, c, s)
    return states, (*heads, *cut([keys, *torch.split(written, n, dim=-1)], valid, span)), alpha
