/* A cell over padded rows with nothing kept for a way back, U packed; a step is T = 1. A thread takes every so-many-th
   row through time, as in recurrence.c. */
#include <omp.h>
#include "cell.h"
#include "packed.h"

/* projected (B, T, g); there (B, T), or NULL for words everywhere; states (B, T, n), zero where there is no word, or
   NULL; h, c (B, n): first state in, last state out, c NULL without a memory. Any cell but that with peepholes. The
   panels of the GRU's gates may reach into the candidate's columns, and the candidate's into the gates': each is made
   before it is read. */
int regard_read(int cell, const packed *U, const float *projected, const uint8_t *there, float *states, float *h,
                float *c, long B, long T, int reverse, int threads) {
    long n = U->inner, g = U->columns, first = first_gates_of(cell) * n;
    arena *memory = regard_begin();
    shares all_rows = scratch_rows(memory, B, n, threads), all_y = scratch_rows(memory, B, g, threads);
    shares all_gates = scratch_rows(memory, B, first < g ? g : 0, threads);
    shares all_prepared = scratch_rows(memory, B, prepared_words(U->kind, n), threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        float *rows = OWN(all_rows), *y = OWN(all_y), *gates = OWN(all_gates), *scratch = OWN(all_prepared);
        for (long i = 0; i < T; i++) {
            long t = reverse ? T - 1 - i : i, count = 0;
            for (long b = me; b < B; b += num_threads)
                if (!there || there[b * T + t]) memcpy(rows + n * count++, h + b * n, (size_t)n * 4);
            if (!count) continue;
            prepared x = regard_prepare(U->kind, rows, n, count, n, scratch);
            regard_rows_by_panels(U, x, count, 0, num_panels(first), NULL, 0, y, g);
            if (first < g) {
                long row = 0;
                for (long b = me; b < B; b += num_threads) {
                    if (there && !there[b * T + t]) continue;
                    gru_row_reset(projected + (b * T + t) * g, y + g * row, h + b * n, n, gates + g * row, rows + n * row);
                    row++;
                }
                x = regard_prepare(U->kind, rows, n, count, n, scratch);
                regard_rows_by_panels(U, x, count, first / WIDE, panels_of(U), NULL, 0, y, g);
            }
            count = 0;
            for (long b = me; b < B; b += num_threads) {
                long at = b * T + t;
                if (there && !there[at]) continue;
                cell_row(cell, NULL, NULL, projected + at * g, y + g * count, n, first < g ? gates + g * count : NULL,
                         c ? c + b * n : NULL, h + b * n);
                if (states) memcpy(states + at * n, h + b * n, (size_t)n * 4);
                count++;
            }
        }
    }
    return DONE;
}
