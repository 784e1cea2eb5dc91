/* RNNsearch's recurrence with the paper's GRU: query, attention, gates; a thread takes its sentences through all steps. */
#include "attending.h"
#include "gru.h"

/* projected, gates (B, Ty, 3n); previous, states, gated (B, Ty, n): s before a step, after it, and r * s; contexts
   (B, Ty, d); queries (B, Ty, a); alpha (B, Ty, Tx); first (B, n); U (3n, n), C (3n, d). */
int regard_attending_gru(const source *x, const float *projected, const float *U, const float *C, const float *first,
                         float *states, float *previous, float *gated, float *gates, float *contexts, float *queries,
                         float *alpha) {
    long B = x->B, n = x->n, a = x->a, d = x->d, g = 3 * n;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *for_query = scratch_panels(memory, n, a, x->narrow), *for_gates = scratch_panels(memory, n, 2 * n, x->narrow);
    float *for_candidate = scratch_panels(memory, n, n, x->narrow);
    float *for_context = scratch_panels(memory, d, g, x->narrow);
    shares all_s = scratch_rows(memory, B, n, threads), all_rs = scratch_rows(memory, B, n, threads);
    shares all_q = scratch_rows(memory, B, a, threads), all_contexts = scratch_rows(memory, B, d, threads);
    shares all_y = scratch_rows(memory, B, g, threads), all_two = scratch_rows(memory, B, 2 * n, threads);
    shares all_one = scratch_rows(memory, B, n, threads);
    shares all_pairs = scratch_pairs(memory, B, n > d ? n : d, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *s = OWN(all_s), *rs = OWN(all_rs), *q = OWN(all_q), *context = OWN(all_contexts), *y = OWN(all_y);
        float *two = OWN(all_two), *one = OWN(all_one), *pairs = OWN(all_pairs);
        regard_pack_share(x->W_a, 1, n, n, a, x->narrow, for_query, me, num_threads);
        regard_pack_share(U, 1, n, n, 2 * n, x->narrow, for_gates, me, num_threads);
        regard_pack_share(U + 2 * n * n, 1, n, n, n, x->narrow, for_candidate, me, num_threads);
        regard_pack_share(C, 1, d, d, g, x->narrow, for_context, me, num_threads);
        for (long i = 0; i < rows; i++) memcpy(s + i * n, first + (me + i * num_threads) * n, (size_t)n * 4);
#pragma omp barrier
        for (long t = 0; t < x->Ty; t++) {
            regard_step_product(s, rows, for_query, n, a, x->narrow, 0, q, pairs);
            attend_rows(x, q, t, queries, alpha, contexts, context, me, num_threads);
            regard_step_product(context, rows, for_context, d, g, x->narrow, 0, y, pairs);
            regard_step_product(s, rows, for_gates, n, 2 * n, x->narrow, 0, two, pairs);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                add_scaled(two + i * 2 * n, 1.0f, y + i * g, 2 * n);
                memcpy(one + i * n, y + i * g + 2 * n, (size_t)n * 4);
                memcpy(previous + at * n, s + i * n, (size_t)n * 4);
                gru_row_gates(projected + at * g, two + i * 2 * n, s + i * n, n, gates + at * g, rs + i * n);
                memcpy(gated + at * n, rs + i * n, (size_t)n * 4);
            }
            regard_step_product(rs, rows, for_candidate, n, n, x->narrow, 1, one, pairs);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                gru_row_state(projected + at * g, one + i * n, n, gates + at * g, s + i * n);
                memcpy(states + at * n, s + i * n, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* As the LSTM's: d_contexts comes with what the loss takes and leaves complete; d_keys and d_v (B, a) come as
   zeros; d_first (B, n) leaves as ∂/∂s_0. */
int regard_attending_gru_back(const source *x, const float *U, const float *C, const float *queries,
                              const float *previous, const float *gates, const float *alpha, const float *d_states,
                              const float *d_alpha, float *d_contexts, float *d_projected, float *d_queries,
                              float *d_keys, float *d_v, float *d_first) {
    long B = x->B, n = x->n, a = x->a, d = x->d, g = 3 * n;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *from_query = scratch_panels(memory, a, n, x->narrow), *from_gates = scratch_panels(memory, 2 * n, n, x->narrow);
    float *from_candidate = scratch_panels(memory, n, n, x->narrow);
    float *to_context = scratch_panels(memory, g, d, x->narrow);
    shares all_ds = scratch_rows(memory, B, n, threads), all_dq = scratch_rows(memory, B, a, threads);
    shares all_dy = scratch_rows(memory, B, g, threads), all_two = scratch_rows(memory, B, 2 * n, threads);
    shares all_one = scratch_rows(memory, B, n, threads), all_d_gated = scratch_rows(memory, B, n, threads);
    shares all_contexts = scratch_rows(memory, B, d, threads), all_energies = scratch_shares(memory, x->Tx, threads);
    shares all_pairs = scratch_pairs(memory, B, g > a ? g : a, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *ds = OWN(all_ds), *dq = OWN(all_dq), *dy = OWN(all_dy), *two = OWN(all_two), *one = OWN(all_one);
        float *d_gated = OWN(all_d_gated), *context = OWN(all_contexts), *pairs = OWN(all_pairs);
        float *energies = own_share(all_energies, me);
        regard_pack_share(x->W_a, n, 1, a, n, x->narrow, from_query, me, num_threads);
        regard_pack_share(U, n, 1, 2 * n, n, x->narrow, from_gates, me, num_threads);
        regard_pack_share(U + 2 * n * n, n, 1, n, n, x->narrow, from_candidate, me, num_threads);
        regard_pack_share(C, d, 1, g, d, x->narrow, to_context, me, num_threads);
        memset(ds, 0, (size_t)(rows * n) * 4);
#pragma omp barrier
        for (long t = x->Ty - 1; t >= 0; t--) {
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                add_scaled(ds + i * n, 1.0f, d_states + at * n, n);
                gru_row_back(gates + at * g, previous + at * n, n, ds + i * n, dy + i * g);
                memcpy(one + i * n, dy + i * g + 2 * n, (size_t)n * 4);
            }
            regard_step_product(one, rows, from_candidate, n, n, x->narrow, 0, d_gated, pairs);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                gru_row_reset_back(gates + at * g, previous + at * n, d_gated + i * n, n, ds + i * n, dy + i * g);
                memcpy(two + i * 2 * n, dy + i * g, (size_t)(2 * n) * 4);
                memcpy(d_projected + at * g, dy + i * g, (size_t)g * 4);
            }
            regard_step_product(two, rows, from_gates, 2 * n, n, x->narrow, 1, ds, pairs);
            regard_step_product(dy, rows, to_context, g, d, x->narrow, 0, context, pairs);
            attend_rows_back(x, queries, t, alpha, d_alpha, context, d_contexts, energies, dq, d_queries, d_keys,
                             d_v, me, num_threads);
            regard_step_product(dq, rows, from_query, a, n, x->narrow, 1, ds, pairs);
        }
        for (long i = 0; i < rows; i++) memcpy(d_first + (me + i * num_threads) * n, ds + i * n, (size_t)n * 4);
    }
    return DONE;
}
