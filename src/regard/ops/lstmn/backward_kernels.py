"""Triton kernels of the LSTMN, backwards: all steps in one launch; additive energies or dot products.

Step t gathers what the steps after it took from its slot, num_first + t, so nothing is added up in memory on the way.
With PHASE = 0 all phases of the steps given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import meet, product
from regard.ops.tape.kernels import back_row, gather_read, gather_slot, read_tiles


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first", "da_t", "da_b"])
@no_type_check
def backward_steps(
    real, keys, written, U, S, U_a, v_a, reads, queries, alpha, gates,
    d_states, dh_t, dh_b, d_memories, dm_t, dm_b, d_summaries, ds_t, ds_b, d_new_keys, dk_t, dk_b, d_alpha, da_t, da_b,
    partial, d_gates, d_query, d_key, d_reads, d_energy, d_slot, d_carried, counter,
    first, num_steps, scale, T, B, slots, num_first, n, p,
    STATES: tl.constexpr, MEMORIES: tl.constexpr, SUMMARIES: tl.constexpr, KEYS: tl.constexpr, ALPHA: tl.constexpr,
    DOT: tl.constexpr, KEYED: tl.constexpr, TANH: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr,
    SHARE: tl.constexpr, BM: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr,
    BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr,
    QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step t = T − 1 − first downwards: step t + 1's read goes back and slot t is gathered; gates; what was read.

    Step −1 has but the first of these. `partial` (SPLIT + SHARE, B, n) holds ∂/∂s_t from the gates in SPLIT summands
    and from the next query in SHARE. U, S and U_a come transposed: (n, 4n), (n, p), (n, p).
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
                    d_read = d_reads + (r * T + u) * 2 * n
                    gather_read(
                        row, i + 2 < T, tl.load(real + u * B + row) != 0, partial, d_summaries + u * ds_t + r * ds_b,
                        d_read, d_carried, B, n, SUMMARIES, SPLIT, SHARE, BD // 2,
                    )  # fmt: skip
                    back_row(
                        row, keys, written, v_a, scale, queries + u * B * p, alpha + u * B * slots,
                        d_alpha + u * da_t + r * da_b, d_read, d_energy + u * B * slots, d_query + u * B * p,
                        slots, num_first + i + 1, p, 2 * n, ALPHA, DOT, BJ, BT, BE, BA, QUICK, STREAM, ROW_STAGES,
                    )  # fmt: skip
                if i >= 0:
                    gather_slot(
                        row, i + 1, num_first + i, keys, v_a, scale, queries, alpha, d_reads, d_energy, d_slot,
                        d_key + t * B * p, d_new_keys + t * dk_t + r * dk_b, T, B, slots, p, 2 * n,
                        KEYS, DOT, BJ, BA, BD, QUICK,
                    )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if i >= 0:
            if PHASE == 0 or PHASE == 2:
                state_tiles(
                    U_a, gates + t * B * 4 * n, reads + t * B * 2 * n + n, written + (long + num_first + i) * 2 * n + n,
                    d_states + t * dh_t, dh_b, d_memories + t * dm_t, dm_b, d_slot, d_key + t * B * p,
                    d_gates + t * B * 4 * n, d_reads + t * 2 * n + n, T, B, slots, n, p,
                    STATES, MEMORIES, KEYED, TANH, BM, BU, BL, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 3:
                read_tiles(
                    tl.program_id(0), d_gates + t * B * 4 * n, 4 * n, 4 * n, d_query + (t + 1) * B * p, i + 1 < T,
                    U, S, partial, B, n, p, SPLIT, SHARE, BY, BX, BK, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)


@triton.jit
@no_type_check
def state_tiles(
    U_a, gates, recalled, memory, d_states, dh_b, d_memories, dm_b, d_slot, d_key, d_gates, d_recalled,
    T, B, slots, n, p, STATES: tl.constexpr, MEMORIES: tl.constexpr, KEYED: tl.constexpr, TANH: tl.constexpr,
    BM: tl.constexpr, BU: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_t = U_aᵀ δk_t + what was gathered, and of the gates backwards, to ∂/∂c′_t."""
    row_tiles = tl.cdiv(B, BM)
    element = d_gates.dtype.element_ty
    for tile in range(tl.program_id(0), row_tiles * (n // BU), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BU + tl.arange(0, BU)
        there = (rows < B)[:, None]
        r = rows[:, None].to(tl.int64)
        unit = units[None, :]
        # loaded before the product, which hides the wait
        gate = r * 4 * n + unit
        i = tl.load(gates + gate, mask=there, other=0.0).to(tl.float32)
        f = tl.load(gates + gate + n, mask=there, other=0.0).to(tl.float32)
        g = tl.load(gates + gate + 2 * n, mask=there, other=0.0).to(tl.float32)
        o = tl.load(gates + gate + 3 * n, mask=there, other=0.0).to(tl.float32)
        before = tl.load(recalled + r * 2 * n + unit, mask=there, other=0.0).to(tl.float32)
        u = tl.load(memory + r * slots * 2 * n + unit, mask=there, other=0.0).to(tl.float32)
        dh = tl.load(d_slot + r * 2 * n + unit, mask=there, other=0.0, cache_modifier=".cg")
        dc = tl.load(d_slot + r * 2 * n + n + unit, mask=there, other=0.0, cache_modifier=".cg")
        if STATES:
            dh += tl.load(d_states + r * dh_b + unit, mask=there, other=0.0).to(tl.float32)
        if MEMORIES:
            dc += tl.load(d_memories + r * dm_b + unit, mask=there, other=0.0).to(tl.float32)
        if not KEYED:
            dh += tl.load(d_key + r * p + unit, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        else:
            dh = product(dh, d_key, p, rows, rows < B, U_a, units, 0, p, p, BL, STAGES)
        if TANH:
            u = 2 * tl.sigmoid(2 * u) - 1
            dc += dh * o * (1 - u * u)
        else:
            dc += dh * o
        tl.store(d_gates + gate, (dc * g * i * (1 - i)).to(element), mask=there)
        tl.store(d_gates + gate + n, (dc * before * f * (1 - f)).to(element), mask=there)
        tl.store(d_gates + gate + 2 * n, (dc * i * (1 - g * g)).to(element), mask=there)
        tl.store(d_gates + gate + 3 * n, (dh * u * o * (1 - o)).to(element), mask=there)
        tl.store(d_recalled + r * T * 2 * n + unit, (dc * f).to(element), mask=there)
