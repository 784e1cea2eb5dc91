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
        vec tops = all(-INFINITY), all_of_it = {0}, masses = {0};
        long k = 0;
        float top = -INFINITY, sum = 0, mass = 0;
        for (; k + LANES <= V; k += LANES) {
            vec x = load(row + k);
            tops = choose(x > tops, x, tops);
        }
        for (int lane = 0; lane < LANES; lane++) top = tops[lane] > top ? tops[lane] : top;
        for (; k < V; k++) top = row[k] > top ? row[k] : top;
        /* all below is of logits less the greatest, or large ones would lose their last digits; what is no number
           spreads from the mass to the loss and to every gradient */
        float said = row[targets[i]] - top;
        for (k = 0; k + LANES <= V; k += LANES) {
            vec x = load(row + k) - top, e = vexp(x);
            store(row + k, e);
            all_of_it += x;
            masses += e;
        }
        if (k < V) {
            vec x = take(row + k, V - k) - top, e = vexp(x);
            put(row + k, e, V - k);
            for (long lane = 0; lane < V - k; lane++) sum += x[lane], mass += e[lane];
        }
        sum += total(all_of_it), mass += total(masses);
        float scale = 1.0f / mass;
        for (k = 0; k < V; k += LANES) put(row + k, take(row + k, V - k) * scale - everywhere, V - k);
        row[targets[i]] = expf(said) * scale - everywhere - (1.0f - smoothing);
        losses[i] = logf(mass) - (1.0f - smoothing) * said - (smoothing > 0 ? everywhere * sum : 0);
    }
}
