"""The Triton kernel of all recurrences that attend to the source, backwards: all steps in one launch.

Its parts are chosen as in the forward one. An LSTM's products before attention and those of the cell are the same tiles
in both orders: with input feeding (FEEDS) the state of step i is the query of step i, else of step i + 1.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.gru.kernels import reset_tile, state_tile
from regard.ops.kernels.memory import back_row
from regard.ops.kernels.parts import back_lstm_gates, barrier, four, place, product, split_product


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "words"])
@no_type_check
def backward_steps(
    source, cell, dropped, taken, d_alpha, grads, d_asking, d_gates, d_initial, d_memory, widths, T, B, words, counter,
    first, num_steps, FEEDS: tl.constexpr, OWN: tl.constexpr, SPLIT: tl.constexpr, TILES: tl.constexpr,
    PHASE: tl.constexpr,
):  # fmt: skip
    """From step i = T − first downwards: what went into the gates of step i; attention; the gates of step i − 1.

    Step T does not exist, so there is nothing of the first. Attention is that of step i, or with input feeding of step
    i − 1, after whose cell it came. `grads.partial` (SPLIT, B, n + d) holds ∂/∂[h, r] in as many summands as the inner
    index is cut into; with input feeding it comes zero. `d_asking` is ∂/∂(states that are queries themselves).

    Of a GRU the first is the reset, by `cell.R` (n, n), the candidate's; `cell.U` (n, 2n) is that of z and r, and
    `d_initial` ∂/∂s on its way down.
    """
    n, d, q = widths.n, widths.d, widths.q
    tiles = tl.cdiv(B, TILES.BM) * (n // TILES.BU)
    met = 0
    for step in range(first, first + num_steps):
        i = T - step
        t = tl.full([], 0, tl.int64) + i
        if i < T:
            if PHASE == 0 or PHASE == 1:
                if cell.gated is None:
                    split_product(
                        tl.program_id(0), d_gates + t * B * 4 * n, 4 * n, cell.U, 4 * n, grads.partial, B, n + d, False,
                        None, None, 0, SPLIT, 0, TILES,
                    )  # fmt: skip
                else:
                    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
                        reset_tile(
                            tile, cell.R, cell.gates + t * B * 3 * n, cell.states + t * B * n, d_gates + t * B * 3 * n,
                            d_initial, B, n, TILES.BM, TILES.BU, TILES.BK, TILES.stages,
                        )  # fmt: skip
            met = barrier(counter, met, PHASE)
        if i < T + FEEDS:
            if PHASE == 0 or PHASE == 2:
                for row in range(tl.program_id(0), B, tl.num_programs(0)):
                    if cell.gated is None:
                        back_read(
                            row, t - FEEDS, source, cell, dropped, taken.reads, d_alpha, grads, d_asking, B, words,
                            widths, FEEDS, OWN, SPLIT, TILES,
                        )  # fmt: skip
                    else:
                        at = t * B + row
                        asked = at * widths.p
                        back_row(
                            row, t, d_gates + at * 3 * n, source.queries + asked, grads.queries + asked, words, source,
                            grads, d_alpha, B, words, widths.p, d, TILES,
                        )  # fmt: skip
            met = barrier(counter, met, PHASE)
        if PHASE == 0 or PHASE == 3:
            if cell.gated is None:
                state_tiles(
                    i, t, source, cell, taken.states, grads, d_gates, d_initial, d_memory, T, B, n, q, n + d,
                    FEEDS, SPLIT, TILES,
                )  # fmt: skip
            else:
                gate = t * B * 3 * n
                down = gate - B * 3 * n
                wanted = None if taken.states is None else taken.states.x + (t - 1) * taken.states.t
                wanted_b = 0 if taken.states is None else taken.states.b
                for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
                    state_tile(
                        tile, i < T, i > 0, cell.U, d_gates + gate, source.matrix,
                        grads.queries + t * B * widths.p, widths.p, cell.gates + down, cell.states + (t - 1) * B * n,
                        None, 0, wanted, wanted_b, d_gates + down, d_initial, B, n, widths.real,
                        TILES.BM, TILES.BU, TILES.BK, TILES.BL, TILES.stages,
                    )  # fmt: skip
        met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def back_read(
    row, t, source, cell, dropped, d_reads, d_alpha, grads, d_asking, B, words, widths,
    FEEDS: tl.constexpr, OWN: tl.constexpr, SPLIT: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """One sentence: ∂/∂c_t or ∂/∂h̃_t from its summands and from what the loss took, back to ∂/∂query.

    With input feeding through dropout and tanh first, to ∂/∂z.
    """
    n, p, d, q = widths.n, widths.p, widths.d, widths.q
    BD: tl.constexpr = TILES.BD
    r = tl.full([], 0, tl.int64) + row
    at = tl.arange(0, BD)
    here = at < d
    back = tl.zeros([BD], tl.float32)
    for part in tl.static_range(SPLIT):
        summand = grads.partial + (part * B + row) * (n + d) + n + at
        back += tl.load(summand, mask=here, other=0.0, cache_modifier=".cg")
    if d_reads is not None:
        back += tl.load(d_reads.x + t * d_reads.t + r * d_reads.b + at, mask=here, other=0.0).to(tl.float32)
    ask = (t * B + row) * q
    query = source.queries + ask
    d_query = grads.queries + ask
    d_read = grads.reads + (t * B + row) * d
    if FEEDS:
        if dropped is not None:
            noise = dropped.x + t * dropped.t + r * dropped.b + at
            back *= tl.load(noise, mask=here, other=0.0).to(tl.float32)
        y = tl.load(query + q - d + at, mask=here, other=0.0).to(tl.float32)
        back *= 1 - y * y
        d_read = d_query + q - d
        if not OWN:
            query = cell.states + ((t + 1) * B + row) * n
            d_query = d_asking + (t * B + row) * n
    tl.store(d_read + at, back.to(grads.queries.dtype.element_ty), mask=here)
    back_row(row, t, d_read, query, d_query, words, source, grads, d_alpha, B, words, p, d, TILES)


@triton.jit
@no_type_check
def state_tiles(
    i, t, source, cell, d_states, grads, d_gates, d_initial, d_memory, T, B, n, q, wide,
    FEEDS: tl.constexpr, SPLIT: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_{i−1} = Wᵀ δq + the gates' share, and of the LSTM of step i − 1 backwards."""
    BM: tl.constexpr = TILES.BM
    BU: tl.constexpr = TILES.BU
    for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (n // BU), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, n, BM, BU)
        # loaded before the product, which hides the wait; below step 0 there is none, and what is loaded is not used
        below = tl.maximum(t - 1, 0)
        gate = below * B * 4 * n + rows[:, None] * 4 * n + units[None, :]
        gates = four(cell.gates + gate, n, there)
        memory = cell.memories + below * B * n + at
        before = tl.load(memory, mask=there, other=0.0)
        u = 2 * tl.sigmoid(2 * tl.load(memory + B * n, mask=there, other=0.0)) - 1
        dm = tl.load(d_memory + at, mask=there, other=0.0, cache_modifier=".cg")
        ds = tl.zeros([BM, BU], tl.float32)
        if i < T + FEEDS:
            for part in tl.static_range(SPLIT):
                share = grads.partial + (part * B + rows[:, None]) * wide + units[None, :]
                ds += tl.load(share, mask=there, other=0.0, cache_modifier=".cg")
            d_query = grads.queries + (t - FEEDS) * B * q
            ds = product(
                ds, d_query, q, rows, rows < B, source.matrix, units, 0, q, q, TILES.BL, TILES.stages
            )
        if i == 0:
            tl.store(d_initial + at, ds, mask=there)
        else:
            if d_states is not None:
                taken = (
                    d_states.x + below * d_states.t + rows[:, None].to(tl.int64) * d_states.b + units[None, :]
                )
                ds += tl.load(taken, mask=there, other=0.0).to(tl.float32)
            dm += ds * gates[3] * (1 - u * u)
            back_lstm_gates(d_gates + gate, n, gates, before, u, ds, dm, there)
            tl.store(d_memory + at, dm * gates[1], mask=there)
