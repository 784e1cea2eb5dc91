/* Recurrences that attend to their own past (ops/README.md, "Tapes"): the LSTMN and the self-attentive RNN. A thread
   takes every so-many-th sentence through time; a step multiplies the rows that have a word there, and no others. */
#include "tape.h"
#include <omp.h>
#include "attention.h"
#include "cell.h"
#include "product.h"

/* A thread at one step: its sentences are me, me + num_threads, …; those with a word have rows 0 … count - 1. */
typedef struct {
    const tape *x;
    long n, p, d, g, wide, slots; /* wide: of projected */
    int me, num_threads;
    long t, slot; /* the position, and the slot that the step writes */
} walk;

static walk walk_of(const tape *x) {
    long g = gates_of(x->cell) * x->n, d = has_memory(x->cell) ? 2 * x->n : x->n;
    int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
    return (walk){x, x->n, x->p, d, g, x->after ? g : g + x->p, x->first + x->T, me, num_threads, 0, 0};
}

INLINE void go_to(walk *w, long i) {
    w->t = w->x->reverse ? w->x->T - 1 - i : i;
    w->slot = w->x->first + i;
}

/* For each sentence b of the thread with a word at this step: its row, and its place among all positions. */
#define FOR_ROWS(w, row, b, at)                                                                            \
    for (long b = (w)->me, row = 0, at = b * (w)->x->T + (w)->t; b < (w)->x->B;                            \
         row += (w)->x->there[at], b += (w)->num_threads, at = b * (w)->x->T + (w)->t)                     \
        if ((w)->x->there[at])

/* The first slot that a step reading up to `end` reaches back to. */
INLINE long start_of(const tape *x, const uint8_t *valid, long end) {
    if (!x->span) return 0;
    for (long left = x->span; end > 0 && left > 0;) left -= valid[--end];
    return end;
}

INLINE void copy(float *to, const float *from, long count) { memcpy(to, from, (size_t)count * 4); }

/* row = from * dropped of the sentence. */
INLINE void drop(const tape *x, long b, const float *from, float *row) {
    if (!x->dropped) {
        copy(row, from, x->n);
        return;
    }
    for (long u = 0; u < x->n; u += LANES)
        put(row + u, take(from + u, x->n - u) * take(x->dropped + b * x->n + u, x->n - u), x->n - u);
}

/* The slots before `end` with the query of a position → alpha, and what is read (d). */
INLINE void read_slots(const walk *w, long b, long at, long end, float *read) {
    const tape *x = w->x;
    const uint8_t *valid = x->valid + b * w->slots;
    long start = start_of(x, valid, end), from = b * w->slots + start;
    attend_row(x->keys + from * w->p, x->written + from * w->d, valid + start, x->queries + at * w->p, x->v, x->scale,
               end - start, w->p, w->d, x->alpha + at * w->slots + start, read);
}

/* And back: ∂/∂(what was read), in d_reads → ∂/∂query (p); ∂/∂keys and ∂/∂v grow. */
INLINE void read_slots_back(const walk *w, long b, long at, long end, float *energies, float *dq) {
    const tape *x = w->x;
    const uint8_t *valid = x->valid + b * w->slots;
    long start = start_of(x, valid, end), from = b * w->slots + start, alphas = at * w->slots + start;
    attend_row_back(x->keys + from * w->p, x->written + from * w->d, valid + start, x->queries + at * w->p, x->v,
                    x->scale, x->alpha + alphas, x->d_reads + at * w->d, x->d_alpha ? x->d_alpha + alphas : NULL,
                    end - start, w->p, w->d, energies, dq, x->d_keys + from * w->p, x->d_v + b * w->p);
}

/* d_written of a slot grows by what the steps from `first` on took by reading it. */
INLINE void gather_slot(const walk *w, long b, long slot, long first) {
    const tape *x = w->x;
    float *to = x->d_written + (b * w->slots + slot) * w->d;
    for (long i = first; i < x->T; i++) {
        long at = b * x->T + (x->reverse ? x->T - 1 - i : i);
        float alpha = x->there[at] ? x->alpha[at * w->slots + slot] : 0;
        if (alpha != 0) add_scaled(to, alpha, x->d_reads + at * w->d, w->d);
    }
}

int regard_tape(const tape *x) {
    long B = x->B, n = x->n, p = x->p, met = x->met, g = gates_of(x->cell) * n;
    int threads = x->threads, narrow = x->narrow;
    arena *memory = regard_begin();
    float *for_gates = scratch_panels(memory, met, g, narrow);
    float *for_query = x->S ? scratch_panels(memory, n, p, narrow) : NULL;
    float *for_key = x->U_a ? scratch_panels(memory, n, p, narrow) : NULL;
    shares all_rows = scratch_rows(memory, B, met, threads), all_y = scratch_rows(memory, B, g, threads);
    shares all_q = scratch_rows(memory, B, p, threads), all_h = scratch_rows(memory, B, n, threads);
    shares all_pairs = scratch_pairs(memory, B, met, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        walk w = walk_of(x);
        int me = w.me, num_threads = w.num_threads;
        float *rows = OWN(all_rows), *y = OWN(all_y), *q = OWN(all_q), *h = OWN(all_h), *pairs = OWN(all_pairs);
        regard_pack_share(x->U, 1, met, met, g, narrow, for_gates, me, num_threads);
        if (x->S) regard_pack_share(x->S, 1, n, n, p, narrow, for_query, me, num_threads);
        if (x->U_a) regard_pack_share(x->U_a, 1, n, n, p, narrow, for_key, me, num_threads);
#pragma omp barrier
        for (long i = 0; i < x->T; i++) {
            long count = 0;
            go_to(&w, i);
            FOR_ROWS(&w, row, b, at) {
                float *now = x->carried + at * met;
                copy(now, x->s + b * n, n);
                if (met > n) copy(now + n, x->h + b * n, n);
                for (long k = 0; k < met; k += n)
                    if (x->after)
                        drop(x, b, now + k, rows + row * met + k);
                    else
                        copy(rows + row * met + k, now + k, n);
                count++;
            }
            if (!count) continue;
            if (!x->after) {
                regard_step_product(rows, count, for_query, n, p, narrow, 0, q, pairs);
                FOR_ROWS(&w, row, b, at) {
                    float *query = x->queries + at * p, *read = x->reads + at * w.d;
                    copy(query, x->projected + at * w.wide + g, p);
                    add_scaled(query, 1.0f, q + row * p, p);
                    read_slots(&w, b, at, w.slot, read);
                    copy(x->s + b * n, read, n);
                    if (x->c) copy(x->c + b * n, read + n, n);
                    drop(x, b, read, rows + row * n);
                }
            }
            regard_step_product(rows, count, for_gates, met, g, narrow, 0, y, pairs);
            FOR_ROWS(&w, row, b, at) {
                float *slot = x->written + (b * w.slots + w.slot) * w.d, *new = x->h + b * n;
                float *memory_of = x->c ? x->c + b * n : NULL;
                cell_row(x->cell, NULL, x->projected + at * w.wide, y + row * g, n, x->gates + at * g, memory_of, new);
                copy(slot, new, n);
                if (x->c) copy(slot + n, x->c + b * n, n);
                copy(x->states + at * n, new, n);
                copy(h + row * n, new, n);
            }
            if (x->U_a) regard_step_product(h, count, for_key, n, p, narrow, 0, q, pairs);
            FOR_ROWS(&w, row, b, at) copy(x->keys + (b * w.slots + w.slot) * p, (x->U_a ? q : h) + row * p, p);
            if (!x->after) continue;
            if (x->S) regard_step_product(h, count, for_query, n, p, narrow, 0, q, pairs);
            FOR_ROWS(&w, row, b, at) {
                copy(x->queries + at * p, (x->S ? q : h) + row * p, p);
                read_slots(&w, b, at, w.slot + 1, x->s + b * n);
            }
        }
    }
    return DONE;
}

int regard_tape_back(const tape *x) {
    long B = x->B, n = x->n, p = x->p, met = x->met, g = gates_of(x->cell) * n;
    int threads = x->threads, narrow = x->narrow;
    arena *memory = regard_begin();
    float *to_met = scratch_panels(memory, g, met, narrow);
    float *from_query = x->S ? scratch_panels(memory, p, n, narrow) : NULL;
    float *from_key = x->U_a ? scratch_panels(memory, p, n, narrow) : NULL;
    shares all_dq = scratch_rows(memory, B, p, threads), all_dk = scratch_rows(memory, B, p, threads);
    shares all_dh = scratch_rows(memory, B, n, threads), all_dy = scratch_rows(memory, B, g, threads);
    shares all_rows = scratch_rows(memory, B, met, threads);
    shares all_energies = scratch_shares(memory, x->first + x->T, threads);
    shares all_pairs = scratch_pairs(memory, B, g > p ? g : p, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        walk w = walk_of(x);
        int me = w.me, num_threads = w.num_threads;
        float *dq = OWN(all_dq), *dk = OWN(all_dk), *dh = OWN(all_dh), *dy = OWN(all_dy), *rows = OWN(all_rows);
        float *pairs = OWN(all_pairs), *energies = own_share(all_energies, me);
        regard_pack_share(x->U, met, 1, g, met, narrow, to_met, me, num_threads);
        if (x->S) regard_pack_share(x->S, n, 1, p, n, narrow, from_query, me, num_threads);
        if (x->U_a) regard_pack_share(x->U_a, n, 1, p, n, narrow, from_key, me, num_threads);
#pragma omp barrier
        for (long i = x->T - 1; i >= 0; i--) {
            long count = 0;
            go_to(&w, i);
            /* what the new state read, where it asks */
            FOR_ROWS(&w, row, b, at) {
                count++;
                if (!x->after) continue;
                copy(x->d_reads + at * w.d, x->ds + b * n, n);
                read_slots_back(&w, b, at, w.slot + 1, energies, dq + row * p);
                copy(x->d_queries + at * p, dq + row * p, p);
            }
            if (!count) continue;
            /* the slot: all that this step, later ones and the loss took from it */
            FOR_ROWS(&w, row, b, at) {
                float *d_new = dh + row * n;
                gather_slot(&w, b, w.slot, x->after ? i : i + 1);
                copy(d_new, x->d_written + (b * w.slots + w.slot) * w.d, n);
                add_scaled(d_new, 1.0f, x->dh + b * n, n);
                if (x->d_states) add_scaled(d_new, 1.0f, x->d_states + at * n, n);
                copy(dk + row * p, x->d_keys + (b * w.slots + w.slot) * p, p);
                if (!x->U_a) add_scaled(d_new, 1.0f, dk + row * p, n);
                if (x->after && !x->S) add_scaled(d_new, 1.0f, dq + row * p, n);
            }
            if (x->U_a) regard_step_product(dk, count, from_key, p, n, narrow, 1, dh, pairs);
            if (x->after && x->S) regard_step_product(dq, count, from_query, p, n, narrow, 1, dh, pairs);
            /* the gates */
            FOR_ROWS(&w, row, b, at) {
                float *d_gates = x->d_projected + at * w.wide, *d_slot = x->d_written + (b * w.slots + w.slot) * w.d;
                if (x->c) add_scaled(x->dc + b * n, 1.0f, d_slot + n, n);
                cell_row_back(x->cell, NULL, dh + row * n, x->gates + at * g, x->c ? x->reads + at * w.d + n : NULL,
                              x->c ? x->written + (b * w.slots + w.slot) * w.d + n : NULL, n,
                              x->c ? x->dc + b * n : NULL, d_gates);
                copy(dy + row * g, d_gates, g);
            }
            regard_step_product(dy, count, to_met, g, met, narrow, 0, rows, pairs);
            /* what U met: the state before, or what was read for it */
            FOR_ROWS(&w, row, b, at) {
                float *back = rows + row * met;
                for (long k = 0; x->dropped && k < met; k += n) drop(x, b, back + k, back + k);
                if (x->after) {
                    copy(x->ds + b * n, back, n);
                    if (met > n) copy(x->dh + b * n, back + n, n);
                } else {
                    float *d_read = x->d_reads + at * w.d;
                    copy(d_read, x->ds + b * n, n);
                    add_scaled(d_read, 1.0f, back, n);
                    if (x->c) copy(d_read + n, x->dc + b * n, n);
                    read_slots_back(&w, b, at, w.slot, energies, dq + row * p);
                    copy(x->d_projected + at * w.wide + g, dq + row * p, p);
                }
                if (met == n) memset(x->dh + b * n, 0, (size_t)n * 4);
                if (x->c) memset(x->dc + b * n, 0, (size_t)n * 4);
            }
            if (x->after) continue;
            regard_step_product(dq, count, from_query, p, n, narrow, 0, rows, pairs);
            FOR_ROWS(&w, row, b, at) copy(x->ds + b * n, rows + row * n, n);
        }
        for (long b = me; b < B; b += num_threads)
            for (long slot = 0; slot < x->first; slot++) gather_slot(&w, b, slot, 0);
    }
    return DONE;
}
