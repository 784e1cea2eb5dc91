/* Rows of logits → the loss of each, and where the logits stood its gradient. */
#include <math.h>
#include <omp.h>
#include "vector.h"

/* logits (rows, V), targets (rows), losses (rows): -log p(y), of which the share `smoothing` is spread over all V. */
void regard_softmax_loss(float *logits, const int64_t *targets, float *losses, long rows, long V, float smoothing,
                         int threads) {
    float everywhere = smoothing / (float)V;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long i = 0; i < rows; i++) {
        float *row = logits + i * V;
        vec tops = all(-INFINITY), all_of_it = {0};
        long k = 0;
        float top = -INFINITY, sum = 0, mass = 0;
        for (; k + LANES <= V; k += LANES) {
            vec x = load(row + k);
            tops = choose(x > tops, x, tops);
            all_of_it += x;
        }
        for (int lane = 0; lane < LANES; lane++) top = tops[lane] > top ? tops[lane] : top;
        sum = total(all_of_it);
        for (; k < V; k++) {
            top = row[k] > top ? row[k] : top;
            sum += row[k];
        }
        /* what is no number spreads from the sum to the loss and to every gradient */
        vec masses = {0};
        float said = row[targets[i]];
        for (k = 0; k < V; k += LANES) {
            vec e = vexp(take(row + k, V - k) - top);
            put(row + k, e, V - k);
            if (k + LANES <= V)
                masses += e;
            else
                for (long lane = 0; lane < V - k; lane++) mass += e[lane];
        }
        mass += total(masses);
        float log_sum = top + logf(mass), scale = 1.0f / mass;
        for (k = 0; k < V; k += LANES) put(row + k, take(row + k, V - k) * scale - everywhere, V - k);
        row[targets[i]] = expf(said - log_sum) - everywhere - (1.0f - smoothing);
        losses[i] = log_sum - (1.0f - smoothing) * said - everywhere * sum;
    }
}
