"""The choice of a beam's step as a Triton kernel: a program a sentence; see `persistent`.

Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.best_words.kernels import column_of, log_sum_of_blocks, no_key, value_of

_NEVER = tl.constexpr(float("-inf"))
_LATER = tl.constexpr(2**30)
"""Behind every candidate."""


@triton.jit
@no_type_check
def choose_of_sentence(
    LOGITS, KEYS, SUMS, TOTALS, SCORES, PREVIOUS, CHOSEN, COUNTERS, LIMITS, MINIMUM, DIVISORS, LARGEST, ROWS, WORDS,
    PENALTIES, size, end, blocks, batch,
    BEAM: tl.constexpr, K: tl.constexpr, N_BEST: tl.constexpr, PLACES: tl.constexpr, RANKS: tl.constexpr,
    HAS_WORDS: tl.constexpr, HAS_PENALTIES: tl.constexpr, BLOCKS: tl.constexpr, KEYS_UP: tl.constexpr,
):  # fmt: skip
    """The BEAM best candidates of a sentence; its totals, scores and next words."""
    b = tl.program_id(0).to(tl.int64)
    step, here = tl.load(COUNTERS), tl.load(COUNTERS + 1)
    must_end = tl.load(LIMITS + b) <= step + 1
    place, rank = tl.arange(0, PLACES), tl.arange(0, RANKS)
    order = place[:, None] * K + rank[None, :]
    order = tl.where((place[:, None] < BEAM) & (rank[None, :] < K), order, _LATER)
    log_probs = tl.full((PLACES, RANKS), _NEVER, tl.float32)
    columns = tl.zeros((PLACES, RANKS), tl.int64)
    key_place = tl.arange(0, KEYS_UP)
    # the words that each partial hypothesis can go on with
    for i in range(BEAM):
        row = b * BEAM + i
        total = log_sum_of_blocks(SUMS, row, blocks, BLOCKS)
        keys = tl.load(KEYS + row * blocks * K + key_place, mask=key_place < blocks * K, other=no_key)
        of_end = tl.load(LOGITS + row * size + end).to(tl.float32) - total
        for j in tl.static_range(K):
            key = tl.max(keys, 0)
            keys = tl.where(keys == key, no_key, keys)
            ending = of_end if j == 0 else _NEVER
            cell = (place[:, None] == i) & (rank[None, :] == j)
            log_probs = tl.where(cell, tl.where(must_end, ending, value_of(key) - total), log_probs)
            columns = tl.where(cell, tl.where(must_end, end, column_of(key)), columns)
    inside = place < BEAM
    totals = tl.load(TOTALS + b * BEAM + place, mask=inside, other=_NEVER)
    candidates = totals[:, None] + log_probs.to(tl.float64)
    candidates = tl.where(
        (candidates > _NEVER) & (order < _LATER), candidates, _NEVER
    )  # what is not a number, too
    # the best of them, one after another
    scores = tl.load(SCORES + b * BEAM + place, mask=inside, other=_NEVER)
    finished = tl.sum((scores > _NEVER).to(tl.int32), 0)
    free = BEAM - finished
    divisor = tl.load(DIVISORS + here)
    totals = tl.full((PLACES,), _NEVER, tl.float64)
    for i in range(BEAM):
        best = tl.max(tl.max(candidates, 1), 0)
        first = tl.min(tl.min(tl.where(candidates == best, order, _LATER), 1), 0)
        this = order == first
        column = tl.sum(tl.sum(tl.where(this, columns, 0), 1), 0)
        value = tl.sum(tl.sum(tl.where(this, log_probs, 0.0), 1), 0)
        candidates = tl.where(this, _NEVER, candidates)
        parent = first // K
        possible = (best > _NEVER) & (i < free)
        ended = possible & (column == end)
        score = best / divisor
        if HAS_PENALTIES:
            score += tl.load(PENALTIES + b * BEAM + parent)
        score = tl.where(ended, score, _NEVER)
        scores = tl.where(place == tl.where(ended, finished, PLACES), score, scores)
        finished += tl.where(ended, 1, 0)
        totals = tl.where(place == i, tl.where(possible & (column != end), best, _NEVER), totals)
        word = column
        if HAS_WORDS:
            word = tl.load(WORDS + column)
        tl.store(PREVIOUS + b * BEAM + i, word)
        tl.store(ROWS + b * BEAM + i, b * BEAM + parent)
        at = CHOSEN + ((here * 4) * batch + b) * BEAM + i
        tl.store(at, word.to(tl.float64))
        tl.store(at + batch * BEAM, parent.to(tl.float64))
        tl.store(at + 2 * batch * BEAM, value.to(tl.float64))
        tl.store(at + 3 * batch * BEAM, score)
    # no continuation scores higher than its present log p under the penalty of the longest output
    left, needed = scores, tl.max(scores, 0)
    for _ in range(N_BEST - 1):
        largest = tl.min(tl.where(left == needed, place, _LATER), 0)
        left = tl.where(place == largest, _NEVER, left)
        needed = tl.max(left, 0)
    goes_on = tl.max(totals, 0) > needed * tl.load(LARGEST + b)
    tl.store(TOTALS + b * BEAM + place, tl.where(goes_on, totals, _NEVER), mask=inside)
    tl.store(SCORES + b * BEAM + place, scores, mask=inside)
