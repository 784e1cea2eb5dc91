/* The LSTM's gates and memory of one row, forwards and back; blocks in torch's order: in, forget, candidate, out. */
#pragma once
#include "vector.h"

/* x: W x + b; y: U h (and what else joined), both (4n). Writes the gates (4n) where there is memory for them, c in place, and h. */
INLINE void lstm_row(const float *x, const float *y, long n, float *gates, float *c, float *h) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec i = vsigmoid(take(x + u, left) + take(y + u, left));
        vec f = vsigmoid(take(x + n + u, left) + take(y + n + u, left));
        vec g = vtanh(take(x + 2 * n + u, left) + take(y + 2 * n + u, left));
        vec o = vsigmoid(take(x + 3 * n + u, left) + take(y + 3 * n + u, left));
        vec m = f * take(c + u, left) + i * g;
        if (gates) {
            put(gates + u, i, left);
            put(gates + n + u, f, left);
            put(gates + 2 * n + u, g, left);
            put(gates + 3 * n + u, o, left);
        }
        put(c + u, m, left);
        put(h + u, o * vtanh(m), left);
    }
}

/* dh: ∂/∂h (n); dc: ∂/∂c after the step, becomes that before it; before, after: c. Writes ∂/∂(inside the gates), (4n). */
INLINE void lstm_row_back(const float *dh, const float *gates, const float *before, const float *after, long n,
                          float *dc, float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec i = take(gates + u, left), f = take(gates + n + u, left);
        vec g = take(gates + 2 * n + u, left), o = take(gates + 3 * n + u, left);
        vec m = vtanh(take(after + u, left)), d = take(dh + u, left);
        vec into = take(dc + u, left) + d * o * (1.0f - m * m);
        put(d_gates + u, into * g * i * (1.0f - i), left);
        put(d_gates + n + u, into * take(before + u, left) * f * (1.0f - f), left);
        put(d_gates + 2 * n + u, into * i * (1.0f - g * g), left);
        put(d_gates + 3 * n + u, d * m * o * (1.0f - o), left);
        put(dc + u, into * f, left);
    }
}
