"""Triton kernels of deep fusion, backwards: all steps in one launch.

As the LSTMN's; what the source's tape receives is left to products after the steps. With PHASE = 0 all phases of the
steps given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import meet, product
from regard.ops.tape.kernels import back_row, gather_read, gather_slot, read_tiles


@triton.jit(
    do_not_specialize=[
        "first", "num_steps", "T", "B", "slots", "Tx", "num_first", "dp_t", "dp_b", "da_t", "da_b"
    ]
)  # fmt: skip
@no_type_check
def backward_steps(
    keys, written, source_keys, source, U, R, S, S_source, U_a, v_a, v_source, reads, fetches, queries, source_queries,
    alpha, source_alpha, gates, d_states, dh_t, dh_b, d_source_alpha, dp_t, dp_b, d_alpha, da_t, da_b,
    partial, source_partial, d_gates, d_query, d_source_query, d_key, d_reads, d_fetches, d_energy, d_source_energy,
    d_slot, nothing, counter, first, num_steps, scale, source_scale, T, B, slots, Tx, num_first, n, p,
    STATES: tl.constexpr, SOURCE: tl.constexpr, ALPHA: tl.constexpr, DOT: tl.constexpr, SOURCE_DOT: tl.constexpr,
    KEYED: tl.constexpr, TANH: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr,
    BM: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step t = T − 1 − first downwards: step t + 1's reads go back and slot t is gathered; gates; what was read.

    Step −1 has only the first of these. `partial` (SPLIT + SHARE, B, n) holds ∂/∂s_t from the gates in SPLIT summands
    and from the next query in SHARE, `source_partial` (2, B, n) ∂/∂γ̃_t in the same way. Nothing is passed on over
    padding: `nothing` (B, n) is 0. U, R, S, S_source and U_a come transposed: (n, 4n), (n, n), (n, p) each.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    for step in range(first, first + num_steps):
        i = T - 1 - step
        t = long + i
        u = t + 1
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                r = long + row
                if i + 1 < T:
                    d_read = d_reads + (r * T + u) * 2 * n
                    gather_read(
                        row, i + 2 < T, True, partial, partial, d_read, nothing, B, n, False, SPLIT, SHARE, BD // 2,
                    )  # fmt: skip
                    back_row(
                        row, keys, written, v_a, scale, queries + u * B * p, alpha + u * B * slots,
                        d_alpha + u * da_t + r * da_b, d_read, d_energy + u * B * slots, d_query + u * B * p,
                        slots, num_first + i + 1, p, 2 * n, ALPHA, DOT, BJ, BT, BE, BA, QUICK, STREAM, ROW_STAGES,
                    )  # fmt: skip
                if i >= 0:
                    gather_slot(
                        row, i + 1, num_first + i, keys, v_a, scale, queries, alpha, d_reads, d_energy, d_slot,
                        d_key + t * B * p, d_key, T, B, slots, p, 2 * n, False, DOT, BJ, BA, BD, QUICK,
                    )  # fmt: skip
            if i + 1 < T:
                # from the last program down, so that few have one row more than the others
                for row in range(programs - 1 - tl.program_id(0), B, programs):
                    r = long + row
                    d_fetch = d_fetches + (r * T + u) * 2 * n
                    gather_read(
                        row, i + 2 < T, True, source_partial, partial, d_fetch, nothing, B, n, False, 1, 1, BD // 2,
                    )  # fmt: skip
                    back_row(
                        row, source_keys, source, v_source, source_scale, source_queries + u * B * p,
                        source_alpha + u * B * Tx, d_source_alpha + u * dp_t + r * dp_b, d_fetch,
                        d_source_energy + u * B * Tx, d_source_query + u * B * p, Tx, Tx, p, 2 * n,
                        SOURCE, SOURCE_DOT, BJ, BT, BE, BA, QUICK, STREAM, ROW_STAGES,
                    )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if i >= 0:
            d_gate = d_gates + t * B * 5 * n
            if PHASE == 0 or PHASE == 2:
                recalled = t * B * 2 * n + n
                state_tiles(
                    U_a, gates + t * B * 5 * n, reads + recalled, fetches + recalled,
                    written + (long + num_first + i) * 2 * n + n, d_states + t * dh_t, dh_b, d_slot,
                    d_key + t * B * p, d_gate, d_reads + t * 2 * n + n, d_fetches + t * 2 * n + n, T, B, slots, n, p,
                    STATES, KEYED, TANH, BM, BU, BL, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 3:
                read_tiles(
                    tl.program_id(0), d_gate, 5 * n, 4 * n, d_query + u * B * p, i + 1 < T,
                    U, S, partial, B, n, p, SPLIT, SHARE, BY, BX, BK, STAGES,
                )  # fmt: skip
                read_tiles(
                    programs - 1 - tl.program_id(0), d_gate + 4 * n, 5 * n, n, d_source_query + u * B * p, i + 1 < T,
                    R, S_source, source_partial, B, n, p, 1, 1, BY, BX, BK, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)


@triton.jit
@no_type_check
def state_tiles(
    U_a, gates, recalled, fetched, memory, d_states, dh_b, d_slot, d_key, d_gates, d_recalled, d_fetched,
    T, B, slots, n, p, STATES: tl.constexpr, KEYED: tl.constexpr, TANH: tl.constexpr,
    BM: tl.constexpr, BU: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_t = U_aᵀ δk_t + what was gathered, and of the gates backwards, to ∂/∂(c′_t, α̃_t)."""
    row_tiles = tl.cdiv(B, BM)
    element = d_gates.dtype.element_ty
    for tile in range(tl.program_id(0), row_tiles * (n // BU), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        units = (tile // row_tiles) * BU + tl.arange(0, BU)
        there = (rows < B)[:, None]
        row = rows[:, None].to(tl.int64)
        unit = units[None, :]
        # loaded before the product, which hides the wait
        gate = row * 5 * n + unit
        i = tl.load(gates + gate, mask=there, other=0.0).to(tl.float32)
        f = tl.load(gates + gate + n, mask=there, other=0.0).to(tl.float32)
        g = tl.load(gates + gate + 2 * n, mask=there, other=0.0).to(tl.float32)
        o = tl.load(gates + gate + 3 * n, mask=there, other=0.0).to(tl.float32)
        r = tl.load(gates + gate + 4 * n, mask=there, other=0.0).to(tl.float32)
        before = tl.load(recalled + row * 2 * n + unit, mask=there, other=0.0).to(tl.float32)
        found = tl.load(fetched + row * 2 * n + unit, mask=there, other=0.0).to(tl.float32)
        u = tl.load(memory + row * slots * 2 * n + unit, mask=there, other=0.0).to(tl.float32)
        dh = tl.load(d_slot + row * 2 * n + unit, mask=there, other=0.0, cache_modifier=".cg")
        dc = tl.load(d_slot + row * 2 * n + n + unit, mask=there, other=0.0, cache_modifier=".cg")
        if STATES:
            dh += tl.load(d_states + row * dh_b + unit, mask=there, other=0.0).to(tl.float32)
        if not KEYED:
            dh += tl.load(d_key + row * p + unit, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
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
        tl.store(d_gates + gate + 4 * n, (dc * found * r * (1 - r)).to(element), mask=there)
        tl.store(d_recalled + row * T * 2 * n + unit, (dc * f).to(element), mask=there)
        tl.store(d_fetched + row * T * 2 * n + unit, (dc * r).to(element), mask=there)
