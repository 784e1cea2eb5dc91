"""Triton kernels of the LSTMN, forwards: all steps in one launch; additive energies or dot products.

How programs share the work and meet is in `ops/kernels/parts`. Step t writes slot num_first + t of the tapes. With
PHASE = 0 all phases of the steps given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import meet, narrow_product, product
from regard.ops.tape.kernels import query_tiles, read_row


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first"])
@no_type_check
def forward_steps(
    projected, p_t, p_b, valid, real, keys, written, U, S, U_a, v_a, reads, queries, share, alpha, gates, counter,
    first, num_steps, scale, T, B, slots, num_first, n, p,
    DOT: tl.constexpr, KEYED: tl.constexpr, TANH: tl.constexpr, PHASE: tl.constexpr, BM: tl.constexpr,
    BQ: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr,
    BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr,
    STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: read the tapes; the gates and the next query; the key.

    Without a matrix (not KEYED) the key is h_t, written with it.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        slot = num_first + i
        read = reads + t * B * 2 * n
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                read_row(
                    row, valid, keys, written, v_a, scale, queries + t * B * p, read, alpha + t * B * slots,
                    slots, slot, p, 2 * n, DOT, BJ, BT, BE, BD, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            gate_tiles(
                projected + t * p_t, p_b, read, U, gates + t * B * 4 * n, written + (long + slot) * 2 * n,
                keys + (long + slot) * p, B, slots, n, KEYED, TANH, BM, BU, BK, STAGES,
            )  # fmt: skip
            if i + 1 < T:
                query_tiles(
                    projected + (t + 1) * p_t + 4 * n, p_b, real + t * B, read, 2 * n, S, share,
                    queries + (t + 1) * B * p, B, n, p, BM, BQ, BL, STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if KEYED:
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
    projected, p_b, read, U, gates, written, keys, B, slots, n,
    KEYED: tl.constexpr, TANH: tl.constexpr, BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr,
    STAGES: tl.constexpr,
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
        if not KEYED:
            key = keys + rows[:, None].to(tl.int64) * slots * n + units[None, :]
            tl.store(key, h.to(element), mask=there)
