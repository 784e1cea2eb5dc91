"""Triton kernels of the LSTMN, forwards: all steps in one launch; additive energies.

How programs share the work and meet is in `ops/kernels/parts`. Step t writes slot num_first + t of the tapes. With
PHASE = 0 all phases of the steps given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import attend_row, meet, narrow_product, product


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first"])
@no_type_check
def forward_steps(
    projected, p_t, p_b, valid, real, keys, written, U, S, U_a, v_a, reads, queries, share, alpha, gates, counter,
    first, num_steps, T, B, slots, num_first, n, p,
    TANH: tl.constexpr, PHASE: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BU: tl.constexpr,
    BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr,
    BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: read the tapes; the gates and the next query; the key."""
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        slot = num_first + i
        read = reads + t * B * 2 * n
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                attend_row(
                    row, valid, keys, written, v_a, queries + t * B * p, read, alpha + t * B * slots,
                    slots, slot, p, 2 * n, BJ, BT, BE, BD, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            gate_tiles(
                projected + t * p_t, p_b, read, U, gates + t * B * 4 * n, written + (long + slot) * 2 * n,
                B, slots, n, TANH, BM, BU, BK, STAGES,
            )  # fmt: skip
            if i + 1 < T:
                query_tiles(
                    projected + (t + 1) * p_t + 4 * n, p_b, real + t * B, read, S, share, queries + (t + 1) * B * p,
                    B, n, p, BM, BQ, BL, STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            # U_a h_t
            h = written + (long + slot) * 2 * n
            key = keys + (long + slot) * p
            narrow_product(h, slots * 2 * n, U_a, key, slots * p, B, n, p, BM, BQ, BL, STAGES)
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def gate_tiles(
    projected, p_b, read, U, gates, written, B, slots, n,
    TANH: tl.constexpr, BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of one step's gates: x + U s → i, f, c̃, o → h and c, in their slot."""
    row_tiles = tl.cdiv(B, BM)
    element = read.dtype.element_ty
    for tile in range(tl.program_id(0), row_tiles * (n // BU), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BU + tl.arange(0, BU)
        there = (rows < B)[:, None]
        # loaded before the product, which hides the wait
        x = projected + rows[:, None].to(tl.int64) * p_b + units[None, :]
        x_i = tl.load(x, mask=there, other=0.0)
        x_f = tl.load(x + n, mask=there, other=0.0)
        x_g = tl.load(x + 2 * n, mask=there, other=0.0)
        x_o = tl.load(x + 3 * n, mask=there, other=0.0)
        recalled = read + rows[:, None] * 2 * n + n + units[None, :]
        before = tl.load(recalled, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        # the four gates of a unit side by side
        column = tl.arange(0, 4 * BU)
        columns = (column % 4) * n + (tile // row_tiles) * BU + column // 4
        acc = tl.zeros([BM, 4 * BU], tl.float32)
        acc = product(acc, read, 2 * n, rows, rows < B, U, columns, 0, n, n, BK, STAGES)
        even, odd = tl.split(tl.reshape(acc, [BM, BU, 2, 2]))
        y_i, y_g = tl.split(even)
        y_f, y_o = tl.split(odd)
        i = tl.sigmoid(x_i + y_i)
        f = tl.sigmoid(x_f + y_f)
        g = 2 * tl.sigmoid(2 * (x_g + y_g)) - 1
        o = tl.sigmoid(x_o + y_o)
        c = f * before + i * g
        h = o * (2 * tl.sigmoid(2 * c) - 1) if TANH else o * c
        out = gates + rows[:, None] * 4 * n + units[None, :]
        tl.store(out, i.to(element), mask=there)
        tl.store(out + n, f.to(element), mask=there)
        tl.store(out + 2 * n, g.to(element), mask=there)
        tl.store(out + 3 * n, o.to(element), mask=there)
        place = written + rows[:, None].to(tl.int64) * slots * 2 * n + units[None, :]
        tl.store(place, h.to(element), mask=there)
        tl.store(place + n, c.to(element), mask=there)


@triton.jit
@no_type_check
def query_tiles(
    projected, p_b, real, read, S, share, query, B, n, p,
    BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of the next query P x_{t+1} + S s_t; over padding, with the s before it."""
    row_tiles = tl.cdiv(B, BM)
    programs = tl.num_programs(0)
    # from the last program down, since the first have most of the gates
    for tile in range(programs - 1 - tl.program_id(0), row_tiles * (p // BQ), programs):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        columns = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        at = rows[:, None] * p + columns[None, :]
        x = projected + rows[:, None].to(tl.int64) * p_b + columns[None, :]
        own = tl.load(x, mask=there, other=0.0)
        word = tl.load(real + rows, mask=rows < B, other=0) != 0
        old = tl.load(share + at, mask=there, other=0.0, cache_modifier=".cg")
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(acc, read, 2 * n, rows, rows < B, S, columns, 0, n, n, BL, STAGES)
        acc = tl.where(word[:, None], acc, old)
        tl.store(share + at, acc, mask=there)
        tl.store(query + at, (acc + own).to(query.dtype.element_ty), mask=there)
