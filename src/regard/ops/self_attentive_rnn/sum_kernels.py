"""Triton kernels of the self-attentive RNN's forms ``sum`` and ``sum-keep`` (KEEP): all steps in one launch each way.

Step t writes slot num_first + t of the tapes and reads it, too. With PHASE = 0 all phases of the steps given run; with
another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import meet, narrow_product, product
from regard.ops.tape.kernels import back_row, gather_slot, read_row


@triton.jit(do_not_specialize=["first", "num_steps", "B", "slots", "num_first"])
@no_type_check
def forward_steps(
    inputs, x_t, x_b, valid, last, keys, values, U, S, U_a, v_a, states, reads, queries, alpha, counter,
    first, num_steps, scale, B, slots, num_first, n, p,
    KEEP: tl.constexpr, DOT: tl.constexpr, KEYED: tl.constexpr, QUERIED: tl.constexpr, PHASE: tl.constexpr,
    BM: tl.constexpr, BQ: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr,
    BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: the state; its key and query; read the tape.

    `states` and `reads` (T + 1, B, n) begin with h_0 and s_0; `last` (T, B) says in which of their rows, of all (T + 1)
    · B, the last real word before a step left its own. Without a matrix (not KEYED, not QUERIED) key or query is h_t,
    written with it.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for i in range(first, first + num_steps):
        t = long + i
        slot = num_first + i
        h = states + (t + 1) * B * n
        query = queries + t * B * p
        key = keys + (long + slot) * p
        if PHASE == 0 or PHASE == 1:
            state_tiles(
                inputs + t * x_t, x_b, last + t * B, reads, states, U, h, values + (long + slot) * n, key, query,
                B, slots, n, KEEP, KEYED, QUERIED, BM, BQ, BL, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if KEYED or QUERIED:
            if PHASE == 0 or PHASE == 2:
                if KEYED:
                    narrow_product(h, n, U_a, key, slots * p, B, n, p, BM, BQ, BL, STAGES)
                if QUERIED:
                    narrow_product(h, n, S, query, p, B, n, p, BM, BQ, BL, STAGES)
            if PHASE == 0:
                met += programs
                meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            for row in range(tl.program_id(0), B, programs):
                read_row(
                    row, valid, keys, values, v_a, scale, query, reads + (t + 1) * B * n, alpha + t * B * slots,
                    slots, slot + 1, p, n, DOT, BJ, BT, BE, BD, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def state_tiles(
    inputs, x_b, last, reads, states, U, out, value, key, query, B, slots, n,
    KEEP: tl.constexpr, KEYED: tl.constexpr, QUERIED: tl.constexpr, BM: tl.constexpr, BQ: tl.constexpr,
    BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of h_t = tanh(x + U s_{t−1}), or tanh(x + U [s_{t−1}; h_{t−1}])."""
    row_tiles = tl.cdiv(B, BM)
    for tile in range(tl.program_id(0), row_tiles * (n // BQ), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        r = rows[:, None].to(tl.int64)
        before = tl.load(last + rows, mask=rows < B, other=0)
        acc = tl.load(inputs + r * x_b + units[None, :], mask=there, other=0.0).to(tl.float32)
        if KEEP:
            acc = product(acc, reads, n, before, rows < B, U, units, 0, n, 2 * n, BL, STAGES)
            acc = product(acc, states, n, before, rows < B, U + n, units, 0, n, 2 * n, BL, STAGES)
        else:
            acc = product(acc, reads, n, before, rows < B, U, units, 0, n, n, BL, STAGES)
        h = (2 * tl.sigmoid(2 * acc) - 1).to(out.dtype.element_ty)
        at = r * n + units[None, :]
        tl.store(out + at, h, mask=there)
        tl.store(value + r * slots * n + units[None, :], h, mask=there)
        if not KEYED:
            tl.store(key + r * slots * n + units[None, :], h, mask=there)
        if not QUERIED:
            tl.store(query + at, h, mask=there)


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first", "da_t", "da_b"])
@no_type_check
def backward_steps(
    real, keys, values, U, S, U_a, v_a, queries, alpha,
    d_states, dh_t, dh_b, d_summaries, ds_t, ds_b, d_new_keys, dk_t, dk_b, d_alpha, da_t, da_b,
    partial, d_inputs, d_query, d_key, d_reads, d_energy, d_slot, d_kept, d_carried, counter,
    first, num_steps, scale, T, B, slots, num_first, n, p,
    STATES: tl.constexpr, SUMMARIES: tl.constexpr, KEYS: tl.constexpr, ALPHA: tl.constexpr, KEEP: tl.constexpr,
    DOT: tl.constexpr, KEYED: tl.constexpr, QUERIED: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr,
    BM: tl.constexpr, BQ: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr,
    BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr,
    QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step t = T − 1 − first downwards: its read goes back and its slot is gathered; h_t; what U met.

    `partial` (SPLIT, B, n or 2n) holds ∂/∂(what U met) in summands. U, S and U_a come transposed: (n or 2n, n), (n, p),
    (n, p).
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for step in range(first, first + num_steps):
        i = T - 1 - step
        t = long + i
        query = d_query + t * B * p
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                r = long + row
                d_read = d_reads + (r * T + t) * n
                gather_carried(
                    row, i + 1 < T, tl.load(real + t * B + row) != 0, partial, d_summaries + t * ds_t + r * ds_b,
                    d_read, d_kept, d_carried, B, n, SUMMARIES, KEEP, SPLIT, BD,
                )  # fmt: skip
                back_row(
                    row, keys, values, v_a, scale, queries + t * B * p, alpha + t * B * slots,
                    d_alpha + t * da_t + r * da_b, d_read, d_energy + t * B * slots, query,
                    slots, num_first + i + 1, p, n, ALPHA, DOT, BJ, BT, BE, BA, QUICK, STREAM, ROW_STAGES,
                )  # fmt: skip
                gather_slot(
                    row, i, num_first + i, keys, v_a, scale, queries, alpha, d_reads, d_energy, d_slot,
                    d_key + t * B * p, d_new_keys + t * dk_t + r * dk_b, T, B, slots, p, n,
                    KEYS, DOT, BJ, BA, BD, QUICK,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            back_state_tiles(
                U_a, S, values + (long + num_first + i) * n, d_states + t * dh_t, dh_b, d_slot, d_kept,
                d_key + t * B * p, query, d_inputs + t * B * n, B, slots, n, p,
                STATES, KEEP, KEYED, QUERIED, BM, BQ, BL, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            carry_tiles(d_inputs + t * B * n, U, partial, B, n, KEEP, SPLIT, BY, BX, BK, STAGES)
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def gather_carried(
    row, handed, word, partial, d_summaries, d_read, d_kept, d_carried, B, n,
    SUMMARIES: tl.constexpr, KEEP: tl.constexpr, SPLIT: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂s_t, and with KEEP ∂/∂h_t, as the state that the next step met; over padding they are handed down."""
    at = tl.arange(0, BN)
    there = at < n
    HALVES: tl.constexpr = 2 if KEEP else 1
    for half in tl.static_range(HALVES):
        place = (row * HALVES + half) * n + at
        owed = tl.load(d_carried + place, mask=there, other=0.0, cache_modifier=".cg")
        for part in tl.static_range(SPLIT):
            summand = partial + part * B * n * HALVES + place
            owed += tl.load(summand, mask=there & handed, other=0.0, cache_modifier=".cg")
        tl.store(d_carried + place, tl.where(word, 0.0, owed), mask=there)
        new = tl.where(word, owed, 0.0)
        if half == 1:
            tl.store(d_kept + row * n + at, new, mask=there)
        else:
            if SUMMARIES:
                new += tl.load(d_summaries + at, mask=there, other=0.0).to(tl.float32)
            tl.store(d_read + at, new.to(d_read.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def back_state_tiles(
    U_a, S, value, d_states, dh_b, d_slot, d_kept, d_key, d_query, d_inputs, B, slots, n, p,
    STATES: tl.constexpr, KEEP: tl.constexpr, KEYED: tl.constexpr, QUERIED: tl.constexpr, BM: tl.constexpr,
    BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_t = U_aᵀ δk_t + Sᵀ δq_t + what was gathered, and through the tanh to δx."""
    row_tiles = tl.cdiv(B, BM)
    for tile in range(tl.program_id(0), row_tiles * (n // BQ), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        r = rows[:, None].to(tl.int64)
        at = r * n + units[None, :]
        # loaded before the products, which hide the wait
        h = tl.load(value + r * slots * n + units[None, :], mask=there, other=0.0).to(tl.float32)
        dh = tl.load(d_slot + at, mask=there, other=0.0, cache_modifier=".cg")
        if STATES:
            dh += tl.load(d_states + r * dh_b + units[None, :], mask=there, other=0.0).to(tl.float32)
        if KEEP:
            dh += tl.load(d_kept + at, mask=there, other=0.0, cache_modifier=".cg")
        if KEYED:
            dh = product(dh, d_key, p, rows, rows < B, U_a, units, 0, p, p, BL, STAGES)
        else:
            dh += tl.load(d_key + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        if QUERIED:
            dh = product(dh, d_query, p, rows, rows < B, S, units, 0, p, p, BL, STAGES)
        else:
            dh += tl.load(d_query + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        tl.store(d_inputs + at, (dh * (1 - h * h)).to(d_inputs.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def carry_tiles(
    d_inputs, U, partial, B, n,
    KEEP: tl.constexpr, SPLIT: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BK: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂(what U met) = Uᵀ δx, in SPLIT summands."""
    width = n * 2 if KEEP else n
    tall = tl.cdiv(B, BY)
    tiles = tall * (width // BX)
    length = tl.cdiv(n // BK, SPLIT) * BK
    for item in range(tl.program_id(0), tiles * SPLIT, tl.num_programs(0)):
        tile = item % tiles
        lo = (item // tiles) * length
        rows = (tile % tall) * BY + tl.arange(0, BY)
        columns = (tile // tall) * BX + tl.arange(0, BX)
        acc = tl.zeros([BY, BX], tl.float32)
        hi = tl.minimum(lo + length, n)
        acc = product(acc, d_inputs, n, rows, rows < B, U, columns, lo, hi, n, BK, STAGES)
        out = partial + ((item // tiles) * B + rows[:, None]) * width + columns[None, :]
        tl.store(out, acc, mask=(rows < B)[:, None])
