"""The Triton kernel of all recurrences with a tape, backwards: all steps in one launch; parts as in the forward one.

Nothing is added up in memory on the way: a slot, when its turn comes, gathers what later steps took from it. What a
source's memory receives is left to products after the steps. Imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from regard.ops.kernels.arguments import Sizes
from regard.ops.kernels.memory import back_row
from regard.ops.kernels.parts import back_lstm_gates, barrier, four, place, product, split_product, squash


@triton.jit(do_not_specialize=["first", "num_steps", "T", "B", "slots", "num_given", "source_slots"])
@no_type_check
def backward_steps(
    real, own, source, cell, taken, d_alphas, made, own_grads, source_grads, widths, T, B, slots, num_given,
    source_slots, counter, first, num_steps, FIRST: tl.constexpr, TANH: tl.constexpr, SPLIT: tl.constexpr,
    SHARE: tl.constexpr, TILES: tl.constexpr, PHASE: tl.constexpr,
):  # fmt: skip
    """From step t = T − 1 − first downwards: reads go back and slot t is gathered; the cell; what the cell had read.

    What was read before the cell goes back with the step below (t + 1 at step t; step −1 has but this), what was read
    after it with its own. `partial` of a memory holds ∂/∂s in SPLIT summands from the cell, and in SHARE from the next
    query. Matrices come transposed. `taken` and `d_alphas` are the loss's gradients, `made` those inside a step.
    """
    sizes = Sizes(T, B, slots, num_given, source_slots)
    n, p, d, g = widths.n, widths.p, widths.d, widths.g
    programs = tl.num_programs(0)
    met = 0
    for step in range(first, first + num_steps):
        i = T - 1 - step
        t = tl.full([], 0, tl.int64) + i
        u = t + FIRST
        if PHASE == 0 or PHASE == 1:
            for row in range(tl.program_id(0), B, programs):
                if i + FIRST < T:
                    gather_read(
                        row, u, i + FIRST + 1 < T, real, own_grads, taken.summaries, made.kept, T, B, n, d,
                        FIRST, SPLIT, SHARE, TILES,
                    )  # fmt: skip
                    d_read = own_grads.reads + (tl.full([], 0, tl.int64) + row) * T * d + u * d
                    ask = (u * B + row) * p
                    back_row(
                        row, u, d_read, own.queries + ask, own_grads.queries + ask, sizes.first + i + 1, own, own_grads,
                        d_alphas[0], B, sizes.slots, p, d, TILES,
                    )  # fmt: skip
                if i >= 0:
                    gather_slot(row, i + FIRST, i, own, own_grads, taken.keys, made, T, B, sizes, p, d, TILES)
            if cell.R is not None:  # noqa: SIM102 (known to the compiler, unlike what follows)
                if i + 1 < T:
                    # from the last program down, so that few have one row more than the others
                    for row in range(programs - 1 - tl.program_id(0), B, programs):
                        gather_read(
                            row, u, i + 2 < T, None, source_grads, None, None, T, B, n, d, FIRST, 1, 1, TILES
                        )
                        d_fetch = source_grads.reads + (tl.full([], 0, tl.int64) + row) * T * d + u * d
                        asked = (u * B + row) * p
                        back_row(
                            row, u, d_fetch, source.queries + asked, source_grads.queries + asked, sizes.words, source,
                            source_grads, d_alphas[1], B, sizes.words, p, d, TILES,
                        )  # fmt: skip
        met = barrier(counter, met, PHASE)
        if i >= 0:
            d_gate = made.gates + t * B * g
            if PHASE == 0 or PHASE == 2:
                if cell.gates is None:
                    rnn_tiles(t, own, cell, taken, made, own_grads, sizes, n, p, FIRST, TILES)
                else:
                    lstm_tiles(
                        t, own, source, cell, taken, made, own_grads, source_grads, sizes, n, p, g, FIRST, TANH, TILES
                    )  # fmt: skip
            met = barrier(counter, met, PHASE)
            if PHASE == 0 or PHASE == 3:
                wide = n if made.kept is None else 2 * n
                K = g if cell.R is None else 4 * n
                split_product(
                    tl.program_id(0), d_gate, g, cell.U, K, own_grads.partial, B, wide, i + 1 < T,
                    own_grads.queries + (t + 1) * B * p, own.matrix, p, SPLIT, SHARE, TILES,
                )  # fmt: skip
                if cell.R is not None:
                    split_product(
                        programs - 1 - tl.program_id(0), d_gate + 4 * n, g, cell.R, n, source_grads.partial, B, n,
                        i + 1 < T, source_grads.queries + (t + 1) * B * p, source.matrix, p, 1, 1, TILES,
                    )  # fmt: skip
            met = barrier(counter, met, PHASE)


@triton.jit
@no_type_check
def gather_read(
    row, t, handed, real, grads, d_summaries, d_kept, T, B, n, d,
    FIRST: tl.constexpr, SPLIT: tl.constexpr, SHARE: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """One row: ∂/∂s_t from its summands, and ∂/∂h_t where U met it, too; `handed`: whether a step follows.

    What later steps owe reaches step t at a real word alone; padding hands it down. Where the tape is read before the
    cell, the gates of step t owe some as well, whatever the word, and the loss's share is of the s handed down.
    """
    BN: tl.constexpr = TILES.BN
    HALVES: tl.constexpr = 1 if d_kept is None else 2
    OWN: tl.constexpr = SPLIT if FIRST else 0
    ALL: tl.constexpr = SPLIT + SHARE
    r = tl.full([], 0, tl.int64) + row
    at = tl.arange(0, BN)
    there = at < n
    word = True if real is None else tl.load(real + t * B + row) != 0
    for half in tl.static_range(HALVES):
        place = (row * HALVES + half) * n + at
        late = tl.zeros([BN], tl.float32)
        if grads.carried is not None:
            late += tl.load(grads.carried + place, mask=there, other=0.0, cache_modifier=".cg")
        for part in tl.static_range(OWN, ALL):
            summand = grads.partial + part * B * n * HALVES + place
            late += tl.load(summand, mask=there & handed, other=0.0, cache_modifier=".cg")
        if half == 0 and d_summaries is not None:
            loss = tl.load(
                d_summaries.x + t * d_summaries.t + r * d_summaries.b + at, mask=there, other=0.0
            ).to(tl.float32)
            if FIRST:
                late += loss
        if grads.carried is not None:
            tl.store(grads.carried + place, tl.where(word, 0.0, late), mask=there)
        ds = tl.where(word, late, 0.0)
        for part in tl.static_range(OWN):
            ds += tl.load(grads.partial + part * B * n + place, mask=there, other=0.0, cache_modifier=".cg")
        if half == 1:
            tl.store(d_kept + row * n + at, ds, mask=there)
        else:
            if not FIRST and d_summaries is not None:
                ds += loss
            out = grads.reads + (r * T + t) * d + at
            tl.store(out, ds.to(grads.reads.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def gather_slot(row, after, i, memory, grads, d_keys, made, T, B, sizes, p, d, TILES: tl.constexpr):
    """One row: what the steps from `after` on took from step i's slot: ∂/∂value (d,) without the key's, ∂/∂key (p,)."""
    BA: tl.constexpr = TILES.BA
    BD: tl.constexpr = TILES.BD
    BJ: tl.constexpr = TILES.BJ
    slots = sizes.slots
    slot = i + sizes.first
    long = tl.full([], 0, tl.int64)
    t = long + i
    r = long + row
    in_a = tl.arange(0, BA)
    in_d = tl.arange(0, BD)
    out = tl.zeros([BD], tl.float32)
    for first in range(after, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            weight = tl.load(
                memory.alpha + ((long + step) * B + row) * slots + slot, mask=step < T, other=0.0
            )
            taken = tl.load(
                grads.reads + (r * T + step) * d + in_d, mask=(in_d < d) & (step < T), other=0.0, cache_modifier=".cg"
            )  # fmt: skip
            out += weight * taken.to(tl.float32)
    tl.store(made.slot + r * d + in_d, out, mask=in_d < d)
    if memory.v_a is not None:
        key = tl.load(memory.keys + (r * slots + slot) * p + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    dk = tl.zeros([BA], tl.float32)
    for first in range(after, T, BJ):
        for more in tl.static_range(BJ):
            step = first + more
            at = (long + step) * B + row
            de = tl.load(grads.energy + at * slots + slot, mask=step < T, other=0.0, cache_modifier=".cg")
            asked = tl.load(memory.queries + at * p + in_a, mask=(in_a < p) & (step < T), other=0.0)
            query = asked.to(tl.float32)
            if memory.v_a is None:
                dk += de * query
            else:
                u = squash(query + key, TILES.quick)
                dk += de * (1 - u * u)
    if memory.v_a is None:
        dk *= memory.scale
    else:
        dk *= tl.load(memory.v_a + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    if d_keys is not None:
        given = d_keys.x + t * d_keys.t + r * d_keys.b
        dk += tl.load(given + in_a, mask=in_a < p, other=0.0).to(tl.float32)
    d_key = made.key + (t * B + row) * p
    tl.store(d_key + in_a, dk.to(made.key.dtype.element_ty), mask=in_a < p)


@triton.jit
@no_type_check
def back_state(
    dh, t, rows, units, there, own, cell, taken, made, grads, B, n, p, FIRST: tl.constexpr, TILES: tl.constexpr
):  # fmt: skip
    """∂/∂h_t of some rows and units: what was gathered, the loss's, U_aᵀ δk_t and, of a query made of h_t, Sᵀ δq_t.

    The loads come before the products, which hide the wait.
    """
    r = rows[:, None].to(tl.int64)
    unit = units[None, :]
    at = r * n + unit
    if taken.states is not None:
        given = taken.states.x + t * taken.states.t + r * taken.states.b + unit
        dh += tl.load(given, mask=there, other=0.0).to(tl.float32)
    if made.kept is not None:
        dh += tl.load(made.kept + at, mask=there, other=0.0, cache_modifier=".cg")
    d_key = made.key + t * B * p
    if cell.U_a is None:
        dh += tl.load(d_key + r * p + unit, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
    else:
        dh = product(dh, d_key, p, rows, rows < B, cell.U_a, units, 0, p, p, TILES.BL, TILES.stages)
    if not FIRST:
        d_query = grads.queries + t * B * p
        if own.matrix is None:
            dh += tl.load(d_query + at, mask=there, other=0.0, cache_modifier=".cg").to(tl.float32)
        else:
            dh = product(dh, d_query, p, rows, rows < B, own.matrix, units, 0, p, p, TILES.BL, TILES.stages)
    return dh


@triton.jit
@no_type_check
def rnn_tiles(
    t, own, cell, taken, made, grads, sizes, n, p, FIRST: tl.constexpr, TILES: tl.constexpr
):  # fmt: skip
    """This program's share of ∂/∂h_t, and through the tanh to δx."""
    B = sizes.B
    for tile in range(tl.program_id(0), tl.cdiv(B, TILES.BM) * (n // TILES.BQ), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, n, TILES.BM, TILES.BQ)
        r = rows[:, None].to(tl.int64)
        value = own.contents + (r * sizes.slots + sizes.first + t) * n + units[None, :]
        h = tl.load(value, mask=there, other=0.0).to(tl.float32)
        dh = tl.load(made.slot + at, mask=there, other=0.0, cache_modifier=".cg")
        dh = back_state(dh, t, rows, units, there, own, cell, taken, made, grads, B, n, p, FIRST, TILES)
        tl.store(made.gates + t * B * n + at, (dh * (1 - h * h)).to(made.gates.dtype.element_ty), mask=there)


@triton.jit
@no_type_check
def lstm_tiles(
    t, own, source, cell, taken, made, grads, source_grads, sizes, n, p, g,
    FIRST: tl.constexpr, TANH: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """This program's share of ∂/∂h_t, and of the gates backwards, to ∂/∂c′_t, and to ∂/∂α̃_t of deep fusion."""
    B, T = sizes.B, sizes.T
    element = made.gates.dtype.element_ty
    for tile in range(tl.program_id(0), tl.cdiv(B, TILES.BM) * (n // TILES.BU), tl.num_programs(0)):
        rows, units, there, at = place(tile, B, 2 * n, TILES.BM, TILES.BU)
        r = rows[:, None].to(tl.int64)
        unit = units[None, :]
        gate = (t * B + r) * g + unit
        gates = four(cell.gates + gate, n, there)
        read = t * B * 2 * n + n + at
        before = tl.load(own.reads + read, mask=there, other=0.0).to(tl.float32)
        if cell.R is not None:
            r_gate = tl.load(cell.gates + gate + 4 * n, mask=there, other=0.0).to(tl.float32)
            found = tl.load(source.reads + read, mask=there, other=0.0).to(tl.float32)
        memory = own.contents + (r * sizes.slots + sizes.first + t) * 2 * n + n + unit
        u = tl.load(memory, mask=there, other=0.0).to(tl.float32)
        dh = tl.load(made.slot + at, mask=there, other=0.0, cache_modifier=".cg")
        dc = tl.load(made.slot + n + at, mask=there, other=0.0, cache_modifier=".cg")
        if taken.memories is not None:
            given = taken.memories.x + t * taken.memories.t + r * taken.memories.b + unit
            dc += tl.load(given, mask=there, other=0.0).to(tl.float32)
        dh = back_state(dh, t, rows, units, there, own, cell, taken, made, grads, B, n, p, FIRST, TILES)
        if TANH:
            u = 2 * tl.sigmoid(2 * u) - 1
            dc += dh * gates[3] * (1 - u * u)
        else:
            dc += dh * gates[3]
        back_lstm_gates(made.gates + gate, n, gates, before, u, dh, dc, there)
        d_read = (r * T + t) * 2 * n + n + unit
        tl.store(grads.reads + d_read, (dc * gates[1]).to(element), mask=there)
        if cell.R is not None:
            tl.store(made.gates + gate + 4 * n, (dc * found * r_gate * (1 - r_gate)).to(element), mask=there)
            tl.store(source_grads.reads + d_read, (dc * r_gate).to(element), mask=there)
