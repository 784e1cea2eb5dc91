"""Parts of the recurrences' Triton kernels: grid barrier, a product's tile, attention over one row, gathering of keys.

A recurrence runs all its steps in one launch with as many programs as the GPU has multiprocessors. A step has phases,
with a grid barrier (a counter in memory) after each; what another program wrote is loaded past the first cache
(``.cg``). Imported only if Triton is installed.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def meet(counter, target):
    """Grid barrier: wait until the counter has reached `target`, the arrivals of all programs so far."""
    tl.debug_barrier()
    tl.atomic_add(counter, 1, sem="release", scope="gpu")
    seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    while seen < target:
        seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    tl.debug_barrier()


@triton.jit
@no_type_check
def squash(x, QUICK: tl.constexpr):
    """tanh: by an exponential, or by the processor's own approximations in float32 (1) or bfloat16 (2)."""
    if QUICK == 2:
        return tl.inline_asm_elementwise(
            "tanh.approx.bf16x2 $0, $1;", "=r,r", [x.to(tl.bfloat16)], dtype=tl.bfloat16, is_pure=True, pack=2
        ).to(tl.float32)
    elif QUICK == 1:  # noqa: RET505 (a branch of the compiler's, which has one return each)
        return tl.inline_asm_elementwise(
            "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
@no_type_check
def product(
    acc, x, row_stride, rows, real, w, columns, first, last, K, BK: tl.constexpr, STAGES: tl.constexpr
):
    """Add x wᵀ to `acc`, for some rows of x and of w (·, K), over the inner indices first … last − 1."""
    for k in tl.range(first, last, BK, num_stages=STAGES):
        inner = k + tl.arange(0, BK)
        a = tl.load(
            x + rows[:, None] * row_stride + inner[None, :],
            mask=real[:, None],
            other=0.0,
            cache_modifier=".cg",
        )
        b = tl.load(w + columns[None, :] * K + inner[:, None])
        acc = tl.dot(a, b, acc, input_precision="tf32")
    return acc


@triton.jit
@no_type_check
def narrow_product(
    x, row_stride, w, out, out_stride, B, K, N,
    BM: tl.constexpr, BQ: tl.constexpr, BL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """This program's share of out = x wᵀ, for x of B rows and w (N, K)."""
    row_tiles = tl.cdiv(B, BM)
    for tile in range(tl.program_id(0), row_tiles * (N // BQ), tl.num_programs(0)):
        rows = (tile % row_tiles) * BM + tl.arange(0, BM)
        columns = (tile // row_tiles) * BQ + tl.arange(0, BQ)
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(acc, x, row_stride, rows, rows < B, w, columns, 0, K, K, BL, STAGES)
        place = out + rows[:, None].to(tl.int64) * out_stride + columns[None, :]
        tl.store(place, acc.to(out.dtype.element_ty), mask=(rows < B)[:, None])


@triton.jit
@no_type_check
def weigh_row(
    row, mask, keys, v_a, query, alpha, slots, upto, a,
    BT: tl.constexpr, BE: tl.constexpr, QUICK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row: energies of its first `upto` slots, and alpha over the real ones (over none, 0).

    Returns how many slots there are up to the last real one.
    """
    base = (tl.full([], 0, tl.int64) + row) * slots
    j = tl.arange(0, BT)
    there = j < upto
    word = tl.load(mask + base + j, mask=there, other=0) != 0
    # all slots at once, BE alignment units at a time
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, a, BE, num_stages=STAGES):
        at = first + tl.arange(0, BE)
        key = tl.load(
            keys + (base + j)[:, None] * a + at[None, :], mask=there[:, None] & (at < a)[None, :], other=0.0,
            cache_modifier=".cg",
        )  # fmt: skip
        q = tl.load(query + row * a + at, mask=at < a, other=0.0, cache_modifier=".cg").to(tl.float32)
        v = tl.load(v_a + at, mask=at < a, other=0.0).to(tl.float32)
        acc += squash(key.to(tl.float32) + q[None, :], QUICK) * v[None, :]
    energies = tl.where(word, tl.sum(acc, 1), float("-inf"))
    largest = tl.max(energies, 0)
    weight = tl.exp(energies - tl.where(largest == float("-inf"), 0.0, largest))
    total = tl.sum(weight, 0)
    weight = weight / tl.where(total == 0, 1.0, total)
    tl.store(alpha + base + j, weight, mask=j < slots)
    tl.debug_barrier()
    return tl.max(tl.where(word, j + 1, 0), 0)


@triton.jit
@no_type_check
def attend_row(
    row, mask, keys, values, v_a, query, context, alpha, slots, upto, a, d,
    BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """One row: alpha as `weigh_row` makes it, and what is read."""
    upto = weigh_row(row, mask, keys, v_a, query, alpha, slots, upto, a, BT, BE, QUICK, STAGES)
    base = (tl.full([], 0, tl.int64) + row) * slots
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
    tl.store(context + row * d + at, out.to(values.dtype.element_ty), mask=at < d)


@triton.jit
@no_type_check
def back_weights(
    row, values, d_read, alpha, d_alpha, d_energy, slots, upto, d,
    ALPHA: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂(what was read) (d,), in memory → ∂/∂alpha → ∂/∂energies, 0 where alpha is.

    Returns how many slots there are up to the last that was looked at.
    """
    base = (tl.full([], 0, tl.int64) + row) * slots
    j = tl.arange(0, BT)
    weight = tl.load(alpha + base + j, mask=j < upto, other=0.0)
    upto = tl.max(tl.where(weight > 0, j + 1, 0), 0)
    there = j < upto
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, d, BE, num_stages=STAGES):
        at = first + tl.arange(0, BE)
        value = tl.load(
            values + (base + j)[:, None] * d + at[None, :], mask=there[:, None] & (at < d)[None, :], other=0.0,
            eviction_policy=STREAM,
        )  # fmt: skip
        back = tl.load(d_read + at, mask=at < d, other=0.0, cache_modifier=".cg").to(tl.float32)
        acc += value.to(tl.float32) * back[None, :]
    da = tl.sum(acc, 1)
    if ALPHA:
        da += tl.load(d_alpha + j, mask=there, other=0.0).to(tl.float32)
    de = weight * (da - tl.sum(weight * da, 0))
    tl.store(d_energy + base + j, de, mask=j < slots)
    return upto


@triton.jit
@no_type_check
def back_query(
    row, keys, query, v_a, d_energy, d_query, slots, upto, a,
    BJ: tl.constexpr, BA: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂energies, in memory → ∂/∂query (a,)."""
    base = (tl.full([], 0, tl.int64) + row) * slots
    at = tl.arange(0, BA)
    q = tl.load(query + row * a + at, mask=at < a, other=0.0).to(tl.float32)
    v = tl.load(v_a + at, mask=at < a, other=0.0).to(tl.float32)
    dq = tl.zeros([BA], tl.float32)
    for first in range(0, upto, BJ):
        for more in tl.static_range(BJ):
            slot = first + more
            key = tl.load(
                keys + (base + slot) * a + at,
                mask=(at < a) & (slot < upto),
                other=0.0,
                eviction_policy=STREAM,
            )
            u = squash(key.to(tl.float32) + q, QUICK)
            dq += tl.load(d_energy + base + slot, mask=slot < upto, other=0.0) * (1 - u * u)
    tl.store(d_query + row * a + at, (dq * v).to(keys.dtype.element_ty), mask=at < a)


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
