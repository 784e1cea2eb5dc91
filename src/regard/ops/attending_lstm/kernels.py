"""Triton kernels of the attending LSTM: all steps in one launch, forwards and back.

A program takes its share of a phase's tiles or rows: attention has one program per sentence. With PHASE = 0 all
phases of the steps given run; with another value only that one, without meeting, which is how an interpreter can run
them. Every width is a multiple of the tile's; the caller pads. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import attend_row, back_query, back_weights, meet, narrow_product, product


@triton.jit(do_not_specialize=["first", "num_steps", "B", "Tx"])
@no_type_check
def forward_steps(
    projected, p_t, p_b, mask, keys, values, W_a, v_a, U, C,
    states, memories, queries, contexts, alpha, gates, counter, first, num_steps, B, Tx, n, a, d,
    PHASE: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: query, attention, LSTM."""
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        state = states + t * B * n
        query = queries + t * B * a
        context = contexts + t * B * d
        if PHASE == 0 or PHASE == 1:
            # W_a s_{i−1}
            narrow_product(state, n, W_a, query, a, B, n, a, BM, BQ, BL, STAGES)
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            for row in range(tl.program_id(0), B, programs):
                attend_row(
                    row, mask, keys, values, v_a, query, context, alpha + t * B * Tx, Tx, Tx, a, d,
                    BJ, BT, BE, BD, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            lstm_tiles(
                projected + t * p_t, p_b, state, context, U, C, memories + t * B * n, gates + t * B * 4 * n,
                B, n, d, BM, BU, BK, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def lstm_tiles(
    projected, p_b, state, context, U, C, memory, gates, B, n, d,
    BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of one step's LSTM: x + U s + C c → gates, memory, state."""
    row_tiles = tl.cdiv(B, BM)
    element = state.dtype.element_ty
    for tile in range(tl.program_id(0), row_tiles * (n // BU), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BU + tl.arange(0, BU)
        there = (rows < B)[:, None]
        at = rows[:, None] * n + units[None, :]
        # loaded before the products, which hide the wait
        x = projected + rows[:, None].to(tl.int64) * p_b + units[None, :]
        x_i = tl.load(x, mask=there, other=0.0)
        x_f = tl.load(x + n, mask=there, other=0.0)
        x_g = tl.load(x + 2 * n, mask=there, other=0.0)
        x_o = tl.load(x + 3 * n, mask=there, other=0.0)
        before = tl.load(memory + at, mask=there, other=0.0, cache_modifier=".cg")
        # the four gates of a unit side by side
        column = tl.arange(0, 4 * BU)
        columns = (column % 4) * n + (tile // row_tiles) * BU + column // 4
        acc = tl.zeros([BM, 4 * BU], tl.float32)
        acc = product(acc, state, n, rows, rows < B, U, columns, 0, n, n, BK, STAGES)
        acc = product(acc, context, d, rows, rows < B, C, columns, 0, d, d, BK, STAGES)
        even, odd = tl.split(tl.reshape(acc, [BM, BU, 2, 2]))
        y_i, y_g = tl.split(even)
        y_f, y_o = tl.split(odd)
        i = tl.sigmoid(x_i + y_i)
        f = tl.sigmoid(x_f + y_f)
        g = 2 * tl.sigmoid(2 * (x_g + y_g)) - 1
        o = tl.sigmoid(x_o + y_o)
        m = f * before + i * g
        tl.store(memory + B * n + at, m, mask=there)
        out = gates + rows[:, None] * 4 * n + units[None, :]
        tl.store(out, i.to(element), mask=there)
        tl.store(out + n, f.to(element), mask=there)
        tl.store(out + 2 * n, g.to(element), mask=there)
        tl.store(out + 3 * n, o.to(element), mask=there)
        tl.store(state + B * n + at, (o * (2 * tl.sigmoid(2 * m) - 1)).to(element), mask=there)


@triton.jit(do_not_specialize=["first", "num_steps", "last_step", "B", "Tx", "da_t", "da_b"])
@no_type_check
def backward_steps(
    keys, values, v_a, W, W_a, gates, memories, queries, alpha,
    d_states, ds_t, ds_b, d_contexts, dc_t, dc_b, d_alpha, da_t, da_b,
    partial, d_gates, d_query, d_context, d_energy, d_initial, d_memory, counter,
    first, num_steps, last_step, B, Tx, n, a, d,
    STATES: tl.constexpr, CONTEXTS: tl.constexpr, ALPHA: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr,
    BM: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step last_step + 1 − first downwards: what went into the gates, attention, the gates of the step below.

    Step last_step + 1 does not exist: phase 3 alone runs, and finds nothing but the loss. `partial` (SPLIT, B, n + d)
    holds ∂/∂[s_{i−1}, c_i] in as many summands as the inner index is cut into.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for step in range(first, first + num_steps):
        i = last_step + 1 - step
        t = long + i
        if i <= last_step:
            if PHASE == 0 or PHASE == 1:
                gate_tiles(d_gates + t * B * 4 * n, W, partial, B, n, n + d, SPLIT, BY, BX, BK, STAGES)
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 2:
                for row in range(tl.program_id(0), B, programs):
                    r = long + row
                    d_read = d_context + (t * B + row) * d
                    de = d_energy + t * B * Tx
                    gather_context(
                        partial + row * (n + d) + n, B * (n + d), d_contexts + t * dc_t + r * dc_b, d_read, d,
                        CONTEXTS, SPLIT, BD,
                    )  # fmt: skip
                    tl.debug_barrier()
                    upto = back_weights(
                        row, values, d_read, alpha + t * B * Tx, d_alpha + t * da_t + r * da_b, de, Tx, Tx, d,
                        ALPHA, BT, BE, STREAM, ROW_STAGES,
                    )  # fmt: skip
                    tl.debug_barrier()
                    back_query(
                        row, keys, queries + t * B * a, v_a, de, d_query + t * B * a, Tx, upto, a, BJ, BA, QUICK, STREAM
                    )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            state_tiles(
                i, t, last_step, W_a, gates, memories, d_query, partial, d_states, ds_t, ds_b, d_gates, d_memory,
                d_initial, B, n, a, n + d, STATES, SPLIT, BM, BU, BL, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def gate_tiles(
    d_gates, W, partial, B, n, wide,
    SPLIT: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of δx [U, C], W holding both side by side and transposed, (n + d, 4n)."""
    tall = tl.cdiv(B, BY)
    tiles = tall * (wide // BX)
    length = tl.cdiv(4 * n // BK, SPLIT) * BK
    for item in range(tl.program_id(0), tiles * SPLIT, tl.num_programs(0)):
        tile = item % tiles
        part = item // tiles
        rows = (tile % tall) * BY + tl.arange(0, BY)
        columns = (tile // tall) * BX + tl.arange(0, BX)
        acc = tl.zeros([BY, BX], tl.float32)
        last = tl.minimum((part + 1) * length, 4 * n)
        acc = product(acc, d_gates, 4 * n, rows, rows < B, W, columns, part * length, last, 4 * n, BK, STAGES)
        out = partial + (part * B + rows[:, None]) * wide + columns[None, :]
        tl.store(out, acc, mask=(rows < B)[:, None])


@triton.jit
@no_type_check
def gather_context(
    partial, part_stride, d_contexts, out, d, CONTEXTS: tl.constexpr, SPLIT: tl.constexpr, BD: tl.constexpr
):
    """One sentence: ∂/∂c_i from its summands and from what the readout took."""
    at = tl.arange(0, BD)
    dc = tl.zeros([BD], tl.float32)
    for part in tl.static_range(SPLIT):
        dc += tl.load(partial + part * part_stride + at, mask=at < d, other=0.0, cache_modifier=".cg")
    if CONTEXTS:
        dc += tl.load(d_contexts + at, mask=at < d, other=0.0).to(tl.float32)
    tl.store(out + at, dc.to(out.dtype.element_ty), mask=at < d)


@triton.jit
@no_type_check
def state_tiles(
    i, t, last_step, W_a, gates, memories, d_query, partial, d_states, ds_t, ds_b, d_gates, d_memory, d_initial,
    B, n, a, wide, STATES: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BU: tl.constexpr, BL: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂s_{i−1} = W_aᵀ δq + the gates' share, and of the LSTM of step i − 1 backwards."""
    row_tiles = tl.cdiv(B, BM)
    element = d_gates.dtype.element_ty
    for tile in range(tl.program_id(0), row_tiles * (n // BU), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BU + tl.arange(0, BU)
        there = (rows < B)[:, None]
        at = rows[:, None] * n + units[None, :]
        # loaded before the product, which hides the wait; below step 0 there is none, and what is loaded is not used
        below = tl.maximum(t - 1, 0)
        gate = below * B * 4 * n + rows[:, None] * 4 * n + units[None, :]
        i_ = tl.load(gates + gate, mask=there, other=0.0).to(tl.float32)
        f = tl.load(gates + gate + n, mask=there, other=0.0).to(tl.float32)
        g = tl.load(gates + gate + 2 * n, mask=there, other=0.0).to(tl.float32)
        o = tl.load(gates + gate + 3 * n, mask=there, other=0.0).to(tl.float32)
        memory = memories + below * B * n + at
        before = tl.load(memory, mask=there, other=0.0)
        u = 2 * tl.sigmoid(2 * tl.load(memory + B * n, mask=there, other=0.0)) - 1
        dm = tl.load(d_memory + at, mask=there, other=0.0, cache_modifier=".cg")
        ds = tl.zeros([BM, BU], tl.float32)
        if i <= last_step:
            for part in tl.static_range(SPLIT):
                share = partial + (part * B + rows[:, None]) * wide + units[None, :]
                ds += tl.load(share, mask=there, other=0.0, cache_modifier=".cg")
            ds = product(ds, d_query + t * B * a, a, rows, rows < B, W_a, units, 0, a, a, BL, STAGES)
        if i == 0:
            tl.store(d_initial + at, ds, mask=there)
        else:
            if STATES:
                taken = d_states + below * ds_t + rows[:, None].to(tl.int64) * ds_b + units[None, :]
                ds += tl.load(taken, mask=there, other=0.0).to(tl.float32)
            dm += ds * o * (1 - u * u)
            tl.store(d_gates + gate, (dm * g * i_ * (1 - i_)).to(element), mask=there)
            tl.store(d_gates + gate + n, (dm * before * f * (1 - f)).to(element), mask=there)
            tl.store(d_gates + gate + 2 * n, (dm * i_ * (1 - g * g)).to(element), mask=there)
            tl.store(d_gates + gate + 3 * n, (ds * u * o * (1 - o)).to(element), mask=there)
            tl.store(d_memory + at, dm * f, mask=there)
