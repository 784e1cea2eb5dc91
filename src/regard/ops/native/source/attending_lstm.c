/* RNNsearch's recurrence with an LSTM: query, attention, gates; a thread takes its sentences through all steps. */
#include "attending.h"
#include "lstm.h"

static _Thread_local room packed_query, packed_state, packed_context;
static _Thread_local room own;

/* projected, gates (B, Ty, 4n); previous, states, memories (B, Ty, n); contexts (B, Ty, d); alpha (B, Ty, Tx);
   h, c (B, n): the first state; U (4n, n), C (4n, d). */
void regard_attending_lstm(const source *x, const float *projected, const float *U, const float *C, const float *h,
                           const float *c, float *states, float *previous, float *memories, float *gates,
                           float *contexts, float *queries, float *alpha) {
    long n = x->n, a = x->a, d = x->d, g = 4 * n;
    float *for_query = room_of(&packed_query, num_panels(a) * panel_words(n, x->narrow));
    float *for_state = room_of(&packed_state, num_panels(g) * panel_words(n, x->narrow));
    float *for_context = room_of(&packed_context, num_panels(g) * panel_words(d, x->narrow));
#pragma omp parallel num_threads(x->threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long rows = rows_of(x->B, me, all_of_us);
        float *s = room_of(&own, rows * (2 * n + a + d + g + n + d) + 64), *m = s + rows * n, *q = m + rows * n;
        float *context = q + rows * a, *y = context + rows * d, *scratch = y + rows * g;
        regard_pack_share(x->W_a, 1, n, n, a, x->narrow, for_query, me, all_of_us);
        regard_pack_share(U, 1, n, n, g, x->narrow, for_state, me, all_of_us);
        regard_pack_share(C, 1, d, d, g, x->narrow, for_context, me, all_of_us);
        for (long i = 0; i < rows; i++) {
            memcpy(s + i * n, h + (me + i * all_of_us) * n, (size_t)n * 4);
            memcpy(m + i * n, c + (me + i * all_of_us) * n, (size_t)n * 4);
        }
#pragma omp barrier
        for (long t = 0; t < x->Ty; t++) {
            regard_step_product(s, rows, for_query, n, a, x->narrow, 0, q, scratch);
            attend_rows(x, q, t, queries, alpha, contexts, context, me, all_of_us);
            regard_step_product(s, rows, for_state, n, g, x->narrow, 0, y, scratch);
            regard_step_product(context, rows, for_context, d, g, x->narrow, 1, y, scratch);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * all_of_us) * x->Ty + t;
                memcpy(previous + at * n, s + i * n, (size_t)n * 4);
                lstm_row(projected + at * g, y + i * g, n, gates + at * g, m + i * n, s + i * n);
                memcpy(states + at * n, s + i * n, (size_t)n * 4);
                memcpy(memories + at * n, m + i * n, (size_t)n * 4);
            }
        }
    }
}

/* d_contexts comes with what the loss takes and leaves complete; dh, dc (B, n) leave as ∂/∂(first state); d_keys and
   d_v (B, a) come as zeros; d_alpha may be NULL. */
void regard_attending_lstm_back(const source *x, const float *U, const float *C, const float *first_c,
                                const float *queries, const float *memories, const float *gates, const float *alpha,
                                const float *d_states, const float *d_alpha, float *d_contexts, float *d_projected,
                                float *d_queries, float *d_keys, float *d_v, float *dh, float *dc) {
    long n = x->n, a = x->a, d = x->d, g = 4 * n;
    float *from_query = room_of(&packed_query, num_panels(n) * panel_words(a, x->narrow));
    float *to_state = room_of(&packed_state, num_panels(n) * panel_words(g, x->narrow));
    float *to_context = room_of(&packed_context, num_panels(d) * panel_words(g, x->narrow));
#pragma omp parallel num_threads(x->threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long rows = rows_of(x->B, me, all_of_us), wide = g + n > a ? g + n : a;
        float *ds = room_of(&own, rows * (2 * n + a + d + g + wide) + x->Tx + 64), *dm = ds + rows * n;
        float *dq = dm + rows * n, *dy = dq + rows * a;
        float *context = dy + rows * g, *scratch = context + rows * d, *energies = scratch + rows * wide;
        regard_pack_share(x->W_a, n, 1, a, n, x->narrow, from_query, me, all_of_us);
        regard_pack_share(U, n, 1, g, n, x->narrow, to_state, me, all_of_us);
        regard_pack_share(C, d, 1, g, d, x->narrow, to_context, me, all_of_us);
        memset(ds, 0, (size_t)(2 * rows * n) * 4);
#pragma omp barrier
        for (long t = x->Ty - 1; t >= 0; t--) {
            for (long i = 0; i < rows; i++) {
                long b = me + i * all_of_us, at = b * x->Ty + t;
                const float *before = t ? memories + (at - 1) * n : first_c + b * n;
                add_scaled(ds + i * n, 1.0f, d_states + at * n, n);
                lstm_row_back(ds + i * n, gates + at * g, before, memories + at * n, n, dm + i * n, dy + i * g);
                memcpy(d_projected + at * g, dy + i * g, (size_t)g * 4);
            }
            regard_step_product(dy, rows, to_state, g, n, x->narrow, 0, ds, scratch);
            regard_step_product(dy, rows, to_context, g, d, x->narrow, 0, context, scratch);
            attend_rows_back(x, queries, t, alpha, d_alpha, context, d_contexts, energies, dq, d_queries, d_keys,
                             d_v, me, all_of_us);
            regard_step_product(dq, rows, from_query, a, n, x->narrow, 1, ds, scratch);
        }
        for (long i = 0; i < rows; i++) {
            memcpy(dh + (me + i * all_of_us) * n, ds + i * n, (size_t)n * 4);
            memcpy(dc + (me + i * all_of_us) * n, dm + i * n, (size_t)n * 4);
        }
    }
}
