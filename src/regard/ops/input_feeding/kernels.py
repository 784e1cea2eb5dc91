"""Triton kernels of input feeding: all steps in one launch, forwards and back.

A step is that of the attending LSTM with h̃_{t−1} in the context's place, so its tiles are that one's; then the new
state meets W_q, which is W_a over the state's part of W_c, and a program a sentence attends. What attention reads is
`values` (B, Tx, l), the annotations already multiplied by their part of W_c. OWN says whether W_q begins with W_a;
without, the state itself is the query. DOT says which energies. With PHASE = 0 all phases of the steps given run; with
another value only that one, without meeting. Every width is a multiple of the tile's; the caller pads. Imported only
where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.attending_lstm.kernels import gate_tiles, lstm_tiles, state_tiles
from regard.ops.kernels.parts import back_query, back_weights, meet, narrow_product, squash, weigh_row


@triton.jit(do_not_specialize=["first", "num_steps", "B", "Tx"])
@no_type_check
def forward_steps(
    projected, p_t, p_b, mask, keys, values, v_a, U, F, W_q, dropped, dr_t, dr_b,
    states, memories, fed, asked, alpha, gates, counter, first, num_steps, B, Tx, n, a, l,
    OWN: tl.constexpr, DOT: tl.constexpr, DROPPED: tl.constexpr, PHASE: tl.constexpr, BM: tl.constexpr,
    BQ: tl.constexpr, BU: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr,
    BE: tl.constexpr, BA: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr,
    STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """The steps first … first + num_steps − 1: LSTM; W_q h_t; attention and h̃_t.

    `asked` (Ty, B, a + l, or l without OWN) is W_q h_t and, after the query, tanh z at the end.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    wide = a + l if OWN else l
    for i in range(first, first + num_steps):
        t = long + i
        state = states + t * B * n
        ask = asked + t * B * wide
        if PHASE == 0 or PHASE == 1:
            lstm_tiles(
                projected + t * p_t, p_b, state, fed + t * B * l, U, F, memories + t * B * n, gates + t * B * 4 * n,
                B, n, l, BM, BU, BK, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            narrow_product(state + B * n, n, W_q, ask, wide, B, n, wide, BM, BQ, BL, STAGES)
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            for row in range(tl.program_id(0), B, programs):
                weights = alpha + t * B * Tx
                # rows of queries are a apart, or a + l if h̃ is between them
                query = ask + row * l if OWN else state + B * n
                if DOT:
                    weigh_dot(row, mask, keys, query, weights, Tx, a, BT, BE, ROW_STAGES)
                else:
                    weigh_row(row, mask, keys, v_a, query, weights, Tx, Tx, a, BT, BE, QUICK, ROW_STAGES)
                feed_row(
                    row, values, weights, ask + row * wide + wide - l, dropped + t * dr_t + (long + row) * dr_b,
                    fed + ((t + 1) * B + row) * l, Tx, l, DROPPED, BJ, BD, QUICK, STREAM,
                )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def weigh_dot(row, mask, keys, query, alpha, Tx, a, BT: tl.constexpr, BE: tl.constexpr, STAGES: tl.constexpr):
    """As `weigh_row` of `ops/kernels/parts`, with dot products; every row has a real word."""
    base = (tl.full([], 0, tl.int64) + row) * Tx
    j = tl.arange(0, BT)
    there = j < Tx
    word = tl.load(mask + base + j, mask=there, other=0) != 0
    acc = tl.zeros([BT, BE], tl.float32)
    for first in tl.range(0, a, BE, num_stages=STAGES):
        at = first + tl.arange(0, BE)
        place = keys + (base + j)[:, None] * a + at[None, :]
        key = tl.load(place, mask=there[:, None] & (at < a)[None, :], other=0.0, cache_modifier=".cg")
        q = tl.load(query + row * a + at, mask=at < a, other=0.0, cache_modifier=".cg").to(tl.float32)
        acc += key.to(tl.float32) * q[None, :]
    energies = tl.where(word, tl.sum(acc, 1), float("-inf"))
    weight = tl.exp(energies - tl.max(energies, 0))
    tl.store(alpha + base + j, weight / tl.sum(weight, 0), mask=there)
    tl.debug_barrier()


@triton.jit
@no_type_check
def feed_row(
    row, values, alpha, attentional, dropped, fed, Tx, l,
    DROPPED: tl.constexpr, BJ: tl.constexpr, BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One sentence: z = Σ_j α_j v_j + W_h h_t; `attentional` holds W_h h_t, then tanh z; h̃_t."""
    base = (tl.full([], 0, tl.int64) + row) * Tx
    at = tl.arange(0, BD)
    here = at < l
    z = tl.load(attentional + at, mask=here, other=0.0, cache_modifier=".cg").to(tl.float32)
    # a word at a time, each thread some units: nothing to share
    for first in range(0, Tx, BJ):
        for more in tl.static_range(BJ):
            word = first + more
            value = tl.load(
                values + (base + word) * l + at, mask=here & (word < Tx), other=0.0,
                cache_modifier=".cg" if STREAM == "" else "", eviction_policy=STREAM,
            )  # fmt: skip
            z += tl.load(alpha + base + word, mask=word < Tx, other=0.0) * value.to(tl.float32)
    y = squash(z, QUICK)
    tl.store(attentional + at, y.to(attentional.dtype.element_ty), mask=here)
    if DROPPED:
        y *= tl.load(dropped + at, mask=here, other=0.0).to(tl.float32)
    tl.store(fed + at, y.to(fed.dtype.element_ty), mask=here)


@triton.jit(do_not_specialize=["first", "num_steps", "last_step", "B", "Tx", "da_t", "da_b"])
@no_type_check
def backward_steps(
    keys, values, v_a, W, W_q, gates, memories, states, asked, alpha, dropped, dr_t, dr_b,
    d_readouts, ds_t, ds_b, d_alpha, da_t, da_b, partial, d_gates, d_asked, d_query, d_energy, d_memory, counter,
    first, num_steps, last_step, B, Tx, n, a, l,
    OWN: tl.constexpr, DOT: tl.constexpr, DROPPED: tl.constexpr, READOUTS: tl.constexpr, ALPHA: tl.constexpr,
    PHASE: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr, BU: tl.constexpr,
    BK: tl.constexpr, BL: tl.constexpr, BJ: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BA: tl.constexpr,
    BD: tl.constexpr, QUICK: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr, ROW_STAGES: tl.constexpr,
):  # fmt: skip
    """From step last_step − first downwards: the gates of the step above; h̃_t and attention; the LSTM.

    `partial` (SPLIT, B, n + l) holds ∂/∂[h_t, h̃_t] from the gates above, in as many summands as the inner index is cut
    into, and comes zero, for the last step has none above. W (n + l, 4n) and W_q (n, a + l) are transposed. `d_query`
    (Ty, B, n) is for queries that are the states themselves.
    """
    programs = tl.num_programs(0)
    met = 0
    long = tl.full([], 0, tl.int64)
    wide = a + l if OWN else l
    for step in range(first, first + num_steps):
        i = last_step - step
        t = long + i
        ask = t * B * wide
        if step > 0:
            if PHASE == 0 or PHASE == 1:
                gate_tiles(d_gates + (t + 1) * B * 4 * n, W, partial, B, n, n + l, SPLIT, BY, BX, BK, STAGES)
            if PHASE == 0:
                met += programs
                meet(counter, met)
        if PHASE == 0 or PHASE == 2:
            for row in range(tl.program_id(0), B, programs):
                r = long + row
                dz = d_asked + ask + row * wide + wide - l
                de = d_energy + t * B * Tx
                back_fed(
                    partial + row * (n + l) + n, B * (n + l), asked + ask + row * wide + wide - l,
                    dropped + t * dr_t + r * dr_b, d_readouts + t * ds_t + r * ds_b, dz, l,
                    DROPPED, READOUTS, SPLIT, BD,
                )  # fmt: skip
                tl.debug_barrier()
                back_weights(
                    row, values, dz, alpha + t * B * Tx, d_alpha + t * da_t + r * da_b, de, Tx, Tx, l,
                    ALPHA, BT, BE, STREAM, ROW_STAGES,
                )  # fmt: skip
                tl.debug_barrier()
                dq = d_asked + ask + row * l if OWN else d_query + t * B * a
                if DOT:
                    back_dot(row, keys, de, dq, Tx, a, BJ, BA, STREAM)
                else:
                    query = asked + ask + row * l if OWN else states + (t + 1) * B * n
                    back_query(row, keys, query, v_a, de, dq, Tx, Tx, a, BJ, BA, QUICK, STREAM)
        if PHASE == 0:
            met += programs
            meet(counter, met)
        if PHASE == 0 or PHASE == 3:
            # as in the attending LSTM, where the state of step i is the query of step i + 1
            state_tiles(
                i + 1, t + 1, i + 1, W_q, gates, memories, d_asked - B * wide, partial, d_query, B * n, n, d_gates,
                d_memory, d_memory, B, n, wide, n + l, not OWN, SPLIT, BM, BU, BL, STAGES,
            )  # fmt: skip
        if PHASE == 0:
            met += programs
            meet(counter, met)


@triton.jit
@no_type_check
def back_fed(
    partial, part_stride, attentional, dropped, d_readouts, out, l,
    DROPPED: tl.constexpr, READOUTS: tl.constexpr, SPLIT: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    """One sentence: ∂/∂h̃_t from its summands and from what the loss took, and back through dropout and tanh: ∂/∂z."""
    at = tl.arange(0, BD)
    here = at < l
    back = tl.zeros([BD], tl.float32)
    for part in tl.static_range(SPLIT):
        back += tl.load(partial + part * part_stride + at, mask=here, other=0.0, cache_modifier=".cg")
    if READOUTS:
        back += tl.load(d_readouts + at, mask=here, other=0.0).to(tl.float32)
    if DROPPED:
        back *= tl.load(dropped + at, mask=here, other=0.0).to(tl.float32)
    y = tl.load(attentional + at, mask=here, other=0.0).to(tl.float32)
    tl.store(out + at, (back * (1 - y * y)).to(out.dtype.element_ty), mask=here)


@triton.jit
@no_type_check
def back_dot(row, keys, d_energy, d_query, Tx, a, BJ: tl.constexpr, BA: tl.constexpr, STREAM: tl.constexpr):
    """One sentence: ∂/∂energies, in memory → ∂/∂query (a,), for dot products."""
    base = (tl.full([], 0, tl.int64) + row) * Tx
    at = tl.arange(0, BA)
    dq = tl.zeros([BA], tl.float32)
    for first in range(0, Tx, BJ):
        for more in tl.static_range(BJ):
            word = first + more
            place = keys + (base + word) * a + at
            key = tl.load(place, mask=(at < a) & (word < Tx), other=0.0, eviction_policy=STREAM)
            dq += tl.load(d_energy + base + word, mask=word < Tx, other=0.0) * key.to(tl.float32)
    tl.store(d_query + row * a + at, dq.to(d_query.dtype.element_ty), mask=at < a)
