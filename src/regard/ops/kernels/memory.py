"""Triton kernels' attention to a `Memory`: one program reads one sentence's row, forwards or back.

Energies are additive or, without v_a, dot products: e_j = scale · qᵀ k_j. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.parts import squash


@triton.jit
@no_type_check
def weigh_row(row, query, mask, alpha, upto, memory, slots, p, TILES: tl.constexpr):
    """One row: energies of its first `upto` slots by its `query`, and alpha over the real ones (over none, 0).

    Returns how many slots there are up to the last real one.
    """
    BE: tl.constexpr = TILES.BE
    BT: tl.constexpr = TILES.BT
    base = (tl.full([], 0, tl.int64) + row) * slots
    j = tl.arange(0, BT)
    there = j < upto
    word = tl.load(mask + base + j, mask=there, other=0) != 0
    # all slots at once, BE units at a time
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, p, BE, num_stages=TILES.row_stages):
        at = first + tl.arange(0, BE)
        key = tl.load(
            memory.keys + (base + j)[:, None] * p + at[None, :], mask=there[:, None] & (at < p)[None, :], other=0.0,
            cache_modifier=".cg",
        ).to(tl.float32)  # fmt: skip
        q = tl.load(query + at, mask=at < p, other=0.0, cache_modifier=".cg").to(tl.float32)
        if memory.v_a is None:
            acc += key * q[None, :]
        else:
            v = tl.load(memory.v_a + at, mask=at < p, other=0.0).to(tl.float32)
            acc += squash(key + q[None, :], TILES.quick) * v[None, :]
    energies = tl.sum(acc, 1)
    if memory.v_a is None:
        energies *= memory.scale
    energies = tl.where(word, energies, float("-inf"))
    largest = tl.max(energies, 0)
    weight = tl.exp(energies - tl.where(largest == float("-inf"), 0.0, largest))
    total = tl.sum(weight, 0)
    weight = weight / tl.where(total == 0, 1.0, total)
    tl.store(alpha + base + j, weight, mask=j < slots)
    tl.debug_barrier()
    return tl.max(tl.where(word, j + 1, 0), 0)


@triton.jit
@no_type_check
def add_contents(out, row, alpha, upto, memory, slots, d, TILES: tl.constexpr):
    """One row: Σ_j α_j v_j (d,) over the first `upto` slots, added to `out`."""
    base = (tl.full([], 0, tl.int64) + row) * slots
    at = tl.arange(0, TILES.BD)
    BJ: tl.constexpr = TILES.BJ
    # a slot at a time, each thread some units: nothing to share
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            slot = first + more
            value = tl.load(
                memory.contents + (base + slot) * d + at, mask=(at < d) & (slot < upto), other=0.0,
                cache_modifier=".cg" if TILES.stream == "" else "", eviction_policy=TILES.stream,
            )  # fmt: skip
            out += tl.load(alpha + base + slot, mask=slot < upto, other=0.0) * value.to(tl.float32)
    return out


@triton.jit
@no_type_check
def read_row(row, t, upto, read, memory, B, slots, p, d, TILES: tl.constexpr):
    """One row of step t: alpha over its first `upto` slots, and what is read, to `read` (B, d)."""
    BD: tl.constexpr = TILES.BD
    alpha = memory.alpha + t * B * slots
    query = memory.queries + (t * B + row) * p
    mask = memory.mask
    if memory.spans is not None:
        mask += t * B * slots
    upto = weigh_row(row, query, mask, alpha, upto, memory, slots, p, TILES)
    at = tl.arange(0, BD)
    out = tl.zeros([BD], tl.float32)
    out = add_contents(out, row, alpha, upto, memory, slots, d, TILES)
    tl.store(read + row * d + at, out.to(read.dtype.element_ty), mask=at < d)


@triton.jit
@no_type_check
def back_weights(row, d_read, alpha, d_alpha, d_energy, upto, memory, slots, d, TILES: tl.constexpr):
    """One row: ∂/∂(what was read) (d,), in memory → ∂/∂alpha → ∂/∂energies, 0 where alpha is.

    `d_alpha` is the row's own, or None. Returns how many slots there are up to the last that was looked at.
    """
    BE: tl.constexpr = TILES.BE
    BT: tl.constexpr = TILES.BT
    base = (tl.full([], 0, tl.int64) + row) * slots
    j = tl.arange(0, BT)
    weight = tl.load(alpha + base + j, mask=j < upto, other=0.0)
    upto = tl.max(tl.where(weight > 0, j + 1, 0), 0)
    there = j < upto
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, d, BE, num_stages=TILES.row_stages):
        at = first + tl.arange(0, BE)
        value = tl.load(
            memory.contents + (base + j)[:, None] * d + at[None, :], mask=there[:, None] & (at < d)[None, :],
            other=0.0, eviction_policy=TILES.stream,
        )  # fmt: skip
        back = tl.load(d_read + at, mask=at < d, other=0.0, cache_modifier=".cg").to(tl.float32)
        acc += value.to(tl.float32) * back[None, :]
    da = tl.sum(acc, 1)
    if d_alpha is not None:
        da += tl.load(d_alpha + j, mask=there, other=0.0).to(tl.float32)
    de = weight * (da - tl.sum(weight * da, 0))
    tl.store(d_energy + base + j, de, mask=j < slots)
    return upto


@triton.jit
@no_type_check
def back_query(row, query, d_energy, d_query, upto, memory, slots, p, TILES: tl.constexpr):
    """One row: ∂/∂energies, in memory → ∂/∂query (p,)."""
    BA: tl.constexpr = TILES.BA
    base = (tl.full([], 0, tl.int64) + row) * slots
    at = tl.arange(0, BA)
    BJ: tl.constexpr = TILES.BJ
    dq = tl.zeros([BA], tl.float32)
    if memory.v_a is not None:
        q = tl.load(query + at, mask=at < p, other=0.0).to(tl.float32)
        v = tl.load(memory.v_a + at, mask=at < p, other=0.0).to(tl.float32)
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            slot = first + more
            key = tl.load(
                memory.keys + (base + slot) * p + at, mask=(at < p) & (slot < upto), other=0.0,
                eviction_policy=TILES.stream,
            ).to(tl.float32)  # fmt: skip
            de = tl.load(d_energy + base + slot, mask=slot < upto, other=0.0)
            if memory.v_a is None:
                dq += de * key
            else:
                u = squash(key + q, TILES.quick)
                dq += de * (1 - u * u)
    if memory.v_a is None:
        dq *= memory.scale
    else:
        dq *= v
    tl.store(d_query + at, dq.to(memory.keys.dtype.element_ty), mask=at < p)


@triton.jit
@no_type_check
def back_row(
    row, t, d_read, query, d_query, upto, memory, grads, d_alpha, B, slots, p, d, TILES: tl.constexpr
):  # fmt: skip
    """One row of step t: ∂/∂(what was read) (d,), in memory → ∂/∂energies → ∂/∂query (p,)."""
    d_energy = grads.energy + t * B * slots
    given = None if d_alpha is None else d_alpha + (t * B + row) * slots
    tl.debug_barrier()
    upto = back_weights(
        row, d_read, memory.alpha + t * B * slots, given, d_energy, upto, memory, slots, d, TILES
    )
    tl.debug_barrier()
    back_query(row, query, d_energy, d_query, upto, memory, slots, p, TILES)
    tl.debug_barrier()


@triton.jit(do_not_specialize=["num_steps", "B", "Tx"])
@no_type_check
def gather_keys(
    keys, queries, d_energy, v_a, d_keys, d_v, num_steps, B, Tx, a,
    BT: tl.constexpr, BA: tl.constexpr, QUICK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """∂/∂keys (B, Tx, a) and each sentence's share of ∂/∂v_a (B, a), the tanh of every pair computed again."""
    row = tl.program_id(0)
    j = tl.arange(0, BT)
    there = j < Tx
    at = tl.program_id(1) * BA + tl.arange(0, BA)
    place = (row.to(tl.int64) * Tx + j)[:, None] * a + at[None, :]
    key = tl.load(keys + place, mask=there[:, None], other=0.0).to(tl.float32)
    dk = tl.zeros([BT, BA], tl.float32)
    dv = tl.zeros([BT, BA], tl.float32)
    for i in tl.range(0, num_steps, num_stages=STAGES):
        t = (tl.full([], 0, tl.int64) + i) * B + row
        q = tl.load(queries + t * a + at).to(tl.float32)
        de = tl.load(d_energy + t * Tx + j, mask=there, other=0.0)
        u = squash(key + q[None, :], QUICK)
        through = de[:, None] * u
        dv += through
        dk += de[:, None] - through * u
    v = tl.load(v_a + at).to(tl.float32)
    tl.store(d_keys + place, (dk * v[None, :]).to(d_keys.dtype.element_ty), mask=there[:, None])
    tl.store(d_v + row * a + at, tl.sum(dv, 0))
