"""Triton kernels of the LSTMN, backwards: all steps in one launch; additive energies.

Step t gathers what the steps after it took from its slot, num_first + t, so nothing is added up in memory on the way.
With PHASE = 0 all phases of the steps given run; with another value only that one. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import back_query, back_weights, meet, product, squash


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_first", "da_t", "da_b"])
@no_type_check
def backward_steps(
    real, keys, written, U, S, U_a, v_a, reads, queries, alpha, gates,
    d_states, dh_t, dh_b, d_memories, dm_t, dm_b, d_summaries, ds_t, ds_b, d_new_keys, dk_t, dk_b, d_alpha, da_t, da_b,
    partial, d_gates, d_query, d_key, d_reads, d_energy, d_slot, d_carried, counter,
    first, num_steps, T, B, slots, num_first, n, p,
    STATES: tl.constexpr, MEMORIES: tl.constexpr, SUMMARIES: tl.constexpr, KEYS: tl.constexpr, ALPHA: tl.constexpr,
    TANH: tl.constexpr, PHASE: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr, BM: tl.constexpr,
    BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr,
    BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
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
                    de = d_energy + u * B * slots
                    gather_read(
                        row, u, i + 2 < T, real, partial, d_summaries + u * ds_t + r * ds_b, d_read, d_carried, B, n,
                        SUMMARIES, SPLIT, SHARE, BD // 2,
                    )  # fmt: skip
                    tl.debug_barrier()
                    back_weights(
                        row, written, d_read, alpha + u * B * slots, d_alpha + u * da_t + r * da_b, de,
                        slots, num_first + i + 1, 2 * n, ALPHA, BT, BE, STREAM, ROW_STAGES,
                    )  # fmt: skip
                    tl.debug_barrier()
                    back_query(
                        row, keys, queries + u * B * p, v_a, de, d_query + u * B * p, slots, num_first + i + 1, p,
                        BJ, BA, QUICK, STREAM,
                    )  # fmt: skip
                    tl.debug_barrier()
                if i >= 0:
                    gather_slot(
                        row, i, keys, v_a, queries, alpha, d_reads, d_energy, d_slot, d_key + t * B * p,
                        d_new_keys + t * dk_t + r * dk_b, T, B, slots, num_first + i, n, p, KEYS, BJ, BA, BD, QUICK,
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
                    STATES, MEMORIES, TANH, BM, BU, BL, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)
            if PHASE == 0 or PHASE == 3:
                read_tiles(
                    d_gates + t * B * 4 * n, d_query + (t + 1) * B * p, i + 1 < T, U, S, partial, B, n, p,
                    SPLIT, SHARE, BY, BX, BK, STAGES,
                )  # fmt: skip
            if PHASE == 0:
                met += programs
                meet(counter, met)


@triton.jit
@no_type_check
def gather_read(
    row, t, handed, real, partial, d_summaries, out, d_carried, B, n,
    SUMMARIES: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂s_t from its summands; `handed`: whether a step follows.

    What s_t owes as the state to later steps it owes only at a real word; over padding that is handed down.
    """
    at = tl.arange(0, BN)
    there = at < n
    word = tl.load(real + t * B + row) != 0
    place = partial + row * n + at
    owed = tl.load(d_carried + row * n + at, mask=there, other=0.0, cache_modifier=".cg")
    for part in tl.static_range(SPLIT, SPLIT + SHARE):
        owed += tl.load(place + part * B * n, mask=there & handed, other=0.0, cache_modifier=".cg")
    if SUMMARIES:
        owed += tl.load(d_summaries + at, mask=there, other=0.0).to(tl.float32)
    tl.store(d_carried + row * n + at, tl.where(word, 0.0, owed), mask=there)
    ds = tl.where(word, owed, 0.0)
    for part in tl.static_range(SPLIT):
        ds += tl.load(place + part * B * n, mask=there, other=0.0, cache_modifier=".cg")
    tl.store(out + at, ds.to(out.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def gather_slot(
    row, i, keys, v_a, queries, alpha, d_reads, d_energy, d_slot, d_key, d_new_keys, T, B, slots, slot, n, p,
    KEYS: tl.constexpr, BJ: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """One row: what the steps after i took from its slot, ∂/∂[h, c] (2n) without the key's share, and ∂/∂key (p)."""
    long = tl.full([], 0, tl.int64)
    r = long + row
    in_a, in_d = tl.arange(0, BA), tl.arange(0, BD)
    out = tl.zeros([BD], tl.float32)
    for first in range(i + 1, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            weight = tl.load(alpha + ((long + step) * B + row) * slots + slot, mask=step < T, other=0.0)
            taken = tl.load(
                d_reads + (r * T + step) * 2 * n + in_d, mask=(in_d < 2 * n) & (step < T), other=0.0,
                cache_modifier=".cg",
            )  # fmt: skip
            out += weight * taken.to(tl.float32)
    tl.store(d_slot + r * 2 * n + in_d, out, mask=in_d < 2 * n)
    key = tl.load(keys + (r * slots + slot) * p + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    v = tl.load(v_a + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    dk = tl.zeros([BA], tl.float32)
    for first in range(i + 1, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            place = (long + step) * B + row
            de = tl.load(d_energy + place * slots + slot, mask=step < T, other=0.0, cache_modifier=".cg")
            query = tl.load(queries + place * p + in_a, mask=(in_a < p) & (step < T), other=0.0)
            u = squash(query.to(tl.float32) + key, QUICK)
            dk += de * (1 - u * u)
    dk *= v
    if KEYS:
        dk += tl.load(d_new_keys + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    tl.store(d_key + r * p + in_a, dk.to(keys.dtype.element_ty), mask=in_a < p)


@triton.jit
@no_type_check
def state_tiles(
    U_a, gates, recalled, memory, d_states, dh_b, d_memories, dm_b, d_slot, d_key, d_gates, d_recalled,
    T, B, slots, n, p, STATES: tl.constexpr, MEMORIES: tl.constexpr, TANH: tl.constexpr, BM: tl.constexpr,
    BU: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
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


@triton.jit
@no_type_check
def read_tiles(
    d_gates, d_query, handed, U, S, partial, B, n, p,
    SPLIT: tl.constexpr, SHARE: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BK: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂s_t: Uᵀ δx in SPLIT summands, and where a step follows, Sᵀ δq in SHARE."""
    tall = tl.cdiv(B, BY)
    tiles = tall * (n // BX)
    length = tl.cdiv(4 * n // BK, SPLIT) * BK
    shared = tl.cdiv(p // BK, SHARE) * BK
    parts = SPLIT + tl.where(handed, SHARE, 0)
    for item in range(tl.program_id(0), tiles * parts, tl.num_programs(0)):
        tile = item % tiles
        part = item // tiles
        rows = (tile % tall) * BY + tl.arange(0, BY)
        columns = (tile // tall) * BX + tl.arange(0, BX)
        acc = tl.zeros([BY, BX], tl.float32)
        if part < SPLIT:
            lo = part * length
            hi = tl.minimum(lo + length, 4 * n)
            acc = product(acc, d_gates, 4 * n, rows, rows < B, U, columns, lo, hi, 4 * n, BK, STAGES)
        else:
            lo = (part - SPLIT) * shared
            hi = tl.minimum(lo + shared, p)
            acc = product(acc, d_query, p, rows, rows < B, S, columns, lo, hi, p, BK, STAGES)
        out = partial + (part * B + rows[:, None]) * n + columns[None, :]
        tl.store(out, acc, mask=(rows < B)[:, None])
