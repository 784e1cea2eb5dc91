"""Triton kernels of RNNsearch's recurrence: all steps in one launch, forwards and back.

What attention reads is `values` (B, Tx, 3n), the annotations already multiplied by C: Σ_j α_j (C h_j) is C Σ_j α_j h_j,
so a step has no product with the context, and the program that read a sentence's words goes straight on to its gates.
With PHASE = 0 all phases of the steps given run; with another value only that one, without meeting. Every width is a
multiple of the tile's; the caller pads. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.gru.kernels import candidate_tile, reset_tile, state_tile
from regard.ops.kernels.parts import back_query, back_weights, meet, product, weigh_row


@triton.jit(do_not_specialize=["first", "num_steps", "B", "Tx"])
@no_type_check
def forward_steps(
    projected, p_t, p_b, mask, keys, values, W, v_a, U_c,
    states, exact, shares, queries, alpha, gates, gated, counter, first, num_steps, B, Tx, n, a, width,
    PHASE: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BN: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: query and the state's share of the gates; the gates; the candidate.

    W (a + 2n, n) holds W_a, U_z and U_r. `shares` (B, 3n) is float32: U_z s and U_r s, then the candidate's
    pre-activation without its product. Only `width` of the n units are real: projected inputs are not padded.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        state = states + t * B * n
        if PHASE == 0 or PHASE == 1:
            tall = tl.cdiv(B, BM)
            for tile in range(tl.program_id(0), tall * ((a + 2 * n) // BQ), programs):
                asking_tile(
                    tile % tall,
                    tile // tall,
                    state,
                    W,
                    queries + t * B * a,
                    shares,
                    B,
                    n,
                    a,
                    BM,
                    BQ,
                    BL,
                    STAGES,
                )
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            for row in range(tl.program_id(0), B, programs):
                weights = alpha + t * B * Tx
                upto = weigh_row(
                    row, mask, keys, v_a, queries + t * B * a, weights, Tx, Tx, a, BT, BE, QUICK, ROW_STAGES
                )
                gate_row(
                    projected + t * p_t + (long + row) * p_b, values + (long + row) * Tx * 3 * n, weights + row * Tx,
                    state + row * n, shares + row * 3 * n, gates + (t * B + row) * 3 * n, gated + (t * B + row) * n,
                    upto, n, width, BJ, BN, STREAM,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (n // BU), programs):
                candidate_tile(
                    tile, shares + 2 * n, 3 * n, gated + t * B * n, U_c, gates + t * B * 3 * n, exact,
                    state + B * n, B, n, n, BM, BU, BK, STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def asking_tile(
    row_tile, column_tile, state, W, query, shares, B, n, a,
    BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Some rows and columns of W s: of the query W_a s, or of the gates' U_z s and U_r s."""
    rows = row_tile * BM + tl.arange(0, BM)
    columns = column_tile * BQ + tl.arange(0, BQ)
    there = (rows < B)[:, None]
    acc = tl.zeros([BM, BQ], tl.float32)
    acc = product(acc, state, n, rows, rows < B, W, columns, 0, n, n, BL, STAGES)
    if column_tile * BQ < a:
        tl.store(query + rows[:, None] * a + columns[None, :], acc.to(query.dtype.element_ty), mask=there)
    else:
        tl.store(shares + rows[:, None] * 3 * n + columns[None, :] - a, acc, mask=there)


@triton.jit
@no_type_check
def gate_row(
    x, values, alpha, state, shares, gates, gated, upto, n, width,
    BJ: tl.constexpr, BN: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One sentence: Σ_j α_j C h_j, j < upto; then z, r, r ∘ s, and what the candidate has before its product."""
    at = tl.arange(0, BN)
    here = at < n
    y_z = tl.load(x + at, mask=at < width, other=0.0).to(tl.float32)
    y_r = tl.load(x + width + at, mask=at < width, other=0.0).to(tl.float32)
    y_c = tl.load(x + 2 * width + at, mask=at < width, other=0.0).to(tl.float32)
    y_z += tl.load(shares + at, mask=here, other=0.0, cache_modifier=".cg")
    y_r += tl.load(shares + n + at, mask=here, other=0.0, cache_modifier=".cg")
    s = tl.load(state + at, mask=here, other=0.0, cache_modifier=".cg").to(tl.float32)
    # a word at a time, each thread some units: nothing to share
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            word = first + more
            value = values + word * 3 * n + at
            known = here & (word < upto)
            weight = tl.load(alpha + word, mask=word < upto, other=0.0)
            y_z += weight * tl.load(value, mask=known, other=0.0, eviction_policy=STREAM).to(tl.float32)
            y_r += weight * tl.load(value + n, mask=known, other=0.0, eviction_policy=STREAM).to(tl.float32)
            y_c += weight * tl.load(value + 2 * n, mask=known, other=0.0, eviction_policy=STREAM).to(
                tl.float32
            )
    r = tl.sigmoid(y_r)
    element = gates.dtype.element_ty
    tl.store(gates + at, tl.sigmoid(y_z).to(element), mask=here)
    tl.store(gates + n + at, r.to(element), mask=here)
    tl.store(gated + at, (r * s).to(element), mask=here)
    tl.store(shares + 2 * n + at, y_c, mask=here)


@triton.jit(do_not_specialize=["first", "num_steps", "last_step", "B", "Tx", "da_t", "da_b"])
@no_type_check
def backward_steps(
    keys, values, v_a, W, W_a, W_c, gates, states, queries, alpha, d_states, ds_t, ds_b, d_alpha, da_t, da_b,
    d_gates, d_query, d_energy, d_state, counter, first, num_steps, last_step, B, Tx, n, a, width,
    STATES: tl.constexpr, ALPHA: tl.constexpr, PHASE: tl.constexpr,
    BM: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step last_step + 1 − first downwards: the reset; attention; the state before, the gates of the step below.

    Step last_step + 1 does not exist: phase 3 alone runs, and finds nothing but the loss. `d_state` (B, n) is ∂/∂s on
    its way down, and at the end ∂/∂s_0. W (n, 2n), W_a (n, a) and W_c (n, n) are the recurrent matrices transposed.
    """
    programs = tl.num_programs(0)
    tiles = tl.cdiv(B, BM) * (n // BU)
    met = 0
    long = tl.full([], 0, tl.int64)
    for step in range(first, first + num_steps):
        i = last_step + 1 - step
        t = long + i
        gate = t * B * 3 * n
        if i <= last_step:
            if PHASE == 0 or PHASE == 1:
                for tile in range(tl.program_id(0), tiles, programs):
                    reset_tile(
                        tile,
                        W_c,
                        gates + gate,
                        states + t * B * n,
                        d_gates + gate,
                        d_state,
                        B,
                        n,
                        BM,
                        BU,
                        BK,
                        STAGES,
                    )
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 2:
                for row in range(tl.program_id(0), B, programs):
                    de = d_energy + t * B * Tx
                    upto = back_weights(
                        row, values, d_gates + gate + row * 3 * n, alpha + t * B * Tx,
                        d_alpha + t * da_t + (long + row) * da_b, de, Tx, Tx, 3 * n,
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
            down = gate - B * 3 * n
            for tile in range(tl.program_id(0), tiles, programs):
                state_tile(
                    tile, i <= last_step, i > 0, W, d_gates + gate, W_a, d_query + t * B * a, a, gates + down,
                    states + (t - 1) * B * n, gates, 0, d_states + (t - 1) * ds_t, ds_b, d_gates + down, d_state,
                    B, n, width, STATES, False, True, BM, BU, BK, BL, STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
