"""Parts of the recurrences' Triton kernels: grid barrier, a product's tile, the gates of an LSTM.

A recurrence runs all its steps in one launch with as many programs as the GPU has multiprocessors. A step has phases,
with a grid barrier (a counter in memory) after each; what another program wrote is loaded past the first cache
(``.cg``). Imported only if Triton is installed.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def barrier(counter, met, PHASE: tl.constexpr):
    """After a phase, where all run in one launch (PHASE 0): wait until all programs have arrived.

    `met` counts their arrivals before it, as the counter in memory does; returns it with these.
    """
    if PHASE == 0:
        met += tl.num_programs(0)
        tl.debug_barrier()
        tl.atomic_add(counter, 1, sem="release", scope="gpu")
        seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
        while seen < met:
            seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
        tl.debug_barrier()
    return met


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
def place(tile, B, n, BM: tl.constexpr, BU: tl.constexpr):
    """The rows and units of a tile of (B, n), which rows there are, and where it lies: row tiles run fastest."""
    row_tiles = tl.cdiv(B, BM)
    rows = (tile % row_tiles) * BM + tl.arange(0, BM)
    units = (tile // row_tiles) * BU + tl.arange(0, BU)
    return rows, units, (rows < B)[:, None], rows[:, None] * n + units[None, :]


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
    for tile in range(tl.program_id(0), tl.cdiv(B, BM) * (N // BQ), tl.num_programs(0)):
        rows, columns, there, _ = place(tile, B, N, BM, BQ)
        acc = tl.zeros([BM, BQ], tl.float32)
        acc = product(acc, x, row_stride, rows, rows < B, w, columns, 0, K, K, BL, STAGES)
        made = out + rows[:, None].to(tl.int64) * out_stride + columns[None, :]
        tl.store(made, acc.to(out.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def four(x, n, there):
    """The blocks of n columns of an LSTM's gates, in float32."""
    one = tl.load(x, mask=there, other=0.0).to(tl.float32)
    two = tl.load(x + n, mask=there, other=0.0).to(tl.float32)
    three = tl.load(x + 2 * n, mask=there, other=0.0).to(tl.float32)
    return one, two, three, tl.load(x + 3 * n, mask=there, other=0.0).to(tl.float32)


@triton.jit
@no_type_check
def columns_of_four(units_first, n, BU: tl.constexpr):
    """The rows of U of some units, the four gates of a unit side by side."""
    column = tl.arange(0, 4 * BU)
    return (column % 4) * n + units_first + column // 4


@triton.jit
@no_type_check
def lstm_gates(out, n, x, acc, there, BM: tl.constexpr, BU: tl.constexpr):
    """What `four` loaded and the products by `columns_of_four` → i, f, c̃, o, which are stored."""
    x_i, x_f, x_g, x_o = x
    even, odd = tl.split(tl.reshape(acc, [BM, BU, 2, 2]))
    y_i, y_g = tl.split(even)
    y_f, y_o = tl.split(odd)
    i = tl.sigmoid(x_i + y_i)
    f = tl.sigmoid(x_f + y_f)
    g = 2 * tl.sigmoid(2 * (x_g + y_g)) - 1
    o = tl.sigmoid(x_o + y_o)
    element = out.dtype.element_ty
    tl.store(out, i.to(element), mask=there)
    tl.store(out + n, f.to(element), mask=there)
    tl.store(out + 2 * n, g.to(element), mask=there)
    tl.store(out + 3 * n, o.to(element), mask=there)
    return i, f, g, o


@triton.jit
@no_type_check
def back_lstm_gates(out, n, gates, before, u, dh, dc, there):
    """∂/∂h and ∂/∂c → ∂/∂(pre-activations), stored; u is c or tanh c, as h has it, `before` the memory before."""
    i, f, g, o = gates
    element = out.dtype.element_ty
    tl.store(out, (dc * g * i * (1 - i)).to(element), mask=there)
    tl.store(out + n, (dc * before * f * (1 - f)).to(element), mask=there)
    tl.store(out + 2 * n, (dc * i * (1 - g * g)).to(element), mask=there)
    tl.store(out + 3 * n, (dh * u * o * (1 - o)).to(element), mask=there)


@triton.jit
@no_type_check
def split_product(
    start, x, x_b, w, K, partial, B, N, handed, y, y_w, P,
    SPLIT: tl.constexpr, SHARE: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """X wᵀ in SPLIT summands (·, B, N), and where `handed`, y y_wᵀ in SHARE more: the share that falls to `start`.

    w is (N, K), of x the rows are x_b apart; y_w is (N, P).
    """
    BX: tl.constexpr = TILES.BX
    BY: tl.constexpr = TILES.BY
    tall = tl.cdiv(B, BY)
    tiles = tall * (N // BX)
    length = tl.cdiv(K // TILES.BK, SPLIT) * TILES.BK
    parts = SPLIT
    if SHARE > 0:
        shared = tl.cdiv(P // TILES.BK, SHARE) * TILES.BK
        parts = SPLIT + tl.where(handed, SHARE, 0)
    for item in range(start, tiles * parts, tl.num_programs(0)):
        part = item // tiles
        rows, columns, there, at = place(item % tiles, B, N, BY, BX)
        acc = tl.zeros([BY, BX], tl.float32)
        lo = part * length
        hi = tl.minimum(lo + length, K)
        if SHARE == 0 or part < SPLIT:
            acc = product(acc, x, x_b, rows, rows < B, w, columns, lo, hi, K, TILES.BK, TILES.stages)
        else:
            lo = (part - SPLIT) * shared
            hi = tl.minimum(lo + shared, P)
            acc = product(acc, y, P, rows, rows < B, y_w, columns, lo, hi, P, TILES.BK, TILES.stages)
        tl.store(partial + part * B * N + at, acc, mask=there)
