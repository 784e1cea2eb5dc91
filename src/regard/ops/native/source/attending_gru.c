/* RNNsearch's recurrence with the paper's GRU: query, attention, gates; a thread takes its sentences through all steps. */
#include "attending.h"
#include "gru.h"

static _Thread_local room packed_query, packed_gates, packed_candidate, packed_context;
static _Thread_local room own;

/* projected, gates (B, Ty, 3n); previous, states, gated (B, Ty, n): s before a step, after it, and r * s; contexts
   (B, Ty, d); queries (B, Ty, a); alpha (B, Ty, Tx); first (B, n); U (3n, n), C (3n, d). */
void regard_attending_gru(const source *x, const float *projected, const float *U, const float *C, const float *first,
                          float *states, float *previous, float *gated, float *gates, float *contexts, float *queries,
                          float *alpha) {
    long n = x->n, a = x->a, d = x->d, g = 3 * n;
    float *for_query = room_of(&packed_query, num_panels(a) * panel_words(n, x->narrow));
    float *for_gates = room_of(&packed_gates, num_panels(2 * n) * panel_words(n, x->narrow));
    float *for_candidate = room_of(&packed_candidate, num_panels(n) * panel_words(n, x->narrow));
    float *for_context = room_of(&packed_context, num_panels(g) * panel_words(d, x->narrow));
#pragma omp parallel num_threads(x->threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long rows = rows_of(x->B, me, all_of_us);
        float *s = room_of(&own, rows * (3 * n + a + d + g + 2 * n + n + d + 1) + 64), *rs = s + rows * n;
        float *q = rs + rows * n, *context = q + rows * a, *y = context + rows * d, *two = y + rows * g;
        float *one = two + rows * 2 * n, *scratch = one + rows * n;
        regard_pack_share(x->W_a, 1, n, n, a, x->narrow, for_query, me, all_of_us);
        regard_pack_share(U, 1, n, n, 2 * n, x->narrow, for_gates, me, all_of_us);
        regard_pack_share(U + 2 * n * n, 1, n, n, n, x->narrow, for_candidate, me, all_of_us);
        regard_pack_share(C, 1, d, d, g, x->narrow, for_context, me, all_of_us);
        for (long i = 0; i < rows; i++) memcpy(s + i * n, first + (me + i * all_of_us) * n, (size_t)n * 4);
#pragma omp barrier
        for (long t = 0; t < x->Ty; t++) {
            regard_step_product(s, rows, for_query, n, a, x->narrow, 0, q, scratch);
            attend_rows(x, q, t, queries, alpha, contexts, context, me, all_of_us);
            regard_step_product(context, rows, for_context, d, g, x->narrow, 0, y, scratch);
            regard_step_product(s, rows, for_gates, n, 2 * n, x->narrow, 0, two, scratch);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * all_of_us) * x->Ty + t;
                add_scaled(two + i * 2 * n, 1.0f, y + i * g, 2 * n);
                memcpy(one + i * n, y + i * g + 2 * n, (size_t)n * 4);
                memcpy(previous + at * n, s + i * n, (size_t)n * 4);
                gru_row_gates(projected + at * g, two + i * 2 * n, s + i * n, n, gates + at * g, rs + i * n);
                memcpy(gated + at * n, rs + i * n, (size_t)n * 4);
            }
            regard_step_product(rs, rows, for_candidate, n, n, x->narrow, 1, one, scratch);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * all_of_us) * x->Ty + t;
                gru_row_state(projected + at * g, one + i * n, n, gates + at * g, s + i * n);
                memcpy(states + at * n, s + i * n, (size_t)n * 4);
            }
        }
    }
}

/* As the LSTM's: d_contexts comes with what the loss takes and leaves complete; d_keys and d_v (B, a) come as
   zeros; d_first (B, n) leaves as ∂/∂s_0. */
void regard_attending_gru_back(const source *x, const float *U, const float *C, const float *queries,
                               const float *previous, const float *gates, const float *alpha, const float *d_states,
                               const float *d_alpha, float *d_contexts, float *d_projected, float *d_queries,
                               float *d_keys, float *d_v, float *d_first) {
    long n = x->n, a = x->a, d = x->d, g = 3 * n;
    float *from_query = room_of(&packed_query, num_panels(n) * panel_words(a, x->narrow));
    float *from_gates = room_of(&packed_gates, num_panels(n) * panel_words(2 * n, x->narrow));
    float *from_candidate = room_of(&packed_candidate, num_panels(n) * panel_words(n, x->narrow));
    float *to_context = room_of(&packed_context, num_panels(d) * panel_words(g, x->narrow));
#pragma omp parallel num_threads(x->threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long rows = rows_of(x->B, me, all_of_us), wide = g > a ? g : a;
        float *ds = room_of(&own, rows * (n + a + g + 2 * n + n + n + d + wide + 1) + x->Tx + 64), *dq = ds + rows * n;
        float *dy = dq + rows * a, *two = dy + rows * g, *one = two + rows * 2 * n, *d_gated = one + rows * n;
        float *context = d_gated + rows * n, *scratch = context + rows * d, *energies = scratch + rows * (wide + 1);
        regard_pack_share(x->W_a, n, 1, a, n, x->narrow, from_query, me, all_of_us);
        regard_pack_share(U, n, 1, 2 * n, n, x->narrow, from_gates, me, all_of_us);
        regard_pack_share(U + 2 * n * n, n, 1, n, n, x->narrow, from_candidate, me, all_of_us);
        regard_pack_share(C, d, 1, g, d, x->narrow, to_context, me, all_of_us);
        memset(ds, 0, (size_t)(rows * n) * 4);
#pragma omp barrier
        for (long t = x->Ty - 1; t >= 0; t--) {
            for (long i = 0; i < rows; i++) {
                long at = (me + i * all_of_us) * x->Ty + t;
                add_scaled(ds + i * n, 1.0f, d_states + at * n, n);
                gru_row_back(gates + at * g, previous + at * n, n, ds + i * n, dy + i * g);
                memcpy(one + i * n, dy + i * g + 2 * n, (size_t)n * 4);
            }
            regard_step_product(one, rows, from_candidate, n, n, x->narrow, 0, d_gated, scratch);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * all_of_us) * x->Ty + t;
                gru_row_reset_back(gates + at * g, previous + at * n, d_gated + i * n, n, ds + i * n, dy + i * g);
                memcpy(two + i * 2 * n, dy + i * g, (size_t)(2 * n) * 4);
                memcpy(d_projected + at * g, dy + i * g, (size_t)g * 4);
            }
            regard_step_product(two, rows, from_gates, 2 * n, n, x->narrow, 1, ds, scratch);
            regard_step_product(dy, rows, to_context, g, d, x->narrow, 0, context, scratch);
            attend_rows_back(x, queries, t, alpha, d_alpha, context, d_contexts, energies, dq, d_queries, d_keys,
                             d_v, me, all_of_us);
            regard_step_product(dq, rows, from_query, a, n, x->narrow, 1, ds, scratch);
        }
        for (long i = 0; i < rows; i++) memcpy(d_first + (me + i * all_of_us) * n, ds + i * n, (size_t)n * 4);
    }
}
