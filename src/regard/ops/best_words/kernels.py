"""The most probable words of each row as Triton kernels; see `persistent`. Imported only where Triton is.

A key is a logit's bits, made an integer that is ordered as the logits are, above 2³² − 1 − column. No two keys of a row
are equal, and the largest is that of the largest logit in its smallest column.
"""

from typing import no_type_check

import triton
import triton.language as tl

no_key = tl.constexpr(-(2**63))
"""Below every key."""


@triton.jit
@no_type_check
def keys_of(values, columns):
    """The keys of float32 logits and their columns."""
    bits = (values + 0.0).to(tl.int32, bitcast=True)  # −0 becomes 0, which it equals
    rising = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    return (rising.to(tl.int64) << 32) | (0xFFFFFFFF - columns.to(tl.int64))


@triton.jit
@no_type_check
def value_of(key):
    """The logit of a key."""
    rising = (key >> 32).to(tl.int32)
    return tl.where(rising < 0, rising ^ 0x7FFFFFFF, rising).to(tl.float32, bitcast=True)


@triton.jit
@no_type_check
def column_of(key):
    """The column of a key."""
    return 0xFFFFFFFF - (key & 0xFFFFFFFF)


@triton.jit
@no_type_check
def best_of_blocks(
    LOGITS, BANNED, MINIMUM, STEP, KEYS, SUMS, size, end, blocks,
    ROWS: tl.constexpr, NUM_BANNED: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of one block of a row: the K largest keys, the largest logit, and Σ exp(logit − largest).

    EOS may be chosen from the step on that is the minimum of the row's sentence, which has `ROWS` rows.
    """
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = block * BLOCK + tl.arange(0, BLOCK)
    inside = columns < size
    values = tl.load(LOGITS + row * size + columns, mask=inside, other=float("-inf")).to(tl.float32)
    top = tl.max(values, 0)
    # of a block without any probability, Σ is 0 and not NaN
    summed = tl.sum(tl.exp(values - tl.where(top == float("-inf"), 0.0, top)), 0)
    tl.store(SUMS + (row * blocks + block) * 2, top)
    tl.store(SUMS + (row * blocks + block) * 2 + 1, summed)
    too_early = tl.load(MINIMUM + row // ROWS) > tl.load(STEP)
    values = tl.where((columns == end) & too_early, float("-inf"), values)
    for i in tl.static_range(NUM_BANNED):
        values = tl.where(columns == tl.load(BANNED + i), float("-inf"), values)
    keys = tl.where(inside, keys_of(values, columns), no_key)
    for j in tl.static_range(K):
        best = tl.max(keys, 0)
        tl.store(KEYS + (row * blocks + block) * K + j, best)
        keys = tl.where(keys == best, no_key, keys)


@triton.jit
@no_type_check
def log_sum_of_blocks(SUMS, row, blocks, BLOCKS: tl.constexpr):
    """Log Σ exp of a row, from those of its blocks."""
    block = tl.arange(0, BLOCKS)
    at = SUMS + (row * blocks + block) * 2
    tops = tl.load(at, mask=block < blocks, other=float("-inf"))
    sums = tl.load(at + 1, mask=block < blocks, other=0.0)
    top = tl.max(tops, 0)
    return top + tl.log(tl.sum(sums * tl.exp(tops - top), 0))


@triton.jit
@no_type_check
def best_of_rows(
    LOGITS, MUST_END, KEYS, SUMS, LOG_PROBS, COLUMNS, size, end, blocks,
    K: tl.constexpr, BLOCKS: tl.constexpr, KEYS_UP: tl.constexpr,
):  # fmt: skip
    """Of one row: log p of its K best words, and their columns; EOS alone where it must end."""
    row = tl.program_id(0).to(tl.int64)
    total = log_sum_of_blocks(SUMS, row, blocks, BLOCKS)
    place = tl.arange(0, KEYS_UP)
    keys = tl.load(KEYS + row * blocks * K + place, mask=place < blocks * K, other=no_key)
    must_end = tl.load(MUST_END + row) != 0
    of_end = tl.load(LOGITS + row * size + end).to(tl.float32) - total
    for j in tl.static_range(K):
        best = tl.max(keys, 0)
        keys = tl.where(keys == best, no_key, keys)
        others = of_end if j == 0 else float("-inf")
        tl.store(LOG_PROBS + row * K + j, tl.where(must_end, others, value_of(best) - total))
        tl.store(COLUMNS + row * K + j, tl.where(must_end, end, column_of(best)))
