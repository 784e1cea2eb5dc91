/* The LSTM and the paper's GRU over padded rows with nothing kept for a way back, U packed; a step is T = 1. A thread
   takes every so-many-th row through time, as in lstm.c and gru.c. */
#include <omp.h>
#include "cell.h"
#include "gru.h"
#include "packed.h"

/* The rows of a thread that have a word at t, h's or what else stands in `from` (B, n), side by side in `rows`. */
INLINE long gathered(const float *from, const uint8_t *there, long B, long T, long t, long n, int me, int num_threads,
                     float *rows) {
    long count = 0;
    for (long b = me; b < B; b += num_threads)
        if (!there || there[b * T + t]) memcpy(rows + n * count++, from + b * n, (size_t)n * 4);
    return count;
}

/* projected (B, T, 4n); there (B, T), or NULL for words everywhere; states (B, T, n), zero where there is no word, or
   NULL; h, c (B, n): first state in, last state out. */
int regard_lstm_read(const packed *U, const float *projected, const uint8_t *there, float *states, float *h, float *c,
                     long B, long T, int reverse, int threads) {
    long n = U->inner, g = 4 * n;
    arena *memory = regard_begin();
    shares all_rows = scratch_rows(memory, B, n, threads), all_y = scratch_rows(memory, B, g, threads);
    shares all_prepared = scratch_rows(memory, B, prepared_words(U->kind, n), threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *scratch = OWN(all_prepared);
        for (long i = 0; i < T; i++) {
            long t = reverse ? T - 1 - i : i;
            long count = gathered(h, there, B, T, t, n, me, num_threads, rows);
            if (!count) continue;
            prepared x = regard_prepare(U->kind, rows, n, count, n, scratch);
            regard_rows_by_panels(U, x, count, 0, panels_of(U), NULL, 0, y, g);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                long at = b * T + t;
                if (there && !there[at]) continue;
                lstm_row(1, projected + at * g, y + g * count++, n, NULL, c + b * n, h + b * n);
                if (states) memcpy(states + at * n, h + b * n, (size_t)n * 4);
            }
        }
    }
    return DONE;
}

/* projected (B, T, 3n); s (B, n): first state in, last state out; the rest as above. The gates' panels may reach into
   the candidate's columns, and the candidate's into the gates': each is made before it is read. */
int regard_gru_read(const packed *U, const float *projected, const uint8_t *there, float *states, float *s, long B,
                    long T, int reverse, int threads) {
    long n = U->inner, g = 3 * n, middle = 2 * n / WIDE;
    arena *memory = regard_begin();
    shares all_rows = scratch_rows(memory, B, n, threads), all_y = scratch_rows(memory, B, g, threads);
    shares all_gates = scratch_rows(memory, B, g, threads);
    shares all_prepared = scratch_rows(memory, B, prepared_words(U->kind, n), threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *gates = OWN(all_gates), *scratch = OWN(all_prepared);
        for (long i = 0; i < T; i++) {
            long t = reverse ? T - 1 - i : i;
            long count = gathered(s, there, B, T, t, n, me, num_threads, rows);
            if (!count) continue;
            prepared x = regard_prepare(U->kind, rows, n, count, n, scratch);
            regard_rows_by_panels(U, x, count, 0, num_panels(2 * n), NULL, 0, y, g);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                if (there && !there[b * T + t]) continue;
                gru_row_gates(projected + (b * T + t) * g, y + g * count, s + b * n, n, gates + g * count,
                              rows + n * count);
                count++;
            }
            x = regard_prepare(U->kind, rows, n, count, n, scratch);
            regard_rows_by_panels(U, x, count, middle, panels_of(U), NULL, 0, y, g);
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                long at = b * T + t;
                if (there && !there[at]) continue;
                gru_row_state(projected + at * g, y + g * count + 2 * n, n, gates + g * count, s + b * n);
                if (states) memcpy(states + at * n, s + b * n, (size_t)n * 4);
                count++;
            }
        }
    }
    return DONE;
}
