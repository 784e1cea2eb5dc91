/* What the two attending recurrences share: the sizes, the source, and a thread's own rows. */
#pragma once
#include <omp.h>
#include "attention.h"
#include "product.h"
#include "scratch.h"

/* B sentences of Tx words, Ty steps; n units of state, a of alignment, d of annotation. keys (B, Tx, a), values
   (B, Tx, d), there (B, Tx), W_a (a, n) or NULL, v (a) or NULL for a dot product. */
typedef struct {
    long B, Tx, Ty, n, a, d;
    const float *keys, *values;
    const uint8_t *there;
    const float *W_a, *v;
    float scale;
    int narrow, threads;
} source;

/* All rows of a thread attend with the queries q (rows, a), kept in queries (B, Ty, a) where there is such; alpha
   (B, Ty, Tx), contexts (B, Ty, d), own (rows, d). */
INLINE void attend_rows(const source *x, const float *q, long i, float *queries, float *alpha, float *contexts,
                        float *own, int me, int num_threads) {
    long row = 0;
    for (long b = me; b < x->B; b += num_threads, row++) {
        long at = b * x->Ty + i;
        attend_row(x->keys + b * x->Tx * x->a, x->values + b * x->Tx * x->d, x->there + b * x->Tx, q + row * x->a, x->v,
                   x->scale, x->Tx, x->a, x->d, alpha + at * x->Tx, own + row * x->d);
        memcpy(contexts + at * x->d, own + row * x->d, (size_t)x->d * 4);
        if (queries) memcpy(queries + at * x->a, q + row * x->a, (size_t)x->a * 4);
    }
}

/* And back: ∂/∂contexts (rows, d) completed and kept in d_contexts (B, Ty, d) → ∂/∂q (rows, a), kept in d_queries.
   ∂/∂v is summed by sentence, d_v (B, a), and not by thread, so that it does not depend on their number.
   The tanh of the energies is computed again from queries (B, Ty, a). */
INLINE void attend_rows_back(const source *x, const float *queries, long i, const float *alpha, const float *d_alpha,
                             const float *own, float *d_contexts, float *energies, float *dq, float *d_queries,
                             float *d_keys, float *d_v, int me, int num_threads) {
    long row = 0;
    for (long b = me; b < x->B; b += num_threads, row++) {
        long at = b * x->Ty + i;
        float *d_context = d_contexts + at * x->d;
        add_scaled(d_context, 1.0f, own + row * x->d, x->d);
        attend_row_back(x->keys + b * x->Tx * x->a, x->values + b * x->Tx * x->d, x->there + b * x->Tx,
                        queries + at * x->a, x->v, x->scale, alpha + at * x->Tx, d_context, d_alpha ? d_alpha + at * x->Tx : NULL, x->Tx,
                        x->a, x->d, energies, dq + row * x->a, d_keys + b * x->Tx * x->a, d_v + b * x->a);
        memcpy(d_queries + at * x->a, dq + row * x->a, (size_t)x->a * 4);
    }
}
