/* The LSTM over padded rows. A thread takes every so-many-th sentence and walks through time with them alone; a step
   multiplies the rows that have a word there, and no others. */
#include <omp.h>
#include "lstm.h"
#include "product.h"

/* projected, gates (B, T, 4n); states, previous (B, T, n), zero where there is no
   word; memories (B, T, n); h, c (B, n): first state
   in, last state out. previous: h before each step. U (4n, n). */
int regard_lstm(const float *projected, const uint8_t *there, const float *U, float *states, float *previous,
                float *memories, float *gates, float *h, float *c, long B, long T, long n, int reverse, int narrow,
                int threads) {
    arena *memory = regard_begin();
    float *packed = scratch_panels(memory, n, 4 * n, narrow);
    shares all_rows = scratch_rows(memory, B, n, threads), all_y = scratch_rows(memory, B, 4 * n, threads);
    shares all_pairs = scratch_pairs(memory, B, n, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *pairs = OWN(all_pairs);
        regard_pack_share(U, 1, n, n, 4 * n, narrow, packed, me, num_threads);
#pragma omp barrier
        for (long s = 0; s < T; s++) {
            long t = reverse ? T - 1 - s : s, count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) memcpy(rows + n * count++, h + b * n, (size_t)n * 4);
            regard_step_product(rows, count, packed, n, 4 * n, narrow, 0, y, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                long at = b * T + t;
                if (!there[at]) {
                    memcpy(memories + at * n, c + b * n, (size_t)n * 4);
                    continue;
                }
                memcpy(previous + at * n, h + b * n, (size_t)n * 4);
                lstm_row(projected + at * 4 * n, y + 4 * n * count++, n, gates + at * 4 * n, c + b * n, h + b * n);
                memcpy(memories + at * n, c + b * n, (size_t)n * 4);
                memcpy(states + at * n, h + b * n, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* dh, dc (B, n): ∂/∂(last state) in, ∂/∂(first state) out. d_projected (B, T, 4n), zero at padding beforehand. */
int regard_lstm_back(const float *d_states, const uint8_t *there, const float *U, const float *memories,
                     const float *gates, const float *first_c, float *dh, float *dc, float *d_projected, long B,
                     long T, long n, int reverse, int narrow, int threads) {
    arena *memory = regard_begin();
    float *packed = scratch_panels(memory, 4 * n, n, narrow);
    shares all_rows = scratch_rows(memory, B, 4 * n, threads), all_y = scratch_rows(memory, B, n, threads);
    shares all_pairs = scratch_pairs(memory, B, 4 * n, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *pairs = OWN(all_pairs);
        regard_pack_share(U, n, 1, 4 * n, n, narrow, packed, me, num_threads);
#pragma omp barrier
        for (long s = T - 1; s >= 0; s--) {
            long t = reverse ? T - 1 - s : s, count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                const float *before = s ? memories + (reverse ? at + 1 : at - 1) * n : first_c + b * n;
                for (long u = 0; u < n; u += LANES)
                    put(dh + b * n + u, take(dh + b * n + u, n - u) + take(d_states + at * n + u, n - u), n - u);
                lstm_row_back(dh + b * n, gates + at * 4 * n, before, memories + at * n, n, dc + b * n,
                              d_projected + at * 4 * n);
                memcpy(rows + 4 * n * count++, d_projected + at * 4 * n, (size_t)n * 16);
            }
            if (!count) continue;
            regard_step_product(rows, count, packed, 4 * n, n, narrow, 0, y, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) memcpy(dh + b * n, y + n * count++, (size_t)n * 4);
        }
    }
    return DONE;
}
