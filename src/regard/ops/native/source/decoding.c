/* One step of a decoder for R hypotheses of B sentences, from the last words to logits, in one call: Luong's with or
   without input feeding, and RNNsearch's; over an LSTM or the paper's GRU, of one layer.

   Many rows are shared out among the threads, which then need not meet. Of few rows each thread has all, and a share of
   every matrix; they meet before what another has made is read. */
#include <omp.h>
#include "attention.h"
#include "cell.h"
#include "decoding.h"

/* Rows [first, last) are a thread's own; `apart`: so are they where it multiplies. */
typedef struct {
    int me, num_threads, apart;
    long first, last, R;
    float *scratch;
} team;

#define TALL 128 /* rows multiplied at a time */

INLINE team joined(long R, shares prepared_rows, int by_columns) {
    int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
    part p = part_of(R, 0, 0, me, num_threads);
    if (by_columns) p = (part){R * me / num_threads, R * (me + 1) / num_threads, 0, 0};
    return (team){me, num_threads, !by_columns, p.first, p.last, R, own_share(prepared_rows, me)};
}

INLINE void meet(const team *t) {
    if (!t->apart) {
#pragma omp barrier
    }
}

/* C = A W' (+ bias, or + C), for the panels from `from` to before `to`. */
static void multiply_some(const team *t, const packed *w, const float *A, long down, const float *bias, int add,
                          float *C, long C_down, long from, long to) {
    long first = t->apart ? t->first : 0, last = t->apart ? t->last : t->R, panels = to - from;
    if (!t->apart) {
        to = from + panels * (t->me + 1) / t->num_threads;
        from = from + panels * t->me / t->num_threads;
    }
    for (long i = first; i < last; i += TALL) {
        long rows = last - i < TALL ? last - i : TALL;
        prepared x = regard_prepare(w->kind, A + i * down, down, rows, w->inner, t->scratch);
        regard_rows_by_panels(w, x, rows, from, to, bias, add, C + i * C_down, C_down);
    }
}

INLINE void multiply(const team *t, const packed *w, const float *A, long down, const float *bias, int add, float *C,
                     long C_down) {
    multiply_some(t, w, A, down, bias, add, C, C_down, 0, panels_of(w));
}

/* The vectors of the last words, where there is no table. */
INLINE void embed(const team *t, const decoder *x, const int64_t *words, float *embedded) {
    if (x->table) return;
    for (long i = t->first; i < t->last; i++)
        memcpy(embedded + i * x->m, x->E + words[i] * x->m, (size_t)x->m * 4);
}

/* Query (R, a), `down` apart → alpha (R, Tx), and contexts `wide` apart. */
INLINE void attend(const team *t, const decoder *x, const sentences *s, const float *q, long down, float *alpha,
                   float *contexts, long wide) {
    long beam = s->R / s->B;
    for (long i = t->first; i < t->last; i++) {
        long b = i / beam;
        attend_row(s->keys + b * s->Tx * x->a, s->values + b * s->Tx * x->d, s->there + b * s->Tx, q + i * down, x->v,
                   x->scale, s->Tx, x->a, x->d, alpha + i * s->Tx, contexts + i * wide);
    }
}

/* y: all that joins the gates beside x_t's share (R, g), without U's. h, c → h_new, c_new; u (R, g), rs (R, n). */
INLINE void recur(const team *t, const decoder *x, const int64_t *words, const float *h, const float *c, float *y,
                  float *u, float *rs, float *h_new, float *c_new) {
    long n = x->n, g = x->g, wide = x->W_c->columns == x->l ? g : g + 2 * x->l;
    if (x->lstm) {
        for (long i = t->first; i < t->last; i++) {
            memcpy(c_new + i * n, c + i * n, (size_t)n * 4);
            lstm_row(1, NULL, NULL, x->table ? x->table + words[i] * wide : x->b, y + i * g, n, NULL, c_new + i * n,
                     h_new + i * n);
        }
        return;
    }
    for (long i = t->first; i < t->last; i++) {
        const float *in = x->table ? x->table + words[i] * wide : x->b;
        add_scaled(u + i * g, 1.0f, y + i * g, 2 * n);
        gru_row_reset(in, u + i * g, h + i * n, n, y + i * g, rs + i * n);
    }
    meet(t);
    /* the update gate is kept in y; of u what the candidate's panels write over is read no more */
    multiply_some(t, x->U, rs, n, NULL, 0, u, g, 2 * n / WIDE, panels_of(x->U));
    meet(t);
    for (long i = t->first; i < t->last; i++) {
        const float *in = x->table ? x->table + words[i] * wide : x->b;
        memcpy(h_new + i * n, h + i * n, (size_t)n * 4);
        add_scaled(u + i * g + 2 * n, 1.0f, y + i * g + 2 * n, n);
        gru_row(in, u + i * g, n, y + i * g, h_new + i * n);
    }
}

/* y = F z + W E y + U h, of which the GRU keeps U's share apart, in u. */
INLINE void gates(const team *t, const decoder *x, const float *h, const float *fed, const float *embedded, float *y,
                  float *u) {
    long n = x->n, g = x->g;
    int more = x->lstm;
    if (x->lstm)
        multiply(t, x->U, h, n, NULL, 0, y, g);
    else
        multiply_some(t, x->U, h, n, NULL, 0, u, g, 0, num_panels(2 * n));
    if (x->F) {
        multiply(t, x->F, fed, x->F->inner, NULL, more, y, g);
        more = 1;
    }
    if (!x->table) {
        multiply(t, x->W, embedded, x->m, NULL, more, y, g);
        more = 1;
    }
    if (!more)
        for (long i = t->first; i < t->last; i++) memset(y + i * g, 0, (size_t)g * 4);
}

static int outside(const decoder *x, const int64_t *words, long R) {
    int found = 0;
    for (long i = 0; i < R; i++) found |= words[i] < 0 || words[i] >= x->V;
    return found;
}

/* For the rows that meet a matrix, as its kind takes them. */
static shares scratch_prepared(arena *a, const decoder *x, int threads) {
    const packed *all[] = {x->W, x->U, x->F, x->W_a, x->W_c, x->V_o, x->C_o, x->W_o};
    long most = 0;
    for (int k = 0; k < 8; k++) {
        long words = all[k] ? prepared_words(all[k]->kind, all[k]->inner) : 0;
        most = words > most ? words : most;
    }
    return scratch_shares(a, TALL * most, threads);
}

/* h, c, fed (R, n), (R, n), (R, l): c NULL for a GRU, fed NULL without input feeding; the same after the step in *_new;
   alpha (R, Tx), logits (R, words). Does nothing if a word is none of V. */
int regard_luong_step(const decoder *x, const sentences *s, const int64_t *words, const float *h, const float *c,
                      const float *fed, float *h_new, float *c_new, float *fed_new, float *alpha, float *logits,
                      int threads) {
    long R = s->R, n = x->n, d = x->d, l = x->l, g = x->g, both = d + n;
    if (outside(x, words, R)) return NO_SUCH_WORD;
    arena *memory = regard_begin();
    float *y = regard_scratch(memory, R, g, 0), *u = regard_scratch(memory, R, g, 0);
    float *rs = regard_scratch(memory, R, n, 0), *q = regard_scratch(memory, R, x->a, 0);
    float *cat = regard_scratch(memory, R, both, 0), *embedded = regard_scratch(memory, R, x->m, 0);
    shares prepared_rows = scratch_prepared(memory, x, threads);
    if (memory->failed) return NO_MEMORY;
    int by_columns = R < 4 * HIGH * threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        team t = joined(R, prepared_rows, by_columns);
        embed(&t, x, words, embedded);
        meet(&t);
        gates(&t, x, h, fed, embedded, y, u);
        meet(&t);
        recur(&t, x, words, h, c, y, u, rs, h_new, c_new);
        for (long i = t.first; i < t.last; i++) memcpy(cat + i * both + d, h_new + i * n, (size_t)n * 4);
        if (x->W_a) {
            meet(&t);
            multiply(&t, x->W_a, h_new, n, NULL, 0, q, x->a);
            meet(&t);
        }
        attend(&t, x, s, x->W_a ? q : h_new, x->a, alpha, cat, both);
        meet(&t);
        multiply(&t, x->W_c, cat, both, NULL, 0, fed_new, l);
        meet(&t);
        for (long i = t.first; i < t.last; i++)
            for (long k = 0; k < l; k += LANES)
                put(fed_new + i * l + k, vtanh(take(fed_new + i * l + k, l - k)), l - k);
        meet(&t);
        multiply(&t, x->W_o, fed_new, l, x->b_o, 0, logits, x->W_o->columns);
    }
    return DONE;
}

/* As Luong's; the last state asks, and the context joins gates and readout. */
int regard_bahdanau_step(const decoder *x, const sentences *s, const int64_t *words, const float *h, const float *c,
                         float *h_new, float *c_new, float *alpha, float *logits, int threads) {
    long R = s->R, n = x->n, d = x->d, l = x->l, g = x->g;
    if (outside(x, words, R)) return NO_SUCH_WORD;
    arena *memory = regard_begin();
    float *y = regard_scratch(memory, R, g, 0), *u = regard_scratch(memory, R, g, 0);
    float *rs = regard_scratch(memory, R, n, 0), *q = regard_scratch(memory, R, x->a, 0);
    float *context = regard_scratch(memory, R, d, 0), *embedded = regard_scratch(memory, R, x->m, 0);
    float *pairs = regard_scratch(memory, R, 2 * l, 0), *readout = regard_scratch(memory, R, l, 0);
    shares prepared_rows = scratch_prepared(memory, x, threads);
    if (memory->failed) return NO_MEMORY;
    int by_columns = R < 4 * HIGH * threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        team t = joined(R, prepared_rows, by_columns);
        embed(&t, x, words, embedded);
        if (x->W_a) multiply(&t, x->W_a, h, n, NULL, 0, q, x->a);
        meet(&t);
        attend(&t, x, s, x->W_a ? q : h, x->a, alpha, context, d);
        meet(&t);
        gates(&t, x, h, context, embedded, y, u);
        meet(&t);
        recur(&t, x, words, h, c, y, u, rs, h_new, c_new);
        meet(&t);
        multiply(&t, x->W_c, h_new, n, x->table ? NULL : x->b_r, 0, pairs, 2 * l);
        multiply(&t, x->C_o, context, d, NULL, 1, pairs, 2 * l);
        if (!x->table) multiply(&t, x->V_o, embedded, x->m, NULL, 1, pairs, 2 * l);
        meet(&t);
        for (long i = t.first; i < t.last; i++) {
            float *pair = pairs + i * 2 * l;
            if (x->table) add_scaled(pair, 1.0f, x->table + words[i] * (g + 2 * l) + g, 2 * l);
            for (long k = 0; k < l; k++) {
                float one = pair[2 * k], other = pair[2 * k + 1];
                readout[i * l + k] = other > one || other != other ? other : one;
            }
        }
        meet(&t);
        multiply(&t, x->W_o, readout, l, x->b_o, 0, logits, x->W_o->columns);
    }
    return DONE;
}
