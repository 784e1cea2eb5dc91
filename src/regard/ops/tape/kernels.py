"""What the recurrences with a tape share when they run as Triton kernels: a row read, a row back, a slot gathered.

Energies are additive or dot products (DOT), e_i = scale · qᵀ k_i. Nothing is added up in memory on the backward pass: a
slot, when its turn comes, gathers what later steps took from it. How programs share the work and meet is in
`ops/kernels/parts`. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import attend_row, back_query, back_weights, product, squash


@triton.jit
@no_type_check
def read_row(
    row, mask, keys, values, v_a, scale, query, read, alpha, slots, upto, p, d,
    DOT: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
    STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row: energies of its first `upto` slots, alpha over the real ones (over none, 0), what is read (d,)."""
    if DOT:
        dot_row(
            row, mask, keys, values, scale, query, read, alpha, slots, upto, p, d, BJ, BT, BE, BD, STREAM, STAGES
        )  # fmt: skip
    else:
        attend_row(
            row, mask, keys, values, v_a, query, read, alpha, slots, upto, p, d, BJ, BT, BE, BD, QUICK, STREAM, STAGES
        )  # fmt: skip


@triton.jit
@no_type_check
def dot_row(
    row, mask, keys, values, scale, query, read, alpha, slots, upto, p, d,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BD: tl.constexpr, STREAM: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """As `attend_row` of `ops/kernels/parts`, with dot products."""
    base = (tl.full([], 0, tl.int64) + row) * slots
    j = tl.arange(0, BT)
    there = j < upto
    word = tl.load(mask + base + j, mask=there, other=0) != 0
    # all slots at once, BE units at a time
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, p, BE, num_stages=STAGES):
        at = first + tl.arange(0, BE)
        key = tl.load(
            keys + (base + j)[:, None] * p + at[None, :], mask=there[:, None] & (at < p)[None, :], other=0.0,
            cache_modifier=".cg",
        )  # fmt: skip
        q = tl.load(query + row * p + at, mask=at < p, other=0.0, cache_modifier=".cg").to(tl.float32)
        acc += key.to(tl.float32) * q[None, :]
    energies = tl.where(word, scale * tl.sum(acc, 1), float("-inf"))
    largest = tl.max(energies, 0)
    weight = tl.exp(energies - tl.where(largest == float("-inf"), 0.0, largest))
    total = tl.sum(weight, 0)
    weight = weight / tl.where(total == 0, 1.0, total)
    tl.store(alpha + base + j, weight, mask=j < slots)
    tl.debug_barrier()
    # a slot at a time, each thread some units: nothing to share
    at = tl.arange(0, BD)
    out = tl.zeros([BD], tl.float32)
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            slot = first + more
            value = tl.load(
                values + (base + slot) * d + at, mask=(at < d) & (slot < upto), other=0.0,
                cache_modifier=".cg" if STREAM == "" else "", eviction_policy=STREAM,
            )  # fmt: skip
            out += tl.load(alpha + base + slot, mask=slot < upto, other=0.0) * value.to(tl.float32)
    tl.store(read + row * d + at, out.to(values.dtype.element_ty), mask=at < d)


@triton.jit
@no_type_check
def query_tiles(
    projected, p_b, real, read, r_b, S, share, query, B, n, p,
    BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of the next query P x_{t+1} + S s_t; over padding, with the s before it."""
    row_tiles = tl.cdiv(B, BM)
    programs = tl.num_programs(0)
    # from the last program down, since the first have most of the gates
    for tile in range(programs - 1 - tl.program_id(0), row_tiles * (p // BQ), programs):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        columns = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        there = (rows < B)[:, None]
        at = rows[:, None] * p + columns[None, :]
        x = projected + rows[:, None].to(tl.int64) * p_b + columns[None, :]
        own = tl.load(x, mask=there, other=0.0)
        word = tl.load(real + rows, mask=rows < B, other=0) != 0
        old = tl.load(share + at, mask=there, other=0.0, cache_modifier=".cg")
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(acc, read, r_b, rows, rows < B, S, columns, 0, n, n, BL, STAGES)
        acc = tl.where(word[:, None], acc, old)
        tl.store(share + at, acc, mask=there)
        tl.store(query + at, (acc + own).to(query.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def gather_read(
    row, handed, word, partial, d_summaries, out, d_carried, B, n,
    SUMMARIES: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂s_t from its summands; `handed`: whether a step follows; `word`: whether this is a real word.

    The gradient of s_t from later steps is added only at a real word; over padding it is passed on.
    """
    at = tl.arange(0, BN)
    there = at < n
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
def back_row(
    row, keys, values, v_a, scale, query, alpha, d_alpha, d_read, d_energy, d_query, slots, upto, p, d,
    ALPHA: tl.constexpr, DOT: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr,
    QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂(what was read) (d,), in memory → ∂/∂energies → ∂/∂query (p,)."""
    tl.debug_barrier()
    back_weights(row, values, d_read, alpha, d_alpha, d_energy, slots, upto, d, ALPHA, BT, BE, STREAM, STAGES)
    tl.debug_barrier()
    if DOT:
        base = (tl.full([], 0, tl.int64) + row) * slots
        at = tl.arange(0, BA)
        dq = tl.zeros([BA], tl.float32)
        for first in range(0, upto, BJ):
            for more in tl.static_range(BJ):
                slot = first + more
                place = keys + (base + slot) * p + at
                key = tl.load(place, mask=(at < p) & (slot < upto), other=0.0, eviction_policy=STREAM)
                dq += tl.load(d_energy + base + slot, mask=slot < upto, other=0.0) * key.to(tl.float32)
        tl.store(d_query + row * p + at, (scale * dq).to(keys.dtype.element_ty), mask=at < p)
    else:
        back_query(row, keys, query, v_a, d_energy, d_query, slots, upto, p, BJ, BA, QUICK, STREAM)
    tl.debug_barrier()


@triton.jit
@no_type_check
def gather_slot(
    row, after, slot, keys, v_a, scale, queries, alpha, d_reads, d_energy, d_slot, d_key, d_new_keys,
    T, B, slots, p, d,
    KEYS: tl.constexpr, DOT: tl.constexpr, BJ: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """One row: what the steps from `after` on took from a slot: ∂/∂value (d,) without the key's share, ∂/∂key (p,)."""
    long = tl.full([], 0, tl.int64)
    r = long + row
    in_a, in_d = tl.arange(0, BA), tl.arange(0, BD)
    out = tl.zeros([BD], tl.float32)
    for first in range(after, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            weight = tl.load(alpha + ((long + step) * B + row) * slots + slot, mask=step < T, other=0.0)
            taken = tl.load(
                d_reads + (r * T + step) * d + in_d, mask=(in_d < d) & (step < T), other=0.0,
                cache_modifier=".cg",
            )  # fmt: skip
            out += weight * taken.to(tl.float32)
    tl.store(d_slot + r * d + in_d, out, mask=in_d < d)
    key = tl.zeros([BA], tl.float32)
    if not DOT:
        key += tl.load(keys + (r * slots + slot) * p + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    dk = tl.zeros([BA], tl.float32)
    for first in range(after, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            place = (long + step) * B + row
            de = tl.load(d_energy + place * slots + slot, mask=step < T, other=0.0, cache_modifier=".cg")
            asked = tl.load(queries + place * p + in_a, mask=(in_a < p) & (step < T), other=0.0)
            query = asked.to(tl.float32)
            if DOT:
                dk += de * query
            else:
                u = squash(query + key, QUICK)
                dk += de * (1 - u * u)
    if DOT:
        dk *= scale
    else:
        dk *= tl.load(v_a + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    if KEYS:
        dk += tl.load(d_new_keys + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    tl.store(d_key + r * p + in_a, dk.to(keys.dtype.element_ty), mask=in_a < p)


@triton.jit
@no_type_check
def read_tiles(
    start, d_gates, g_b, K, d_query, handed, U, S, partial, B, n, p,
    SPLIT: tl.constexpr, SHARE: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BK: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """The share of ∂/∂s_t that falls to `start`: Uᵀ δx in SPLIT summands, and where a step follows, Sᵀ δq in SHARE.

    U and S come transposed: (n, K), (n, p); δx has rows of K, g_b apart.
    """
    tall = tl.cdiv(B, BY)
    tiles = tall * (n // BX)
    length = tl.cdiv(K // BK, SPLIT) * BK
    shared = tl.cdiv(p // BK, SHARE) * BK
    parts = SPLIT + tl.where(handed, SHARE, 0)
    for item in range(start, tiles * parts, tl.num_programs(0)):
        tile = item % tiles
        part = item // tiles
        rows = (tile % tall) * BY + tl.arange(0, BY)
        columns = (tile // tall) * BX + tl.arange(0, BX)
        acc = tl.zeros([BY, BX], tl.float32)
        if part < SPLIT:
            lo = part * length
            hi = tl.minimum(lo + length, K)
            acc = product(acc, d_gates, g_b, rows, rows < B, U, columns, lo, hi, K, BK, STAGES)
        else:
            lo = (part - SPLIT) * shared
            hi = tl.minimum(lo + shared, p)
            acc = product(acc, d_query, p, rows, rows < B, S, columns, lo, hi, p, BK, STAGES)
        out = partial + (part * B + rows[:, None]) * n + columns[None, :]
        tl.store(out, acc, mask=(rows < B)[:, None])
