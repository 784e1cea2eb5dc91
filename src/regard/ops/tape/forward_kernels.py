"""The Triton kernel of all recurrences with a tape, forwards: all steps in one launch, its parts chosen when compiled.

The cell is an LSTM where there are gates to keep, else an RNN. FIRST says whether a step reads the tape before its cell
(LSTMN, ``read``, deep fusion) or after it (``sum``, ``sum-keep``). Deep fusion, whose cell has an R, has a source: a
second memory that is read at the same time and not written. With PHASE = 0 all phases of the steps given run; with
another value only that one. How programs share the work is in `ops/kernels/parts`. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.arguments import Sizes
from regard.ops.kernels.memory import read_row
from regard.ops.kernels.parts import (
    barrier,
    columns_of_four,
    four,
    lstm_gates,
    narrow_product,
    place,
    product,
)


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_given", "source_slots"])
@no_type_check
def forward_steps(
    x, words, own, source, cell, widths, T, B, slots, num_given, source_slots, counter, first, num_steps,
    FIRST: tl.constexpr, TANH: tl.constexpr, TILES: tl.constexpr, PHASE: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: a phase that reads, one for the cell, one for the key and the query.

    A key or a query without a matrix is h_t, written with it; those of the last reads are made beside the cell.
    """
    sizes = Sizes(T, B, slots, num_given, source_slots)
    n, p, d = widths.n, widths.p, widths.d
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        slot = i + num_given
        if FIRST:
            if PHASE == 0 or PHASE == 1:
                read_rows(t, slot, t, own, source, cell, sizes, widths, TILES)
            met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 1 + FIRST:
            if cell.gates is None:
                rnn_tiles(t, slot, x, words, own, cell, sizes, widths, FIRST, TILES)
            else:
                lstm_tiles(t, slot, x, own, source, cell, sizes, widths, TANH, TILES)
            if FIRST:  # noqa: SIM102 (known to the compiler, unlike what follows)
                if i + 1 < sizes.T:
                    # the gates' part of W x comes first, then those of the queries
                    after = x.x + (t + 1) * x.t + widths.g
                    query_tiles(t, after, x.b, words, own, B, widths, TILES)
                    if cell.R is not None:
                        query_tiles(t, after + p, x.b, None, source, B, widths, TILES)
        met = barrier(counter, met, PHASE)
        if cell.U_a is not None or (not FIRST and own.matrix is not None):
            if PHASE == 0 or PHASE == 2 + FIRST:
                h = own.contents + (long + slot) * d
                if cell.U_a is not None:
                    key = own.keys + (long + slot) * p
                    narrow_product(
                        h, slots * d, cell.U_a, key, slots * p, B, n, p,
                        TILES.BM, TILES.BQ, TILES.BL, TILES.forward_stages,
                    )  # fmt: skip
                if not FIRST and own.matrix is not None:
                    narrow_product(
                        h, slots * d, own.matrix, own.queries + t * B * p, p, B, n, p,
                        TILES.BM, TILES.BQ, TILES.BL, TILES.forward_stages,
                    )  # fmt: skip
            met = barrier(counter, met, PHASE)
        if not FIRST:
            if PHASE == 0 or PHASE == 3:
                read_rows(t, slot + 1, t + 1, own, source, cell, sizes, widths, TILES)
            met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def read_rows(t, upto, at, own, source, cell, sizes, widths, TILES: tl.constexpr):
    """This program's sentences: what step t reads of its own first `upto` slots, to row `at` of the reads."""
    B, p, d = sizes.B, widths.p, widths.d
    programs = tl.num_programs(0)
    for row in range(tl.program_id(0), B, programs):
        read_row(row, t, upto, own.reads + at * B * d, own, B, sizes.slots, p, d, TILES)
    if cell.R is not None:
        # from the last program down, so that few have one row more than the others
        for row in range(programs - 1 - tl.program_id(0), B, programs):
            read_row(row, t, sizes.words, source.reads + at * B * d, source, B, sizes.words, p, d, TILES)


@triton.jit
@no_type_check
def rnn_tiles(t, slot, x, words, own, cell, sizes, widths, FIRST: tl.constexpr, TILES: tl.constexpr):
    """This program's share of h_t = tanh(x + U s), or tanh(x + U [s; h_{t−1}]), in its slot.

    Where the tape is read after the cell, s and h_{t−1} are those of the last real word, in the rows that `words` says.
    """
    B, slots, n = sizes.B, sizes.slots, widths.n
    U_b = n if cell.states is None else 2 * n
    for tile in range(tl.program_id(0), tl.cdiv(B, TILES.BM) * (n // TILES.BQ), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, n, TILES.BM, TILES.BQ)
        r = rows[:, None].to(tl.int64)
        unit = units[None, :]
        if FIRST:
            read = own.reads + t * B * n
            before = rows
        else:
            read = own.reads
            before = tl.load(words + t * B + rows, mask=rows < B, other=0)
        acc = tl.load(x.x + t * x.t + r * x.b + unit, mask=there, other=0.0).to(tl.float32)
        acc = product(
            acc, read, n, before, rows < B, cell.U, units, 0, n, U_b, TILES.BL, TILES.forward_stages
        )
        if cell.states is not None:
            acc = product(
                acc, cell.states, n, before, rows < B, cell.U + n, units, 0, n, U_b, TILES.BL, TILES.forward_stages
            )  # fmt: skip
        h = (2 * tl.sigmoid(2 * acc) - 1).to(own.contents.dtype.element_ty)
        tl.store(own.contents + (r * slots + slot) * n + unit, h, mask=there)
        if cell.states is not None:
            tl.store(cell.states + (t + 1) * B * n + at, h, mask=there)
        if cell.U_a is None:
            tl.store(own.keys + (r * slots + slot) * n + unit, h, mask=there)
        if not FIRST and own.matrix is None:
            tl.store(own.queries + t * B * n + at, h, mask=there)


@triton.jit
@no_type_check
def lstm_tiles(t, slot, x, own, source, cell, sizes, widths, TANH: tl.constexpr, TILES: tl.constexpr):
    """This program's share of x + U s → i, f, c̃, o, of deep fusion x + R γ̃ → r; then h and c, in their slot."""
    B, n = sizes.B, widths.n
    BM: tl.constexpr = TILES.BM
    BU: tl.constexpr = TILES.BU
    read = own.reads + t * B * 2 * n
    element = own.contents.dtype.element_ty
    for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (n // BU), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, n * 2, BM, BU)
        r = rows[:, None].to(tl.int64)
        unit = units[None, :]
        # loaded before the products, which hide the wait
        given = x.x + t * x.t + r * x.b + unit
        x_gates = four(given, n, there)
        recalled = tl.load(read + n + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        if cell.R is not None:
            fetch = source.reads + t * B * 2 * n
            x_r = tl.load(given + 4 * n, mask=there, other=0.0)
            fetched = tl.load(fetch + n + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        columns = columns_of_four((tile // tl.cdiv(B, BM)) * BU, n, BU)
        acc = tl.zeros([BM, 4 * BU], tl.float32)
        acc = product(
            acc, read, 2 * n, rows, rows < B, cell.U, columns, 0, n, n, TILES.BK, TILES.forward_stages
        )
        out = cell.gates + (t * B + r) * widths.g + unit
        if cell.R is not None:
            y_r = tl.zeros([BM, BU], tl.float32)
            y_r = product(
                y_r, fetch, 2 * n, rows, rows < B, cell.R, units, 0, n, n, TILES.BK, TILES.forward_stages
            )
        i, f, g, o = lstm_gates(out, n, x_gates, acc, there, BM, BU)
        c = f * recalled + i * g
        if cell.R is not None:
            r_gate = tl.sigmoid(x_r + y_r)
            tl.store(out + 4 * n, r_gate.to(element), mask=there)
            c += r_gate * fetched
        h = o * (2 * tl.sigmoid(2 * c) - 1) if TANH else o * c
        place_of = r * sizes.slots + slot
        tl.store(own.contents + place_of * 2 * n + unit, h.to(element), mask=there)
        tl.store(own.contents + place_of * 2 * n + n + unit, c.to(element), mask=there)
        if cell.U_a is None:
            tl.store(own.keys + place_of * n + unit, h.to(element), mask=there)


@triton.jit
@no_type_check
def query_tiles(t, x, x_b, words, memory, B, widths, TILES: tl.constexpr):
    """This program's share of the next query P x_{t+1} + S s_t of a memory; over padding, with the s before it."""
    BM: tl.constexpr = TILES.BM
    BQ: tl.constexpr = TILES.BQ
    n, p, d = widths.n, widths.p, widths.d
    programs = tl.num_programs(0)
    query = memory.queries + (t + 1) * B * p
    # from the last program down, since the first have most of the gates
    for tile in range(programs - 1 - tl.program_id(0), tl.cdiv(B, BM) * (p // BQ), programs):
        rows, columns, there, at = place(tile, B, p, BM, BQ)
        own = tl.load(x + rows[:, None].to(tl.int64) * x_b + columns[None, :], mask=there, other=0.0)
        if words is not None:
            word = tl.load(words + t * B + rows, mask=rows < B, other=0) != 0
            old = tl.load(memory.share + at, mask=there, other=0.0, cache_modifier=".cg")
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(
            acc, memory.reads + t * B * d, d, rows, rows < B, memory.matrix, columns, 0, n, n,
            TILES.BL, TILES.forward_stages,
        )  # fmt: skip
        if words is not None:
            acc = tl.where(word[:, None], acc, old)
            tl.store(memory.share + at, acc, mask=there)
        tl.store(query + at, (acc + own).to(query.dtype.element_ty), mask=there)
