"""The Triton kernel of all recurrences that attend to the source, forwards: all steps in one launch.

A step has three phases: a product for the query, attention with one program a sentence, and the cell.

The cell is RNNsearch's GRU where there is an r ∘ s to keep. What attention reads are then the annotations already
multiplied by C, (B, Tx, 3n): Σ_j α_j (C h_j) is C Σ_j α_j h_j, so a step has no product with the context, and the
program that read a sentence's words goes straight on to its gates; the third phase is the candidate's. Otherwise the
cell is an LSTM, which multiplies the context in the third phase.

With input feeding (FEEDS) the LSTM comes first, with h̃_{t−1} in the context's place, and its new state asks. What
attention reads is then the annotations already multiplied by their part of W_c, and the state's part of W_c is below
W_a in one matrix; OWN says whether there is a W_a, or the state itself is the query.

With PHASE = 0 all phases of the steps given run; with another value only that one. Every width is a multiple of the
tile's; the caller pads. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.gru.kernels import candidate_tile
from regard.ops.kernels.memory import add_contents, read_row, weigh_row
from regard.ops.kernels.parts import (
    barrier,
    columns_of_four,
    four,
    lstm_gates,
    narrow_product,
    place,
    product,
    squash,
)


@triton.jit(do_not_specialize=["first", "num_steps", "B", "words"])
@no_type_check
def forward_steps(
    x, source, cell, dropped, widths, B, words, counter, first, num_steps,
    FEEDS: tl.constexpr, OWN: tl.constexpr, TILES: tl.constexpr, PHASE: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: query, attention, cell; or cell, [W_a; W_h] h_t, attention and h̃_t.

    Of a GRU `source.matrix` (a + 2n, n) holds W_a, U_z and U_r, and `cell.U` is that of the candidate.
    """
    n, d, q = widths.n, widths.d, widths.q
    met = 0
    for i in range(first, first + num_steps):
        t = tl.full([], 0, tl.int64) + i
        if FEEDS:
            if PHASE == 0 or PHASE == 1:
                lstm_tiles(t, x, source, cell, B, n, d, TILES)
            met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 1 + FEEDS:
            if cell.gated is not None:
                asking_tiles(t, source, cell, B, widths, TILES)
            else:
                narrow_product(
                    cell.states + (t + FEEDS) * B * n, n, source.matrix, source.queries + t * B * q, q, B, n, q,
                    TILES.BM, TILES.BQ, TILES.BL, TILES.forward_stages,
                )  # fmt: skip
        met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 2 + FEEDS:
            for row in range(tl.program_id(0), B, tl.num_programs(0)):
                if cell.gated is not None:
                    gate_row(row, t, x, source, cell, B, words, widths, TILES)
                elif FEEDS:
                    feed_row(row, t, source, cell, dropped, B, words, widths, OWN, TILES)
                else:
                    read_row(row, t, words, source.reads + t * B * d, source, B, words, q, d, TILES)
        met = barrier(counter, met, PHASE)
        if not FEEDS:
            if PHASE == 0 or PHASE == 3:
                if cell.gated is None:
                    lstm_tiles(t, x, source, cell, B, n, d, TILES)
                else:
                    for tile in range(
                        tl.program_id(0), tl.cdiv(B, TILES.BM) * (n // TILES.BU), tl.num_programs(0)
                    ):
                        candidate_tile(
                            tile, cell.shares + 2 * n, 3 * n, cell.gated + t * B * n, cell.U,
                            cell.gates + t * B * 3 * n, cell.exact, cell.states + (t + 1) * B * n, B, n, n,
                            TILES.BM, TILES.BU, TILES.BK, TILES.forward_stages,
                        )  # fmt: skip
            met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def lstm_tiles(t, x, source, cell, B, n, d, TILES: tl.constexpr):
    """This program's share of one step's LSTM: x + U h + R r → gates, memory, state; r is the context or h̃_{t−1}."""
    BM: tl.constexpr = TILES.BM
    BU: tl.constexpr = TILES.BU
    state = cell.states + t * B * n
    memory = cell.memories + t * B * n
    for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (n // BU), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, n, BM, BU)
        # loaded before the products, which hide the wait
        given = four(x.x + t * x.t + rows[:, None].to(tl.int64) * x.b + units[None, :], n, there)
        before = tl.load(memory + at, mask=there, other=0.0, cache_modifier=".cg")
        columns = columns_of_four((tile // tl.cdiv(B, BM)) * BU, n, BU)
        acc = tl.zeros([BM, 4 * BU], tl.float32)
        acc = product(acc, state, n, rows, rows < B, cell.U, columns, 0, n, n, TILES.BK, TILES.forward_stages)
        acc = product(
            acc, source.reads + t * B * d, d, rows, rows < B, cell.R, columns, 0, d, d, TILES.BK, TILES.forward_stages
        )  # fmt: skip
        out = cell.gates + t * B * 4 * n + rows[:, None] * 4 * n + units[None, :]
        i, f, g, o = lstm_gates(out, n, given, acc, there, BM, BU)
        m = f * before + i * g
        tl.store(memory + B * n + at, m, mask=there)
        h = o * (2 * tl.sigmoid(2 * m) - 1)
        tl.store(state + B * n + at, h.to(cell.states.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def feed_row(row, t, source, cell, dropped, B, words, widths, OWN: tl.constexpr, TILES: tl.constexpr):
    """One sentence: z = Σ_j α_j v_j + W_h h_t and h̃_t; after the query are W_h h_t, then tanh z."""
    l = widths.d
    alpha = source.alpha + t * B * words
    ask = source.queries + (t * B + row) * widths.q
    query = ask if OWN else cell.states + ((t + 1) * B + row) * widths.n
    upto = weigh_row(row, query, source.mask, alpha, words, source, words, widths.p, TILES)
    at = tl.arange(0, TILES.BD)
    here = at < l
    attentional = ask + widths.q - l + at
    z = tl.load(attentional, mask=here, other=0.0, cache_modifier=".cg").to(tl.float32)
    z = add_contents(z, row, alpha, upto, source, words, l, TILES)
    y = squash(z, TILES.quick)
    tl.store(attentional, y.to(source.queries.dtype.element_ty), mask=here)
    if dropped is not None:
        noise = dropped.x + t * dropped.t + (tl.full([], 0, tl.int64) + row) * dropped.b
        y *= tl.load(noise + at, mask=here, other=0.0).to(tl.float32)
    fed = source.reads + ((t + 1) * B + row) * l
    tl.store(fed + at, y.to(source.reads.dtype.element_ty), mask=here)


@triton.jit
@no_type_check
def asking_tiles(t, source, cell, B, widths, TILES: tl.constexpr):
    """This program's share of W s: of the query W_a s, and of the gates' U_z s and U_r s."""
    BM: tl.constexpr = TILES.BM
    BQ: tl.constexpr = TILES.BQ
    n, a, q = widths.n, widths.p, widths.q
    for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (q // BQ), tl.num_programs(0)):
        rows, columns, there, _ = place(tile, B, q, BM, BQ)
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(
            acc, cell.states + t * B * n, n, rows, rows < B, source.matrix, columns, 0, n, n,
            TILES.BL, TILES.forward_stages,
        )  # fmt: skip
        if tile // tl.cdiv(B, BM) * BQ < a:
            query = source.queries + t * B * a + rows[:, None] * a + columns[None, :]
            tl.store(query, acc.to(source.queries.dtype.element_ty), mask=there)
        else:
            tl.store(cell.shares + rows[:, None] * 3 * n + columns[None, :] - a, acc, mask=there)


@triton.jit
@no_type_check
def gate_row(row, t, x, source, cell, B, words, widths, TILES: tl.constexpr):
    """One sentence: alpha, Σ_j α_j C h_j; then z, r, r ∘ s, and what the candidate has before its product."""
    BJ: tl.constexpr = TILES.BJ
    n, a, width = widths.n, widths.p, widths.real
    r = tl.full([], 0, tl.int64) + row
    step = t * B + row
    alpha = source.alpha + t * B * words
    upto = weigh_row(row, source.queries + step * a, source.mask, alpha, words, source, words, a, TILES)
    alpha += row * words
    values = source.contents + r * words * 3 * n
    shares = cell.shares + row * 3 * n
    x = x.x + t * x.t + r * x.b
    at = tl.arange(0, TILES.BN)
    here = at < n
    y_z = tl.load(x + at, mask=at < width, other=0.0).to(tl.float32)
    y_r = tl.load(x + width + at, mask=at < width, other=0.0).to(tl.float32)
    y_c = tl.load(x + 2 * width + at, mask=at < width, other=0.0).to(tl.float32)
    y_z += tl.load(shares + at, mask=here, other=0.0, cache_modifier=".cg")
    y_r += tl.load(shares + n + at, mask=here, other=0.0, cache_modifier=".cg")
    s = tl.load(cell.states + step * n + at, mask=here, other=0.0, cache_modifier=".cg").to(tl.float32)
    # a word at a time, each thread some units: nothing to share
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            word = first + more
            value = values + word * 3 * n + at
            known = here & (word < upto)
            weight = tl.load(alpha + word, mask=word < upto, other=0.0)
            y_z += weight * tl.load(value, mask=known, other=0.0, eviction_policy=TILES.stream).to(tl.float32)
            value_r = tl.load(value + n, mask=known, other=0.0, eviction_policy=TILES.stream)
            y_r += weight * value_r.to(tl.float32)
            value_c = tl.load(value + 2 * n, mask=known, other=0.0, eviction_policy=TILES.stream)
            y_c += weight * value_c.to(tl.float32)
    reset = tl.sigmoid(y_r)
    element = cell.gates.dtype.element_ty
    gates = cell.gates + step * 3 * n + at
    tl.store(gates, tl.sigmoid(y_z).to(element), mask=here)
    tl.store(gates + n, reset.to(element), mask=here)
    tl.store(cell.gated + step * n + at, (reset * s).to(element), mask=here)
    tl.store(shares + 2 * n + at, y_c, mask=here)
