/* Every recurrence, forwards and back. A thread takes sentences me, me + num_threads, … through time; a step multiplies
   the rows that have a word there, and no others. The steps' parts are those of ops/by_hand/steps.py. */
#include "recurrence.h"
#include <omp.h>
#include "attention.h"
#include "cell.h"
#include "product.h"

/* The matrices that a step multiplies by; back, by the same turned over. */
enum {
    OF_STATE,
    OF_CANDIDATE,
    OF_JOINING,
    OF_JOINING_CANDIDATE,
    OF_PAST_QUERY,
    OF_SOURCE_QUERY,
    OF_KEY,
    OF_READOUT,
    NUM_FACTORS
};

typedef struct {
    const float *from; /* (columns, inner), back (inner, columns); NULL where there is none */
    long inner, columns;
    float *panels;
} factor;

/* Of the first layer, or of one above it. */
typedef struct {
    long g, all;               /* rows of gates, and with the gate of deep fusion */
    long kept;                 /* the width of `previous` */
    long joining, to;          /* the width of what joins the gates, and the gate that it joins */
    long query, most;          /* the widest query; the widest left factor, even */
    int reads_first, asks_first; /* the past is read before the update; so is the source */
    int in_place;                /* U meets h as it is */
    factor factors[NUM_FACTORS];
} plan;

/* The panels of some matrices, turned over on the way back. */
static void set_factors(plan *p, const factor *all, arena *memory, int narrow, int back) {
    for (int k = 0; k < NUM_FACTORS; k++) {
        factor *f = p->factors + k;
        *f = all[k];
        if (!f->from) continue;
        if (back) *f = (factor){f->from, f->columns, f->inner};
        f->panels = scratch_panels(memory, f->inner, f->columns, narrow);
        if (f->inner > p->most) p->most = (f->inner + 1) / 2 * 2;
    }
}

/* That of a layer above: what joins the gates is the state below. */
static plan plan_above(const recurrence *x, const level *a, arena *memory, int back) {
    long n = x->n, g = gates_of(x->cell) * n, first = first_gates_of(x->cell) * n, rest = g - first;
    factor all[NUM_FACTORS] = {
        {a->U, n, first},
        {rest ? a->U + first * n : NULL, n, rest},
        {a->W, n, first},
        {rest ? a->W + first * n : NULL, n, rest},
    };
    plan p = {g, g};
    set_factors(&p, all, memory, x->narrow, back);
    return p;
}

static plan plan_of(const recurrence *x, arena *memory, int back) {
    const reading *past = x->past, *source = x->source;
    long n = x->n, g = gates_of(x->cell) * n, first = first_gates_of(x->cell) * n;
    int fuses = source && x->enters == MEMORY;
    plan p = {g, g + (fuses ? n : 0), x->met + (x->W_h ? source->d : 0), !source ? 0 : fuses ? n : source->d, fuses ? g : 0};
    p.reads_first = past && past->asks == LAST_READ;
    p.asks_first = source && source->asks != NEW_STATE;
    p.in_place = !past && !x->state_mask && (!p.asks_first || source->matrix);
    long past_p = past ? past->p : 0, source_p = source ? source->p : 0;
    p.query = past_p > source_p ? past_p : source_p;
    factor all[NUM_FACTORS] = {
        {x->U, x->met, first},
        {first < g ? x->U + first * x->met : NULL, n, g - first},
        {x->J, p.joining, p.to ? n : first},
        {x->J && !p.to && first < g ? x->J + first * p.joining : NULL, p.joining, g - first},
        {past ? past->matrix : NULL, n, past_p},
        {source ? source->matrix : NULL, n, source_p},
        {x->U_a, n, past_p},
        {x->W_h, n, p.joining},
    };
    set_factors(&p, all, memory, x->narrow, back);
    return p;
}

/* The plans of all layers, the first one first. */
static void plan_all(const recurrence *x, arena *memory, int back, plan *plans) {
    plans[0] = plan_of(x, memory, back);
    for (long k = 0; k < x->layers; k++) plans[k + 1] = plan_above(x, x->above + k, memory, back);
}

/* A thread at one step: its sentences are me, me + num_threads, …; those with a word have rows 0 … count - 1. */
typedef struct {
    const recurrence *x;
    const plan *p;
    float *pairs;
    int me, num_threads;
    long own;            /* the number of its sentences */
    long t, slot, count; /* the position, the slot of the own past that the step writes */
} walk;

static walk begin(const recurrence *x, const plan *p, shares all_pairs, int back) {
    int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
    for (const plan *each = p; each <= p + x->layers; each++)
        for (const factor *f = each->factors; f < each->factors + NUM_FACTORS; f++)
            if (f->from)
                regard_pack_share(f->from, back ? f->columns : 1, back ? 1 : f->inner, f->inner, f->columns, x->narrow,
                                  f->panels, me, num_threads);
#pragma omp barrier
    return (walk){x, p, own_rows(all_pairs, x->B, me, num_threads), me, num_threads,
                  rows_of(x->B, me, num_threads), 0, 0, 0};
}

INLINE void go_to(walk *w, long i) {
    const recurrence *x = w->x;
    w->t = x->reverse ? x->T - 1 - i : i;
    w->slot = x->past ? x->past->slots - x->T + i : 0;
    w->count = 0;
    for (long b = w->me; b < x->B; b += w->num_threads) w->count += x->there[b * x->T + w->t];
}

/* For each sentence b of the thread with a word at this step: its row, and its place among all positions. */
#define FOR_ROWS(w, row, b, at)                                                                            \
    for (long b = (w)->me, row = 0, at = b * (w)->x->T + (w)->t; b < (w)->x->B;                            \
         row += (w)->x->there[at], b += (w)->num_threads, at = b * (w)->x->T + (w)->t)                     \
        if ((w)->x->there[at])

/* C = A B + A' B' (+ C) for the rows of the step, without the terms that do not exist; `down`, `down_other` and `C_down`
   are the strides of the rows of A, A' and C. */
INLINE void multiply_both(const walk *w, int which, const float *A, long down, int other, const float *A_other,
                          long down_other, int add, float *C, long C_down) {
    const factor *one = w->p->factors + which, *two = w->p->factors + other;
    term terms[2] = {{A, down, one->inner, one->panels}, {A_other, down_other, two->inner, two->panels}};
    const term *first = one->from ? terms : terms + 1;
    int count = (one->from != NULL) + (two->from != NULL && other != which);
    regard_step_product(first, count, w->count, (one->from ? one : two)->columns, w->x->narrow, add, C, C_down, w->pairs);
}

INLINE void multiply(const walk *w, int which, const float *A, long down, int add, float *C, long C_down) {
    multiply_both(w, which, A, down, which, NULL, 0, add, C, C_down);
}

INLINE void copy(float *to, const float *from, long count) { memcpy(to, from, (size_t)count * 4); }

INLINE void clear(float *x, long count) { memset(x, 0, (size_t)count * 4); }

/* to = x + y. */
INLINE void sum(float *to, const float *x, const float *y, long count) {
    for (long u = 0; u < count; u += LANES) put(to + u, take(x + u, count - u) + take(y + u, count - u), count - u);
}

/* to = x * y. */
INLINE void times(float *to, const float *x, const float *y, long count) {
    for (long u = 0; u < count; u += LANES) put(to + u, take(x + u, count - u) * take(y + u, count - u), count - u);
}

/* to = from * the state mask of the sentence, n units of each. */
INLINE void drop(const recurrence *x, long b, const float *from, long count, float *to) {
    for (long k = 0; k < count; k += x->n) times(to + k, from + k, x->state_mask + b * x->n, x->n);
}

/* The first slot that a step reading up to `end` reaches back to. */
INLINE long start_of(const reading *m, const uint8_t *there, long end) {
    if (!m->span) return 0;
    for (long left = m->span; end > 0 && left > 0;) left -= there[--end];
    return end;
}

/* The slots before `end` with the query of a position, of which q is what does not depend on x → alpha, and what is
   read, in `read` and but for a readout in `reads`. Both are near while they are used, and kept afterwards. */
static const float *read_slots(const recurrence *x, const reading *m, long b, long at, long end, float *q, float *read) {
    const uint8_t *there = m->there + b * m->slots;
    long start = start_of(m, there, end), from = b * m->slots + start;
    if (m->offset) add_scaled(q, 1.0f, x->projected + at * x->wide + m->offset, m->p);
    attend_row(m->keys + from * m->p, m->values + from * m->d, there + start, q, m->v, m->scale, end - start, m->p, m->d,
               m->alpha + at * m->slots + start, read);
    copy(m->queries + at * m->p, q, m->p);
    if (m != x->source || !x->W_h) copy(m->reads + at * m->d, read, m->d);
    return read;
}

/* And back: ∂/∂(what was read), in d_reads → ∂/∂query (p), which is kept; ∂/∂keys and ∂/∂v grow. */
static void read_slots_back(const recurrence *x, const reading *m, long b, long at, long end, float *energies,
                            float *dq) {
    const uint8_t *there = m->there + b * m->slots;
    long start = start_of(m, there, end), from = b * m->slots + start, alphas = at * m->slots + start;
    attend_row_back(m->keys + from * m->p, m->values + from * m->d, there + start, m->queries + at * m->p, m->v, m->scale,
                    m->alpha + alphas, m->d_reads + at * m->d, m->d_alpha ? m->d_alpha + alphas : NULL, end - start,
                    m->p, m->d, energies, dq, m->d_keys + from * m->p, m->d_v + b * m->p);
    copy(m->offset ? x->d_projected + at * x->wide + m->offset : m->d_queries + at * m->p, dq, m->p);
}

/* d_values of a slot grows by what the steps from `first` on took by reading it. */
INLINE void gather_slot(const recurrence *x, long b, long slot, long first) {
    const reading *m = x->past;
    float *to = m->d_values + (b * m->slots + slot) * m->d;
    for (long i = first; i < x->T; i++) {
        long at = b * x->T + (x->reverse ? x->T - 1 - i : i);
        float alpha = x->there[at] ? m->alpha[at * m->slots + slot] : 0;
        if (alpha != 0) add_scaled(to, alpha, m->d_reads + at * m->d, m->d);
    }
}

/* A walk through the layer above the one that w goes through. */
INLINE walk upstairs(const walk *w, long layer) {
    walk up = *w;
    up.p = w->p + 1 + layer;
    return up;
}

/* What a layer above reads, and what its U meets, row by row. */
INLINE void enter(const walk *w, const level *a, const float *below, long b, long at, float *met, float *in) {
    long n = w->x->n;
    const float *h = a->h + b * n;
    copy(a->previous + at * n, h, n);
    if (a->state_mask)
        times(met, h, a->state_mask + b * n, n);
    else
        copy(met, h, n);
    if (a->dropped)
        times(in, below + b * n, a->dropped + at * n, n);
    else
        copy(in, below + b * n, n);
    copy(a->inputs + at * n, in, n);
}

/* A step of a layer above, from the states of the one below it; met, in and y are for rows. */
static void climb(const walk *w, const level *a, const float *below, float *met, float *in, float *y) {
    const recurrence *x = w->x;
    long n = x->n, g = w->p->g;
    FOR_ROWS(w, row, b, at) enter(w, a, below, b, at, met + row * n, in + row * n);
    multiply_both(w, OF_STATE, met, n, OF_JOINING, in, n, 0, y, g);
    if (a->gated) {
        FOR_ROWS(w, row, b, at) {
            gru_row_reset(a->b, y + row * g, met + row * n, n, a->gates + at * g, a->gated + at * n);
            copy(met + row * n, a->gated + at * n, n);
        }
        multiply_both(w, OF_CANDIDATE, met, n, OF_JOINING_CANDIDATE, in, n, 0, y + 2 * n, g);
    }
    FOR_ROWS(w, row, b, at)
        cell_row(x->cell, a->p, NULL, a->b, y + row * g, n, a->gates + at * g, a->c ? a->c + b * n : NULL, a->h + b * n);
    for (long b = w->me; a->memories && b < x->B; b += w->num_threads)
        copy(a->memories + (b * x->T + w->t) * n, a->c + b * n, n);
}

/* And back: ∂/∂h of the step, in rows of d_new → ∂/∂(the states below), in rows of d_in. */
static void descend(const walk *w, const level *a, int first, float *d_new, float *dy, float *back, float *d_in) {
    const recurrence *x = w->x;
    long n = x->n, g = w->p->g;
    int resets = a->gated != NULL;
    FOR_ROWS(w, row, b, at) {
        const float *before = !a->c ? NULL : first ? a->c + b * n : a->memories + (x->reverse ? at + 1 : at - 1) * n;
        cell_row_back(x->cell, a->p, NULL, d_new + row * n, a->gates + at * g, a->previous + at * n, before,
                      a->memories ? a->memories + at * n : NULL, n, a->c ? a->d_c + b * n : NULL, dy + row * g, NULL);
    }
    if (resets) {
        multiply(w, OF_CANDIDATE, dy + 2 * n, g, 0, back, n);
        FOR_ROWS(w, row, b, at) {
            const float *state = a->previous + at * n;
            if (a->state_mask) {
                times(d_in + row * n, state, a->state_mask + b * n, n);
                state = d_in + row * n;
            }
            gru_row_reset_back(a->gates + at * g, state, n, back + row * n, dy + row * g);
        }
    }
    multiply(w, OF_STATE, dy, g, resets, back, n);
    multiply_both(w, OF_JOINING, dy, g, OF_JOINING_CANDIDATE, dy + 2 * n, g, 0, d_in, n);
    FOR_ROWS(w, row, b, at) {
        copy(a->d_gates + at * g, dy + row * g, g);
        if (a->state_mask) times(back + row * n, back + row * n, a->state_mask + b * n, n);
        if (resets) add_scaled(back + row * n, 1.0f, d_new + row * n, n);
        copy(a->d_h + b * n, back + row * n, n);
        if (a->dropped) times(d_in + row * n, d_in + row * n, a->dropped + at * n, n);
    }
}

int regard_recurrence(const recurrence *x) {
    const reading *past = x->past, *source = x->source;
    long B = x->B, n = x->n, met = x->met, l = source ? source->d : 0;
    int threads = x->threads;
    arena *memory = regard_begin();
    plan plans[x->layers + 1];
    plan_all(x, memory, 0, plans);
    const plan p = plans[0];
    int news_used = past || x->W_h;
    const float *top = x->layers ? x->above[x->layers - 1].h : x->h;
    shares all_rows = scratch_rows(memory, B, met, threads), all_y = scratch_rows(memory, B, p.all, threads);
    shares all_joining = scratch_rows(memory, B, p.joining, threads), all_q = scratch_rows(memory, B, p.query, threads);
    shares all_news = scratch_rows(memory, B, news_used ? n : 0, threads);
    shares all_in = scratch_rows(memory, B, x->layers ? n : 0, threads);
    shares all_reads = scratch_shares(memory, past && past->d > l ? past->d : l, threads);
    shares all_pairs = scratch_pairs(memory, B, 2 * p.most, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        walk w = begin(x, plans, all_pairs, 0);
        int me = w.me, num_threads = w.num_threads;
        float *rows = OWN(all_rows), *y = OWN(all_y), *joining = OWN(all_joining), *q = OWN(all_q);
        float *news = OWN(all_news), *in = OWN(all_in), *own = own_share(all_reads, me);
        for (long i = 0; i < x->T; i++) {
            go_to(&w, i);
            /* where all sentences have a word, h and h~ are multiplied where they lie */
            int dense = w.count == w.own, in_place = dense && p.in_place;
            const float *state = in_place ? x->h + me * n : rows, *joins = dense && x->W_h ? x->fed + me * l : joining;
            long down = in_place ? num_threads * n : met, joins_down = dense && x->W_h ? num_threads * l : p.joining;
            const float *new = dense ? top + me * n : news;
            long new_down = dense ? num_threads * n : n;
            /* what the step starts from */
            FOR_ROWS(&w, row, b, at) {
                float *now = x->previous + at * p.kept;
                copy(now, (past ? x->s : x->h) + b * n, n);
                if (met > n) copy(now + n, x->h + b * n, n);
                if (!in_place) copy(rows + row * met, now, met);
                if (x->r) copy(joining + row * n, x->r + b * n, n);
                if (x->W_h) copy(now + met, x->fed + b * l, l);
                if (x->W_h && !dense) copy(joining + row * l, x->fed + b * l, l);
            }
            /* what asks before the update */
            if (p.reads_first) {
                multiply(&w, OF_PAST_QUERY, rows, met, 0, q, past->p);
                FOR_ROWS(&w, row, b, at) {
                    const float *read = read_slots(x, past, b, at, w.slot, q + row * past->p, own);
                    copy(x->s + b * n, read, n);
                    if (x->c) copy(x->c + b * n, read + n, n);
                    copy(rows + row * n, read, n);
                }
            }
            if (p.asks_first) {
                if (source->matrix) multiply(&w, OF_SOURCE_QUERY, x->r ? joining : state, x->r ? n : down, 0, q, source->p);
                FOR_ROWS(&w, row, b, at) {
                    float *query = (source->matrix ? q : rows) + row * source->p;
                    const float *read = read_slots(x, source, b, at, source->slots, query, own);
                    if (x->r) copy(x->r + b * n, read, n);
                    if (x->state_mask && x->r)
                        drop(x, b, read, n, joining + row * n);
                    else
                        copy(joining + row * p.joining, read, p.joining);
                }
            }
            /* the gates */
            if (x->state_mask) FOR_ROWS(&w, row, b, at) drop(x, b, rows + row * met, met, rows + row * met);
            if (p.to) multiply(&w, OF_JOINING, joining, n, 0, y + p.to, p.all);
            multiply_both(&w, OF_STATE, state, down, p.to ? OF_STATE : OF_JOINING, joins, joins_down, 0, y, p.all);
            if (x->gated) {
                FOR_ROWS(&w, row, b, at) {
                    float *gated = x->gated + at * n;
                    gru_row_reset(x->projected + at * x->wide, y + row * p.all, state + row * down, n,
                                  x->gates + at * p.all, gated);
                    copy(rows + row * met, gated, n);
                }
                multiply_both(&w, OF_CANDIDATE, rows, met, OF_JOINING_CANDIDATE, joins, joins_down, 0, y + 2 * n, p.all);
            }
            FOR_ROWS(&w, row, b, at) {
                float *h = x->h + b * n, *c = x->c ? x->c + b * n : NULL;
                cell_row(x->cell, x->p, p.to ? source->reads + at * source->d + n : NULL, x->projected + at * x->wide,
                         y + row * p.all, n, x->gates + at * p.all, c, h);
                if (x->states && !x->layers) copy(x->states + at * n, h, n);
                if (news_used && !dense) copy(news + row * n, h, n);
                if (past) {
                    float *slot = past->values + (b * past->slots + w.slot) * past->d;
                    copy(slot, h, n);
                    if (c) copy(slot + n, c, n);
                }
            }
            for (long b = me; x->memories && b < B; b += num_threads)
                copy(x->memories + (b * x->T + w.t) * n, x->c + b * n, n);
            for (long k = 0; k < x->layers; k++) {
                walk up = upstairs(&w, k);
                climb(&up, x->above + k, k ? x->above[k - 1].h : x->h, rows, in, y);
            }
            if (x->layers)
                FOR_ROWS(&w, row, b, at) {
                    copy(x->states + at * n, top + b * n, n);
                    if (!dense) copy(news + row * n, top + b * n, n);
                }
            /* the slot, and what asks after the update */
            if (x->U_a) multiply(&w, OF_KEY, new, new_down, 0, q, past->p);
            if (past)
                FOR_ROWS(&w, row, b, at) {
                    float *key = past->keys + (b * past->slots + w.slot) * past->p;
                    copy(key, x->U_a ? q + row * past->p : x->h + b * n, past->p);
                }
            if (past && !p.reads_first) {
                if (past->matrix) multiply(&w, OF_PAST_QUERY, new, new_down, 0, q, past->p);
                FOR_ROWS(&w, row, b, at) {
                    float *query = past->matrix ? q + row * past->p : x->h + b * n;
                    copy(x->s + b * n, read_slots(x, past, b, at, w.slot + 1, query, own), n);
                }
            }
            if (!x->W_h) continue;
            if (source->matrix) multiply(&w, OF_SOURCE_QUERY, new, new_down, 0, q, source->p);
            multiply(&w, OF_READOUT, new, new_down, 0, joining, l);
            FOR_ROWS(&w, row, b, at) {
                if (!source->matrix) copy(q + row * n, top + b * n, n);
                read_slots(x, source, b, at, source->slots, q + row * source->p, own);
                float *fed = x->fed + b * l;
                for (long u = 0; u < l; u += LANES) {
                    vec z = vtanh(take(joining + row * l + u, l - u) + take(own + u, l - u));
                    put(source->reads + at * l + u, z, l - u);
                    put(fed + u, x->dropped ? z * take(x->dropped + at * l + u, l - u) : z, l - u);
                }
                copy(x->readouts + at * l, fed, l);
            }
        }
    }
    return DONE;
}

int regard_recurrence_back(const recurrence *x) {
    const reading *past = x->past, *source = x->source;
    long B = x->B, n = x->n, met = x->met, l = source ? source->d : 0;
    long slots = past ? past->slots : 0, words = source ? source->slots : 0;
    int threads = x->threads, resets = x->gated != NULL;
    arena *memory = regard_begin();
    plan plans[x->layers + 1];
    plan_all(x, memory, 1, plans);
    const plan p = plans[0];
    const float *d_top = x->layers ? x->above[x->layers - 1].d_h : x->d_h;
    shares all_new = scratch_rows(memory, B, n, threads), all_back = scratch_rows(memory, B, met, threads);
    shares all_dy = scratch_rows(memory, B, p.all, threads), all_joining = scratch_rows(memory, B, p.joining, threads);
    shares all_dq = scratch_rows(memory, B, p.query, threads), all_dk = scratch_rows(memory, B, past ? past->p : 0, threads);
    shares all_energies = scratch_shares(memory, slots > words ? slots : words, threads);
    shares all_met = scratch_rows(memory, B, resets && x->state_mask ? n : 0, threads);
    shares all_in = scratch_rows(memory, B, x->layers ? n : 0, threads);
    shares all_pairs = scratch_pairs(memory, B, 2 * p.most, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        walk w = begin(x, plans, all_pairs, 1);
        int me = w.me, num_threads = w.num_threads;
        float *d_new = OWN(all_new), *own_back = OWN(all_back), *dy = OWN(all_dy), *joining = OWN(all_joining);
        float *dq = OWN(all_dq), *dk = OWN(all_dk), *energies = own_share(all_energies, me), *dropped = OWN(all_met), *d_in = OWN(all_in);
        for (long i = x->T - 1; i >= 0; i--) {
            go_to(&w, i);
            if (!w.count) continue;
            int dense = w.count == w.own, in_place = dense && !past;
            float *back = in_place ? x->d_h + me * n : own_back, *d_joins = dense && x->W_h ? x->d_fed + me * l : joining;
            long down = in_place ? num_threads * n : met, joins_down = dense && x->W_h ? num_threads * l : p.joining;
            FOR_ROWS(&w, row, b, at) {
                if (x->d_states)
                    sum(d_new + row * n, d_top + b * n, x->d_states + at * n, n);
                else
                    copy(d_new + row * n, d_top + b * n, n);
            }
            /* what asked after the update */
            if (x->W_h) {
                FOR_ROWS(&w, row, b, at) {
                    float *dz = source->d_reads + at * l;
                    for (long u = 0; u < l; u += LANES) {
                        vec z = take(source->reads + at * l + u, l - u), d = take(x->d_fed + b * l + u, l - u);
                        if (x->d_readouts) d += take(x->d_readouts + at * l + u, l - u);
                        if (x->dropped) d *= take(x->dropped + at * l + u, l - u);
                        put(dz + u, d * (1.0f - z * z), l - u);
                    }
                    copy(joining + row * l, dz, l);
                    read_slots_back(x, source, b, at, words, energies, dq + row * source->p);
                    if (!source->matrix) add_scaled(d_new + row * n, 1.0f, dq + row * n, n);
                }
                multiply_both(&w, OF_READOUT, joining, l, OF_SOURCE_QUERY, dq, source->p, 1, d_new, n);
            }
            /* the layers above */
            for (long k = x->layers - 1; k >= 0; k--) {
                walk up = upstairs(&w, k);
                descend(&up, x->above + k, !i, d_new, dy, own_back, d_in);
                FOR_ROWS(&w, row, b, at)
                    sum(d_new + row * n, (k ? x->above[k - 1].d_h : x->d_h) + b * n, d_in + row * n, n);
            }
            /* the slot: all that this step, later ones and the loss took from it */
            if (past) {
                FOR_ROWS(&w, row, b, at) {
                    long slot = b * slots + w.slot;
                    if (!p.reads_first) {
                        float *d_read = past->d_reads + at * past->d;
                        copy(d_read, x->d_s + b * n, n);
                        clear(d_read + n, past->d - n);
                        read_slots_back(x, past, b, at, w.slot + 1, energies, dq + row * past->p);
                        if (!past->matrix) add_scaled(d_new + row * n, 1.0f, dq + row * n, n);
                    }
                    gather_slot(x, b, w.slot, p.reads_first ? i + 1 : i);
                    add_scaled(d_new + row * n, 1.0f, past->d_values + slot * past->d, n);
                    if (x->c) add_scaled(x->d_c + b * n, 1.0f, past->d_values + slot * past->d + n, n);
                    copy(dk + row * past->p, past->d_keys + slot * past->p, past->p);
                    if (!x->U_a) add_scaled(d_new + row * n, 1.0f, dk + row * n, n);
                }
                multiply_both(&w, OF_KEY, dk, past->p, p.reads_first ? OF_KEY : OF_PAST_QUERY, dq, past->p, 1, d_new, n);
            }
            /* the cell */
            FOR_ROWS(&w, row, b, at) {
                long last = x->reverse ? at + 1 : at - 1;
                const float *before = !x->c ? NULL : i && x->memories ? x->memories + last * n : x->c + b * n;
                const float *after = x->memories ? x->memories + at * n : NULL, *state = x->previous + at * p.kept;
                float *fetching = p.to ? source->d_reads + at * l + n : NULL;
                if (p.reads_first) {
                    state = past->reads + at * past->d;
                    before = state + n;
                    after = past->values + (b * slots + w.slot) * past->d + n;
                }
                cell_row_back(x->cell, x->p, p.to ? source->reads + at * l + n : NULL, d_new + row * n,
                              x->gates + at * p.all, state, before, after, n, x->c ? x->d_c + b * n : NULL,
                              dy + row * p.all, fetching);
            }
            if (resets) {
                multiply(&w, OF_CANDIDATE, dy + 2 * n, p.all, 0, back, down);
                FOR_ROWS(&w, row, b, at) {
                    const float *state = x->previous + at * p.kept;
                    if (x->state_mask) {
                        drop(x, b, state, n, dropped + row * n);
                        state = dropped + row * n;
                    }
                    gru_row_reset_back(x->gates + at * p.all, state, n, back + row * down, dy + row * p.all);
                }
            }
            multiply(&w, OF_STATE, dy, p.all, resets, back, down);
            if (source)
                multiply_both(&w, OF_JOINING, dy + p.to, p.all, OF_JOINING_CANDIDATE, dy + 2 * n, p.all, 0, d_joins,
                              joins_down);
            FOR_ROWS(&w, row, b, at) {
                copy(x->d_projected + at * x->wide, dy + row * p.all, p.all);
                if (x->state_mask) drop(x, b, back + row * down, met, back + row * down);
                if (resets) add_scaled(back + row * down, 1.0f, d_new + row * n, n);
                if (x->W_h && !dense) copy(x->d_fed + b * l, joining + row * l, l);
            }
            /* what asked before the update */
            if (p.asks_first) {
                FOR_ROWS(&w, row, b, at) {
                    float *d_read = source->d_reads + at * l, *query = dq + row * source->p;
                    if (x->r) {
                        copy(d_read, x->d_r + b * n, n);
                        if (x->state_mask) drop(x, b, joining + row * n, n, joining + row * n);
                    }
                    add_scaled(d_read, 1.0f, joining + row * p.joining, p.joining);
                    read_slots_back(x, source, b, at, words, energies, query);
                    if (!source->matrix) add_scaled(back + row * down, 1.0f, query, n);
                }
                if (source->matrix) multiply(&w, OF_SOURCE_QUERY, dq, source->p, !x->r, x->r ? joining : back, x->r ? n : down);
                if (x->r) FOR_ROWS(&w, row, b, at) copy(x->d_r + b * n, joining + row * n, n);
            }
            if (p.reads_first) {
                FOR_ROWS(&w, row, b, at) {
                    float *d_read = past->d_reads + at * past->d;
                    sum(d_read, x->d_s + b * n, back + row * down, n);
                    if (x->c) copy(d_read + n, x->d_c + b * n, n);
                    read_slots_back(x, past, b, at, w.slot, energies, dq + row * past->p);
                    if (x->c) clear(x->d_c + b * n, n);
                }
                multiply(&w, OF_PAST_QUERY, dq, past->p, 0, back, down);
            }
            /* what the step started from */
            if (in_place) continue;
            FOR_ROWS(&w, row, b, at) {
                copy((past ? x->d_s : x->d_h) + b * n, back + row * down, n);
                if (met > n)
                    copy(x->d_h + b * n, back + row * down + n, n);
                else if (past)
                    clear(x->d_h + b * n, n);
            }
        }
        for (long b = me; past && b < B; b += num_threads)
            for (long slot = 0; slot < slots - x->T; slot++) gather_slot(x, b, slot, 0);
    }
    return DONE;
}
