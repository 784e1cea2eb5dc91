"""Triton kernels of the paper's GRU: all steps of one direction or of two in one launch, forwards and back.

A step forwards is two phases, since the candidate's product needs the reset of every unit: gates, then candidates. Back
it is two again. The tiles of the second phase forwards, and of both back, serve RNNsearch's decoder as well. With
PHASE = 0 all phases of the steps given run; with another value only that one, without meeting. Every width is a
multiple of the tile's; the caller pads. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import barrier, place, product


@triton.jit
@no_type_check
def position(direction, step, T, BACKWARDS: tl.constexpr):
    """A direction, whether it reads back (its bit of BACKWARDS), and the position of the word of a step."""
    back = (BACKWARDS >> direction) & 1
    return tl.full([], 0, tl.int64) + direction, back, back * (T - 1 - step) + (1 - back) * step


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B"])
@no_type_check
def forward_steps(
    x, real, U, states, exact, gates, gated, counter, first, num_steps, T, B, n, width,
    PHASE: tl.constexpr, BACKWARDS: tl.constexpr, DIRECTIONS: tl.constexpr, BM: tl.constexpr, BU: tl.constexpr,
    BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1 of every direction; bit d of BACKWARDS says that direction d reads back.

    Only `width` of the n units are real: projected inputs are not padded. A word has the same position in the tensors
    of both directions; states have one position more, for s_0, before the first word or after the last.
    """
    programs = tl.num_programs(0)
    tiles = tl.cdiv(B, BM) * (n // BU)
    met = 0
    for step in range(first, first + num_steps):
        if PHASE == 0 or PHASE == 1:
            for item in range(tl.program_id(0), DIRECTIONS * tiles, programs):
                d, back, at = position(item // tiles, step, T, BACKWARDS)
                gate_tile(
                    item % tiles, x.x + d * 3 * width + at * x.t, x.b, real + at, T,
                    states + (d * (T + 1) + at + back) * B * n, U + d * 3 * n * n, gates + (d * T + at) * B * 3 * n,
                    gated + (d * T + at) * B * n, B, n, width, BM, BU, BK, STAGES,
                )  # fmt: skip
        met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 2:
            for item in range(tl.program_id(0), DIRECTIONS * tiles, programs):
                d, back, at = position(item // tiles, step, T, BACKWARDS)
                candidate_tile(
                    item % tiles, x.x + d * 3 * width + at * x.t + 2 * width, x.b, gated + (d * T + at) * B * n,
                    U + d * 3 * n * n + 2 * n * n, gates + (d * T + at) * B * 3 * n, exact + d * B * n,
                    states + (d * (T + 1) + at + 1 - back) * B * n, B, n, width, BM, BU, BK, STAGES,
                )  # fmt: skip
        met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def gate_tile(
    tile, x, x_b, real, real_b, state, U, gates, gated, B, n, width,
    BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Of some rows and units z, which is 0 on padding, r, and r ∘ s."""
    rows, units, there, at = place(tile, B, n, BM, BU)
    element = state.dtype.element_ty
    # loaded before the product, which hides the wait
    x = x + rows[:, None].to(tl.int64) * x_b + units[None, :]
    known = there & (units < width)[None, :]
    x_z = tl.load(x, mask=known, other=0.0)
    x_r = tl.load(x + width, mask=known, other=0.0)
    s = tl.load(state + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
    word = tl.load(real + rows * real_b, mask=rows < B, other=0) != 0
    # both gates of a unit side by side
    column = tl.arange(0, 2 * BU)
    columns = (column % 2) * n + (tile // tl.cdiv(B, BM)) * BU + column // 2
    acc = tl.zeros([BM, 2 * BU], tl.float32)
    acc = product(acc, state, n, rows, rows < B, U, columns, 0, n, n, BK, STAGES)
    y_z, y_r = tl.split(tl.reshape(acc, [BM, BU, 2]))
    z = tl.where(word[:, None], tl.sigmoid(x_z + y_z), 0.0)
    r = tl.sigmoid(x_r + y_r)
    out = gates + rows[:, None] * 3 * n + units[None, :]
    tl.store(out, z.to(element), mask=there)
    tl.store(out + n, r.to(element), mask=there)
    tl.store(gated + at, (r * s).to(element), mask=there)


@triton.jit
@no_type_check
def candidate_tile(
    tile, x, x_b, gated, U, gates, exact, after, B, n, width,
    BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """s̃ = tanh(x + U (r ∘ s)) of some rows and units, and s′ = s + z ∘ (s̃ − s).

    `exact` (B, n) is the state in float32, of which `after` gets a rounded copy: rounding does not add up over steps.
    """
    rows, units, there, at = place(tile, B, n, BM, BU)
    element = after.dtype.element_ty
    gate = gates + rows[:, None] * 3 * n + units[None, :]
    x = x + rows[:, None].to(tl.int64) * x_b + units[None, :]
    x = tl.load(x, mask=there & (units < width)[None, :], other=0.0, cache_modifier=".cg")
    z = tl.load(gate, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
    s = tl.load(exact + at, mask=there, other=0.0, cache_modifier=".cg")
    acc = tl.zeros([BM, BU], tl.float32)
    acc = product(acc, gated, n, rows, rows < B, U, units, 0, n, n, BK, STAGES)
    candidate = 2 * tl.sigmoid(2 * (x + acc)) - 1
    s += z * (candidate - s)
    tl.store(gate + 2 * n, candidate.to(element), mask=there)
    tl.store(exact + at, s, mask=there)
    tl.store(after + at, s.to(element), mask=there)


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B"])
@no_type_check
def backward_steps(
    W, W_c, gates, states, real, d_states, d_gates, d_state, counter, first, num_steps,
    T, B, n, width, PHASE: tl.constexpr, BACKWARDS: tl.constexpr, DIRECTIONS: tl.constexpr, BM: tl.constexpr,
    BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """From step T − first downwards: the reset, what the gates hand to the state before, the gates of the step below.

    Step T does not exist: phase 2 alone runs, and finds nothing but the loss. `d_state` (·, B, n) is ∂/∂s on its way
    down, and at the end ∂/∂s_0.
    """
    programs = tl.num_programs(0)
    tiles = tl.cdiv(B, BM) * (n // BU)
    met = 0
    for count in range(first, first + num_steps):
        step = T - count
        if step < T:
            if PHASE == 0 or PHASE == 1:
                for item in range(tl.program_id(0), DIRECTIONS * tiles, programs):
                    d, back, at = position(item // tiles, step, T, BACKWARDS)
                    reset_tile(
                        item % tiles, W_c + d * n * n, gates + (d * T + at) * B * 3 * n,
                        states + (d * (T + 1) + at + back) * B * n, d_gates + (d * T + at) * B * 3 * n,
                        d_state + d * B * n, B, n, BM, BU, BK, STAGES,
                    )  # fmt: skip
            met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 2:
            for item in range(tl.program_id(0), DIRECTIONS * tiles, programs):
                d, back, at = position(item // tiles, step, T, BACKWARDS)
                down = at + 2 * back - 1
                state_tile(
                    item % tiles, step < T, step > 0, W + d * 2 * n * n, d_gates + (d * T + at) * B * 3 * n,
                    None, None, 0,
                    gates + (d * T + down) * B * 3 * n, states + (d * (T + 1) + down + back) * B * n, real + down, T,
                    d_states.x + d * width + down * d_states.t, d_states.b, d_gates + (d * T + down) * B * 3 * n,
                    d_state + d * B * n, B, n, width, BM, BU, BK, BK, STAGES,
                )  # fmt: skip
        met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def reset_tile(
    tile, W_c, gates, before, d_gates, d_state, B, n,
    BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """δ(r ∘ s) = U_cᵀ δx_c of some rows and units → δx_r, and what s receives through it and through 1 − z."""
    rows, units, there, at = place(tile, B, n, BM, BU)
    gate = gates + rows[:, None] * 3 * n + units[None, :]
    z = tl.load(gate, mask=there, other=0.0).to(tl.float32)
    r = tl.load(gate + n, mask=there, other=0.0).to(tl.float32)
    s = tl.load(before + at, mask=there, other=0.0).to(tl.float32)
    ds = tl.load(d_state + at, mask=there, other=0.0, cache_modifier=".cg")
    acc = tl.zeros([BM, BU], tl.float32)
    acc = product(acc, d_gates + 2 * n, 3 * n, rows, rows < B, W_c, units, 0, n, n, BK, STAGES)
    out = d_gates + n + rows[:, None] * 3 * n + units[None, :]
    tl.store(out, (acc * s * r * (1 - r)).to(d_gates.dtype.element_ty), mask=there)
    tl.store(d_state + at, ds * (1 - z) + acc * r, mask=there)


@triton.jit
@no_type_check
def state_tile(
    tile, above, below, W, d_above, W_a, d_query, a, gates, before, real, real_b, d_states, ds_b, d_gates, d_state,
    B, n, width, BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """∂/∂s of some rows and units, completed; then δx_z and δx_c of the step that made s.

    `above` says whether a step read s; its δx is `d_above` (B, 3n) and, where there is a W_a, its δq `d_query` (B, a).
    `below` says whether a step made s; to it belong `gates`, the state `before` it, whether its words are `real` (all
    of them if None), what the loss takes from s (nothing on padding), and `d_gates`.
    """
    rows, units, there, at = place(tile, B, n, BM, BU)
    element = d_gates.dtype.element_ty
    # loaded before the product, which hides the wait
    known = there & below
    gate = rows[:, None] * 3 * n + units[None, :]
    z = tl.load(gates + gate, mask=known, other=0.0).to(tl.float32)
    candidate = tl.load(gates + gate + 2 * n, mask=known, other=0.0).to(tl.float32)
    s = tl.load(before + at, mask=known, other=0.0).to(tl.float32)
    ds = tl.load(d_state + at, mask=there, other=0.0, cache_modifier=".cg")
    if d_states is not None:
        wanted = known & (units < width)[None, :]
        if real is not None:
            wanted = wanted & (tl.load(real + rows * real_b, mask=(rows < B) & below, other=0) != 0)[:, None]
        taken = d_states + rows[:, None].to(tl.int64) * ds_b + units[None, :]
        ds += tl.load(taken, mask=wanted, other=0.0).to(tl.float32)
    if above:
        ds = product(ds, d_above, 3 * n, rows, rows < B, W, units, 0, 2 * n, 2 * n, BK, STAGES)
        if W_a is not None:
            ds = product(ds, d_query, a, rows, rows < B, W_a, units, 0, a, a, BL, STAGES)
    tl.store(d_state + at, ds, mask=there)
    tl.store(d_gates + gate, (ds * (candidate - s) * z * (1 - z)).to(element), mask=known)
    tl.store(d_gates + gate + 2 * n, (ds * z * (1 - candidate * candidate)).to(element), mask=known)
