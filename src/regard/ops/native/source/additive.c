/* Additive energies of all queries and keys of a batch. */
#include <omp.h>
#include "attention.h"

/* query (B, Q, a), keys (B, Tx, a), v (a) → energies (B, Q, Tx); padding is not looked at. */
void regard_additive_energies(const float *query, const float *keys, const float *v, float *energies, long B, long Q,
                              long Tx, long a, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (long i = 0; i < B * Q; i++)
        for (long j = 0; j < Tx; j++)
            energies[i * Tx + j] = energy(keys + (i / Q * Tx + j) * a, query + i * a, v, a);
}
