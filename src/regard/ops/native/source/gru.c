/* The paper's GRU over padded rows; as the LSTM's beside it. */
#include <omp.h>
#include "attention.h"
#include "gru.h"
#include "product.h"

/* projected, gates (B, T, 3n); states, previous, gated (B, T, n), zero where there is no word; s (B, n): first state in,
   last state out. U (3n, n). */
int regard_gru(const float *projected, const uint8_t *there, const float *U, float *states, float *previous,
               float *gated, float *gates, float *s, long B, long T, long n, int reverse, int narrow, int threads) {
    long g = 3 * n;
    arena *memory = regard_begin();
    float *for_gates = scratch_panels(memory, n, 2 * n, narrow), *for_candidate = scratch_panels(memory, n, n, narrow);
    shares all_rows = scratch_rows(memory, B, n, threads), all_two = scratch_rows(memory, B, 2 * n, threads);
    shares all_one = scratch_rows(memory, B, n, threads), all_pairs = scratch_pairs(memory, B, n, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *two = OWN(all_two), *one = OWN(all_one), *pairs = OWN(all_pairs);
        regard_pack_share(U, 1, n, n, 2 * n, narrow, for_gates, me, num_threads);
        regard_pack_share(U + 2 * n * n, 1, n, n, n, narrow, for_candidate, me, num_threads);
#pragma omp barrier
        for (long i = 0; i < T; i++) {
            long t = reverse ? T - 1 - i : i, count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) memcpy(rows + n * count++, s + b * n, (size_t)n * 4);
            if (!count) continue;
            regard_step_product(rows, count, for_gates, n, 2 * n, narrow, 0, two, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                memcpy(previous + at * n, s + b * n, (size_t)n * 4);
                gru_row_gates(projected + at * g, two + count * 2 * n, s + b * n, n, gates + at * g, gated + at * n);
                memcpy(rows + n * count++, gated + at * n, (size_t)n * 4);
            }
            regard_step_product(rows, count, for_candidate, n, n, narrow, 0, one, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                gru_row_state(projected + at * g, one + n * count++, n, gates + at * g, s + b * n);
                memcpy(states + at * n, s + b * n, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* ds (B, n): ∂/∂(last state) in, ∂/∂(first state) out. d_projected (B, T, 3n), zero at padding beforehand. */
int regard_gru_back(const float *d_states, const uint8_t *there, const float *U, const float *previous,
                    const float *gates, float *ds, float *d_projected, long B, long T, long n, int reverse, int narrow,
                    int threads) {
    long g = 3 * n;
    arena *memory = regard_begin();
    float *from_gates = scratch_panels(memory, 2 * n, n, narrow), *from_candidate = scratch_panels(memory, n, n, narrow);
    shares all_rows = scratch_rows(memory, B, 2 * n, threads), all_one = scratch_rows(memory, B, n, threads);
    shares all_pairs = scratch_pairs(memory, B, 2 * n, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *one = OWN(all_one), *pairs = OWN(all_pairs);
        regard_pack_share(U, n, 1, 2 * n, n, narrow, from_gates, me, num_threads);
        regard_pack_share(U + 2 * n * n, n, 1, n, n, narrow, from_candidate, me, num_threads);
#pragma omp barrier
        for (long i = T - 1; i >= 0; i--) {
            long t = reverse ? T - 1 - i : i, count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                add_scaled(ds + b * n, 1.0f, d_states + at * n, n);
                gru_row_back(gates + at * g, previous + at * n, n, ds + b * n, d_projected + at * g);
                memcpy(rows + n * count++, d_projected + at * g + 2 * n, (size_t)n * 4);
            }
            if (!count) continue;
            regard_step_product(rows, count, from_candidate, n, n, narrow, 0, one, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                gru_row_reset_back(gates + at * g, previous + at * n, one + n * count, n, ds + b * n,
                                   d_projected + at * g);
                memcpy(rows + 2 * n * count++, d_projected + at * g, (size_t)(2 * n) * 4);
            }
            regard_step_product(rows, count, from_gates, 2 * n, n, narrow, 0, one, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) add_scaled(ds + b * n, 1.0f, one + n * count++, n);
        }
    }
    return DONE;
}
