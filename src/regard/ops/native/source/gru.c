/* The paper's GRU over padded rows; as the LSTM's beside it. */
#include <omp.h>
#include "attention.h"
#include "gru.h"
#include "product.h"

static _Thread_local room packed_gates, packed_candidate;
static _Thread_local room own;

/* projected, gates (B, T, 3n); states, previous, gated (B, T, n), zero where there is no word; s (B, n): first state in,
   last state out. U (3n, n). */
void regard_gru(const float *projected, const uint8_t *there, const float *U, float *states, float *previous,
                float *gated, float *gates, float *s, long B, long T, long n, int reverse, int narrow, int threads) {
    float *for_gates = room_of(&packed_gates, num_panels(2 * n) * panel_words(n, narrow));
    float *for_candidate = room_of(&packed_candidate, num_panels(n) * panel_words(n, narrow));
    long g = 3 * n;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long most = B / all_of_us + 1;
        float *rows = room_of(&own, most * (n + 2 * n + n + n + 1) + 64), *two = rows + most * n;
        float *one = two + most * 2 * n, *scratch = one + most * n;
        regard_pack_share(U, 1, n, n, 2 * n, narrow, for_gates, me, all_of_us);
        regard_pack_share(U + 2 * n * n, 1, n, n, n, narrow, for_candidate, me, all_of_us);
#pragma omp barrier
        for (long i = 0; i < T; i++) {
            long t = reverse ? T - 1 - i : i, count = 0;
            for (long b = me; b < B; b += all_of_us)
                if (there[b * T + t]) memcpy(rows + n * count++, s + b * n, (size_t)n * 4);
            if (!count) continue;
            regard_step_product(rows, count, for_gates, n, 2 * n, narrow, 0, two, scratch);
            count = 0;
            for (long b = me; b < B; b += all_of_us) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                memcpy(previous + at * n, s + b * n, (size_t)n * 4);
                gru_row_gates(projected + at * g, two + count * 2 * n, s + b * n, n, gates + at * g, gated + at * n);
                memcpy(rows + n * count++, gated + at * n, (size_t)n * 4);
            }
            regard_step_product(rows, count, for_candidate, n, n, narrow, 0, one, scratch);
            count = 0;
            for (long b = me; b < B; b += all_of_us) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                gru_row_state(projected + at * g, one + n * count++, n, gates + at * g, s + b * n);
                memcpy(states + at * n, s + b * n, (size_t)n * 4);
            }
        }
    }
}

/* ds (B, n): ∂/∂(last state) in, ∂/∂(first state) out. d_projected (B, T, 3n), zero at padding beforehand. */
void regard_gru_back(const float *d_states, const uint8_t *there, const float *U, const float *previous,
                     const float *gates, float *ds, float *d_projected, long B, long T, long n, int reverse, int narrow,
                     int threads) {
    float *from_gates = room_of(&packed_gates, num_panels(n) * panel_words(2 * n, narrow));
    float *from_candidate = room_of(&packed_candidate, num_panels(n) * panel_words(n, narrow));
    long g = 3 * n;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), all_of_us = omp_get_num_threads();
        long most = B / all_of_us + 1;
        float *rows = room_of(&own, most * (2 * n + n + n + 1) + 64), *one = rows + most * 2 * n;
        float *scratch = one + most * n;
        regard_pack_share(U, n, 1, 2 * n, n, narrow, from_gates, me, all_of_us);
        regard_pack_share(U + 2 * n * n, n, 1, n, n, narrow, from_candidate, me, all_of_us);
#pragma omp barrier
        for (long i = T - 1; i >= 0; i--) {
            long t = reverse ? T - 1 - i : i, count = 0;
            for (long b = me; b < B; b += all_of_us) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                add_scaled(ds + b * n, 1.0f, d_states + at * n, n);
                gru_row_back(gates + at * g, previous + at * n, n, ds + b * n, d_projected + at * g);
                memcpy(rows + n * count++, d_projected + at * g + 2 * n, (size_t)n * 4);
            }
            if (!count) continue;
            regard_step_product(rows, count, from_candidate, n, n, narrow, 0, one, scratch);
            count = 0;
            for (long b = me; b < B; b += all_of_us) {
                if (!there[b * T + t]) continue;
                long at = b * T + t;
                gru_row_reset_back(gates + at * g, previous + at * n, one + n * count, n, ds + b * n,
                                   d_projected + at * g);
                memcpy(rows + 2 * n * count++, d_projected + at * g, (size_t)(2 * n) * 4);
            }
            regard_step_product(rows, count, from_gates, 2 * n, n, narrow, 0, one, scratch);
            count = 0;
            for (long b = me; b < B; b += all_of_us)
                if (there[b * T + t]) add_scaled(ds + b * n, 1.0f, one + n * count++, n);
        }
    }
}
