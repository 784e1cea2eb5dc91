/* The paper's GRU of one row, forwards and back; blocks: update, reset, candidate. The candidate sees U (r * s). */
#pragma once
#include "vector.h"

/* x: W x + b, y: U_gates s and what else joined (3n; its candidate's block without U). → gates' first two blocks, r * s. */
INLINE void gru_row_gates(const float *x, const float *y, const float *s, long n, float *gates, float *reset_state) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        put(gates + u, vsigmoid(take(x + u, left) + take(y + u, left)), left);
        vec r = vsigmoid(take(x + n + u, left) + take(y + n + u, left));
        put(gates + n + u, r, left);
        put(reset_state + u, r * take(s + u, left), left);
    }
}

/* y: all that joins the candidate (n) beside x's third block; s in place. */
INLINE void gru_row_state(const float *x, const float *y, long n, float *gates, float *s) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec g = vtanh(take(x + 2 * n + u, left) + take(y + u, left)), old = take(s + u, left);
        put(gates + 2 * n + u, g, left);
        put(s + u, old + take(gates + u, left) * (g - old), left);
    }
}

/* ds: ∂/∂s_t (n) → ∂/∂(inside update and candidate); ds becomes what of it passes by. */
INLINE void gru_row_back(const float *gates, const float *before, long n, float *ds, float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec z = take(gates + u, left), g = take(gates + 2 * n + u, left), d = take(ds + u, left);
        put(d_gates + u, d * (g - take(before + u, left)) * z * (1.0f - z), left);
        put(d_gates + 2 * n + u, d * z * (1.0f - g * g), left);
        put(ds + u, d - d * z, left);
    }
}

/* d_gated: ∂/∂(r * s) (n) → ∂/∂(inside reset), and ds grows. */
INLINE void gru_row_reset_back(const float *gates, const float *before, const float *d_gated, long n, float *ds,
                               float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec r = take(gates + n + u, left), d = take(d_gated + u, left), s = take(before + u, left);
        put(d_gates + n + u, d * s * r * (1.0f - r), left);
        put(ds + u, take(ds + u, left) + d * r, left);
    }
}
