/* The LSTM, with peepholes or without, and the plain RNN over padded rows. A thread takes every so-many-th sentence and walks through time with them
   alone; a step multiplies the rows that have a word there, and no others. */
#include <omp.h>
#include "attention.h"
#include "cell.h"
#include "product.h"

/* projected, gates (B, T, g), g = 4n or n; states, previous (B, T, n), zero where there is no word; memories (B, T, n);
   h, c (B, n): first state in, last state out. previous: h before each step. U (g, n). An RNN has no memories and c.
   p: peepholes (3n), or NULL. */
int regard_recurrence(int cell, const float *projected, const uint8_t *there, const float *U, float *states,
                      float *previous, float *memories, float *gates, float *h, float *c, const float *p, long B,
                      long T, long n, int reverse, int narrow, int threads) {
    long g = gates_of(cell) * n;
    arena *memory = regard_begin();
    float *packed = scratch_panels(memory, n, g, narrow);
    shares all_rows = scratch_rows(memory, B, n, threads), all_y = scratch_rows(memory, B, g, threads);
    shares all_pairs = scratch_pairs(memory, B, n, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *pairs = OWN(all_pairs);
        regard_pack_share(U, 1, n, n, g, narrow, packed, me, num_threads);
#pragma omp barrier
        for (long s = 0; s < T; s++) {
            long t = reverse ? T - 1 - s : s, count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) memcpy(rows + n * count++, h + b * n, (size_t)n * 4);
            regard_step_product(rows, count, packed, n, g, narrow, 0, y, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                long at = b * T + t;
                float *c_now = c ? c + b * n : NULL;
                if (there[at]) {
                    memcpy(previous + at * n, h + b * n, (size_t)n * 4);
                    cell_row(cell, p, projected + at * g, y + g * count++, n, gates + at * g, c_now, h + b * n);
                    memcpy(states + at * n, h + b * n, (size_t)n * 4);
                }
                if (c) memcpy(memories + at * n, c_now, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* dh, dc (B, n): ∂/∂(last state) in, ∂/∂(first state) out. d_projected (B, T, g), zero at padding beforehand. */
int regard_recurrence_back(int cell, const float *d_states, const uint8_t *there, const float *U,
                           const float *memories, const float *gates, const float *first_c, float *dh, float *dc,
                           float *d_projected, const float *p, long B, long T, long n, int reverse, int narrow, int threads) {
    long g = gates_of(cell) * n;
    arena *memory = regard_begin();
    float *packed = scratch_panels(memory, g, n, narrow);
    shares all_rows = scratch_rows(memory, B, g, threads), all_y = scratch_rows(memory, B, n, threads);
    shares all_pairs = scratch_pairs(memory, B, g, narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *pairs = OWN(all_pairs);
        regard_pack_share(U, n, 1, g, n, narrow, packed, me, num_threads);
#pragma omp barrier
        for (long s = T - 1; s >= 0; s--) {
            long t = reverse ? T - 1 - s : s, count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (!there[b * T + t]) continue;
                long at = b * T + t, last = reverse ? at + 1 : at - 1;
                const float *before = !dc ? NULL : s ? memories + last * n : first_c + b * n;
                add_scaled(dh + b * n, 1.0f, d_states + at * n, n);
                cell_row_back(cell, p, dh + b * n, gates + at * g, before, dc ? memories + at * n : NULL, n,
                              dc ? dc + b * n : NULL, d_projected + at * g);
                memcpy(rows + g * count++, d_projected + at * g, (size_t)g * 4);
            }
            if (!count) continue;
            regard_step_product(rows, count, packed, g, n, narrow, 0, y, pairs);
            count = 0;
            for (long b = me; b < B; b += num_threads)
                if (there[b * T + t]) memcpy(dh + b * n, y + n * count++, (size_t)n * 4);
        }
    }
    return DONE;
}
