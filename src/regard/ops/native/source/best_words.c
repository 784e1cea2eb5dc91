/* Rows of logits → the likeliest columns of each, and log p there. */
#include <math.h>
#include <omp.h>
#include "vector.h"
#if LANES == 16
#include <immintrin.h>
#endif

/* log Σ exp of a row; what is no number stays none. */
INLINE float log_sum(const float *row, long V) {
    vec tops[4] = {all(-INFINITY), all(-INFINITY), all(-INFINITY), all(-INFINITY)};
    long k = 0;
    float top = -INFINITY, mass = 0;
    for (; k + 4 * LANES <= V; k += 4 * LANES)
        for (int v = 0; v < 4; v++) {
            vec x = load(row + k + v * LANES);
            tops[v] = choose(x > tops[v], x, tops[v]);
        }
    for (int v = 0; v < 4; v++)
        for (int lane = 0; lane < LANES; lane++) top = tops[v][lane] > top ? tops[v][lane] : top;
    for (; k < V; k++) top = row[k] > top ? row[k] : top;
    vec masses[2] = {{0}, {0}};
    for (k = 0; k + 2 * LANES <= V; k += 2 * LANES)
        for (int v = 0; v < 2; v++) masses[v] += vexp(load(row + k + v * LANES) - top);
    for (; k < V; k += LANES) {
        vec e = vexp(take(row + k, V - k) - top);
        for (long lane = 0; lane < LANES && k + lane < V; lane++) mass += e[lane];
    }
    return top + logf(mass + total(masses[0] + masses[1]));
}

/* One candidate into the k best so far, behind those that are not less. */
INLINE void insert(float value, int64_t column, long k, float *best, int64_t *columns) {
    long at = k - 1;
    for (; at > 0 && best[at - 1] < value; at--) {
        best[at] = best[at - 1];
        columns[at] = columns[at - 1];
    }
    best[at] = value;
    columns[at] = column;
}

/* logits (R, V); banned (num_banned): row * V + column of what may not be chosen, -inf there afterwards; log_probs and
   columns (R, k), best first, of equals the smaller column; -inf where there are fewer. */
void regard_best_words(float *logits, const int64_t *banned, long num_banned, long R, long V, long k, float *log_probs,
                       int64_t *columns, int threads) {
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        long first = R * omp_get_thread_num() / omp_get_num_threads();
        long last = R * (omp_get_thread_num() + 1) / omp_get_num_threads();
        /* a row's sum stands in the last place of its results until they come */
        for (long i = first; i < last; i++) log_probs[i * k + k - 1] = log_sum(logits + i * V, V);
        for (long j = 0; j < num_banned; j++)
            if (banned[j] >= first * V && banned[j] < last * V) logits[banned[j]] = -INFINITY;
        for (long i = first; i < last; i++) {
            const float *row = logits + i * V;
            float *best = log_probs + i * k, sum = best[k - 1];
            int64_t *where = columns + i * k;
            for (long j = 0; j < k; j++) {
                best[j] = -INFINITY;
                where[j] = 0;
            }
            long c = 0;
#if LANES == 16
            for (; c + LANES <= V; c += LANES) {
                __m512 x = _mm512_loadu_ps(row + c);
                unsigned more = _mm512_cmp_ps_mask(x, _mm512_set1_ps(best[k - 1]), _CMP_GT_OQ);
                for (; more; more &= more - 1) {
                    int lane = __builtin_ctz(more);
                    if (row[c + lane] > best[k - 1]) insert(row[c + lane], c + lane, k, best, where);
                }
            }
#endif
            for (; c < V; c++)
                if (row[c] > best[k - 1]) insert(row[c], c, k, best, where);
            for (long j = 0; j < k; j++) best[j] -= sum;
        }
    }
}
