"""Triton kernels of the self-attentive RNN's form ``read``: all steps in one launch each way.

As the LSTMN's, without memories: step t writes slot num_first + t of the tapes. With PHASE = 0 all phases of the steps
given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import meet, narrow_product, product
from regard.ops.tape.kernels import back_row, gather_read, gather_slot, query_tiles, read_row, read_tiles


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first"])
@no_type_check
def forward_steps(
    inputs, x_t, x_b, query_x, q_t, q_b, valid, real, keys, values, U, S, U_a, v_a, reads, queries, share, alpha,
    counter, first, num_steps, scale, T, B, slots, num_first, n, p,
    DOT: tl.constexpr, KEYED: tl.constexpr, PHASE: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BU: tl.constexpr,
    BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr,
    BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: read the tape; the state and the next query; the key.

    Without a matrix (not KEYED) the key is h_t, written with it.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        slot = num_first + i
        read = reads + t * B * n
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                read_row(
                    row, valid, keys, values, v_a, scale, queries + t * B * p, read, alpha + t * B * slots,
                    slots, slot, p, n, DOT, BJ, BT, BE, BD, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            state_tiles(
                inputs + t * x_t, x_b, read, U, values + (long + slot) * n, keys + (long + slot) * p, B, slots, n,
                KEYED, BM, BQ, BL, STAGES,
            )  # fmt: skip
            if i + 1 < T:
                query_tiles(
                    query_x + (t + 1) * q_t, q_b, real + t * B, read, n, S, share, queries + (t + 1) * B * p,
                    B, n, p, BM, BQ, BL, STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if KEYED:
            if PHASE == 0 or PHASE == 3:
                # U_a h_t
                h = values + (long + slot) * n
                narrow_product(
                    h, slots * n, U_a, keys + (long + slot) * p, slots * p, B, n, p, BM, BQ, BL, STAGES
                )
            if PHASE == 0:
                met += programs
                meet(counter, met)


@triton.jit
@no_type_check
def state_tiles(
    inputs, x_b, read, U, value, key, B, slots, n,
    KEYED: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of h_t = tanh(x + U s_t), in its slot."""
    row_tiles = tl.cdiv(B, BM)
    for tile in range(tl.program_id(0), row_tiles * (n // BQ), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        r = rows[:, None].to(tl.int64)
        acc = tl.load(inputs + r * x_b + units[None, :], mask=there, other=0.0).to(tl.float32)
        acc = product(acc, read, n, rows, rows < B, U, units, 0, n, n, BL, STAGES)
        h = (2 * tl.sigmoid(2 * acc) - 1).to(value.dtype.element_ty)
        at = r * slots * n + units[None, :]
        tl.store(value + at, h, mask=there)
        if not KEYED:
            tl.store(key + at, h, mask=there)


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first", "da_t", "da_b"])
@no_type_check
def backward_steps(
    real, keys, values, U, S, U_a, v_a, queries, alpha,
    d_states, dh_t, dh_b, d_summaries, ds_t, ds_b, d_new_keys, dk_t, dk_b, d_alpha, da_t, da_b,
    partial, d_inputs, d_query, d_key, d_reads, d_energy, d_slot, d_carried, counter,
    first, num_steps, scale, T, B, slots, num_first, n, p,
    STATES: tl.constexpr, SUMMARIES: tl.constexpr, KEYS: tl.constexpr, ALPHA: tl.constexpr, DOT: tl.constexpr,
    KEYED: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr, BM: tl.constexpr,
    BQ: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step t = T − 1 − first downwards: step t + 1's read goes back and slot t is gathered; h_t; what was read.

    Step −1 has but the first of these. `partial` (SPLIT + SHARE, B, n) holds ∂/∂s_t from h_t in SPLIT summands and from
    the next query in SHARE. U, S and U_a come transposed: (n, n), (n, p), (n, p).
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for step in range(first, first + num_steps):
        i = T - 1 - step
        t = long + i
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                r = long + row
                if i + 1 < T:
                    u = t + 1
                    d_read = d_reads + (r * T + u) * n
                    gather_read(
                        row, i + 2 < T, tl.load(real + u * B + row) != 0, partial, d_summaries + u * ds_t + r * ds_b,
                        d_read, d_carried, B, n, SUMMARIES, SPLIT, SHARE, BD,
                    )  # fmt: skip
                    back_row(
                        row, keys, values, v_a, scale, queries + u * B * p, alpha + u * B * slots,
                        d_alpha + u * da_t + r * da_b, d_read, d_energy + u * B * slots, d_query + u * B * p,
                        slots, num_first + i + 1, p, n, ALPHA, DOT, BJ, BT, BE, BA, QUICK, STREAM, ROW_STAGES,
                    )  # fmt: skip
                if i >= 0:
                    gather_slot(
                        row, i + 1, num_first + i, keys, v_a, scale, queries, alpha, d_reads, d_energy, d_slot,
                        d_key + t * B * p, d_new_keys + t * dk_t + r * dk_b, T, B, slots, p, n,
                        KEYS, DOT, BJ, BA, BD, QUICK,
                    )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if i >= 0:
            if PHASE == 0 or PHASE == 2:
                back_state_tiles(
                    U_a, values + (long + num_first + i) * n, d_states + t * dh_t, dh_b, d_slot, d_key + t * B * p,
                    d_inputs + t * B * n, B, slots, n, p, STATES, KEYED, BM, BQ, BL, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 3:
                read_tiles(
                    tl.program_id(0), d_inputs + t * B * n, n, n, d_query + (t + 1) * B * p, i + 1 < T,
                    U, S, partial, B, n, p, SPLIT, SHARE, BY, BX, BK, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)


@triton.jit
@no_type_check
def back_state_tiles(
    U_a, value, d_states, dh_b, d_slot, d_key, d_inputs, B, slots, n, p,
    STATES: tl.constexpr, KEYED: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_t = U_aᵀ δk_t + what was gathered, and through the tanh to δx."""
    row_tiles = tl.cdiv(B, BM)
    for tile in range(tl.program_id(0), row_tiles * (n // BQ), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        r = rows[:, None].to(tl.int64)
        unit = units[None, :]
        # loaded before the product, which hides the wait
        h = tl.load(value + r * slots * n + unit, mask=there, other=0.0).to(tl.float32)
        dh = tl.load(d_slot + r * n + unit, mask=there, other=0.0, cache_modifier=".cg")
        if STATES:
            dh += tl.load(d_states + r * dh_b + unit, mask=there, other=0.0).to(tl.float32)
        if not KEYED:
            dh += tl.load(d_key + r * p + unit, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        else:
            dh = product(dh, d_key, p, rows, rows < B, U_a, units, 0, p, p, BL, STAGES)
        tl.store(d_inputs + r * n + unit, (dh * (1 - h * h)).to(d_inputs.dtype.element_ty), mask=there)
