/* RNNsearch's recurrence with an LSTM: query, attention, gates; a thread takes its sentences through all steps. */
#include "attending.h"
#include "cell.h"

/* projected, gates (B, Ty, 4n); previous, states, memories (B, Ty, n); contexts (B, Ty, d); alpha (B, Ty, Tx);
   h, c (B, n): the first state; U (4n, n), C (4n, d). */
int regard_attending_lstm(const source *x, const float *projected, const float *U, const float *C, const float *h,
                          const float *c, float *states, float *previous, float *memories, float *gates,
                          float *contexts, float *queries, float *alpha) {
    long B = x->B, n = x->n, a = x->a, d = x->d, g = 4 * n;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *for_query = scratch_panels(memory, n, a, x->narrow), *for_state = scratch_panels(memory, n, g, x->narrow);
    float *for_context = scratch_panels(memory, d, g, x->narrow);
    shares all_s = scratch_rows(memory, B, n, threads), all_m = scratch_rows(memory, B, n, threads);
    shares all_q = scratch_rows(memory, B, a, threads), all_contexts = scratch_rows(memory, B, d, threads);
    shares all_y = scratch_rows(memory, B, g, threads);
    shares all_pairs = scratch_pairs(memory, B, n > d ? n : d, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *s = OWN(all_s), *m = OWN(all_m), *q = OWN(all_q), *context = OWN(all_contexts), *y = OWN(all_y);
        float *pairs = OWN(all_pairs);
        regard_pack_share(x->W_a, 1, n, n, a, x->narrow, for_query, me, num_threads);
        regard_pack_share(U, 1, n, n, g, x->narrow, for_state, me, num_threads);
        regard_pack_share(C, 1, d, d, g, x->narrow, for_context, me, num_threads);
        for (long i = 0; i < rows; i++) {
            memcpy(s + i * n, h + (me + i * num_threads) * n, (size_t)n * 4);
            memcpy(m + i * n, c + (me + i * num_threads) * n, (size_t)n * 4);
        }
#pragma omp barrier
        for (long t = 0; t < x->Ty; t++) {
            regard_step_product(s, rows, for_query, n, a, x->narrow, 0, q, pairs);
            attend_rows(x, q, t, queries, alpha, contexts, context, me, num_threads);
            regard_step_product(s, rows, for_state, n, g, x->narrow, 0, y, pairs);
            regard_step_product(context, rows, for_context, d, g, x->narrow, 1, y, pairs);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                memcpy(previous + at * n, s + i * n, (size_t)n * 4);
                lstm_row(1, projected + at * g, y + i * g, n, gates + at * g, m + i * n, s + i * n);
                memcpy(states + at * n, s + i * n, (size_t)n * 4);
                memcpy(memories + at * n, m + i * n, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* d_contexts comes with what the loss takes and leaves complete; dh, dc (B, n) leave as ∂/∂(first state); d_keys and
   d_v (B, a) come as zeros; d_alpha may be NULL. */
int regard_attending_lstm_back(const source *x, const float *U, const float *C, const float *first_c,
                               const float *queries, const float *memories, const float *gates, const float *alpha,
                               const float *d_states, const float *d_alpha, float *d_contexts, float *d_projected,
                               float *d_queries, float *d_keys, float *d_v, float *dh, float *dc) {
    long B = x->B, n = x->n, a = x->a, d = x->d, g = 4 * n;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *from_query = scratch_panels(memory, a, n, x->narrow), *to_state = scratch_panels(memory, g, n, x->narrow);
    float *to_context = scratch_panels(memory, g, d, x->narrow);
    shares all_ds = scratch_rows(memory, B, n, threads), all_dm = scratch_rows(memory, B, n, threads);
    shares all_dq = scratch_rows(memory, B, a, threads), all_dy = scratch_rows(memory, B, g, threads);
    shares all_contexts = scratch_rows(memory, B, d, threads), all_energies = scratch_shares(memory, x->Tx, threads);
    shares all_pairs = scratch_pairs(memory, B, g > a ? g : a, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *ds = OWN(all_ds), *dm = OWN(all_dm), *dq = OWN(all_dq), *dy = OWN(all_dy), *context = OWN(all_contexts);
        float *pairs = OWN(all_pairs), *energies = own_share(all_energies, me);
        regard_pack_share(x->W_a, n, 1, a, n, x->narrow, from_query, me, num_threads);
        regard_pack_share(U, n, 1, g, n, x->narrow, to_state, me, num_threads);
        regard_pack_share(C, d, 1, g, d, x->narrow, to_context, me, num_threads);
        memset(ds, 0, (size_t)(rows * n) * 4);
        memset(dm, 0, (size_t)(rows * n) * 4);
#pragma omp barrier
        for (long t = x->Ty - 1; t >= 0; t--) {
            for (long i = 0; i < rows; i++) {
                long b = me + i * num_threads, at = b * x->Ty + t;
                const float *before = t ? memories + (at - 1) * n : first_c + b * n;
                add_scaled(ds + i * n, 1.0f, d_states + at * n, n);
                lstm_row_back(1, ds + i * n, gates + at * g, before, memories + at * n, n, dm + i * n, dy + i * g);
                memcpy(d_projected + at * g, dy + i * g, (size_t)g * 4);
            }
            regard_step_product(dy, rows, to_state, g, n, x->narrow, 0, ds, pairs);
            regard_step_product(dy, rows, to_context, g, d, x->narrow, 0, context, pairs);
            attend_rows_back(x, queries, t, alpha, d_alpha, context, d_contexts, energies, dq, d_queries, d_keys,
                             d_v, me, num_threads);
            regard_step_product(dq, rows, from_query, a, n, x->narrow, 1, ds, pairs);
        }
        for (long i = 0; i < rows; i++) {
            memcpy(dh + (me + i * num_threads) * n, ds + i * n, (size_t)n * 4);
            memcpy(dc + (me + i * num_threads) * n, dm + i * n, (size_t)n * 4);
        }
    }
    return DONE;
}
