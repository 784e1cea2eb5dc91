/* One query and the words of one sentence: energies, softmax, context; forwards and back.

   v given: e_j = v · tanh(key_j + q). v NULL: e_j = scale q · key_j. Padding, where there is no word, has alpha 0. */
#pragma once
#include <math.h>
#include "vector.h"

INLINE float energy(const float *key, const float *q, const float *v, long a) {
    vec sum = {0};
    for (long k = 0; k < a; k += LANES) {
        long left = a - k;
        vec x = take(key + k, left), y = take(q + k, left);
        sum += v ? take(v + k, left) * vtanh(x + y) : x * y;
    }
    return total(sum);
}

/* x += weight * y, d long. */
INLINE void add_scaled(float *x, float weight, const float *y, long d) {
    for (long k = 0; k < d; k += LANES) put(x + k, take(x + k, d - k) + weight * take(y + k, d - k), d - k);
}

INLINE float inner(const float *x, const float *y, long d) {
    vec sum = {0};
    for (long k = 0; k < d; k += LANES) sum += take(x + k, d - k) * take(y + k, d - k);
    return total(sum);
}

/* keys (T, a), values (T, d), there (T) → alpha (T), context (d). */
INLINE void attend_row(const float *keys, const float *values, const uint8_t *there, const float *q, const float *v,
                       float scale, long T, long a, long d, float *alpha, float *context) {
    float most = -INFINITY, sum = 0;
    for (long j = 0; j < T; j++) {
        if (!there[j]) continue;
        alpha[j] = v ? energy(keys + j * a, q, v, a) : scale * energy(keys + j * a, q, NULL, a);
        if (!(alpha[j] <= most)) most = alpha[j];
    }
    for (long j = 0; j < T; j++) {
        alpha[j] = there[j] ? expf(alpha[j] - most) : 0;
        sum += alpha[j];
    }
    memset(context, 0, (size_t)d * 4);
    for (long j = 0; j < T; j++) {
        if (!there[j]) continue;
        alpha[j] /= sum;
        add_scaled(context, alpha[j], values + j * d, d);
    }
}

/* Some vectors of units of all words at once: ∂/∂energies (T) → ∂/∂q, and ∂/∂keys and ∂/∂v grow. */
INLINE void back_units(const int vectors, long left, const float *keys, const uint8_t *there, const float *q,
                       const float *v, float scale, const float *d_energy, long T, long a, float *d_q, float *d_keys,
                       float *d_v) {
    vec query[4], weight[4], to_q[4], to_v[4];
    for (int w = 0; w < vectors; w++) {
        query[w] = take(q + w * LANES, left);
        weight[w] = v ? take(v + w * LANES, left) : all(scale);
        to_q[w] = to_v[w] = (vec){0};
    }
    for (long j = 0; j < T; j++) {
        if (!there[j]) continue;
        for (int w = 0; w < vectors; w++) {
            long at = j * a + w * LANES;
            vec key = take(keys + at, left), d_key, u;
            if (v) {
                u = vtanh(key + query[w]);
                to_v[w] += d_energy[j] * u;
                d_key = d_energy[j] * weight[w] * (1.0f - u * u);
                to_q[w] += d_key;
            } else {
                d_key = d_energy[j] * weight[w] * query[w];
                to_q[w] += d_energy[j] * weight[w] * key;
            }
            put(d_keys + at, take(d_keys + at, left) + d_key, left);
        }
    }
    for (int w = 0; w < vectors; w++) {
        put(d_q + w * LANES, to_q[w], left);
        if (v) put(d_v + w * LANES, take(d_v + w * LANES, left) + to_v[w], left);
    }
}

/* ∂/∂context (d) and what is taken from alpha (T) or NULL → ∂/∂q (a); ∂/∂keys (T, a) and ∂/∂v (a) grow. */
INLINE void attend_row_back(const float *keys, const float *values, const uint8_t *there, const float *q,
                            const float *v, float scale, const float *alpha, const float *d_context,
                            const float *d_alpha, long T, long a, long d, float *energies, float *d_q, float *d_keys,
                            float *d_v) {
    float mean = 0;
    for (long j = 0; j < T; j++) {
        if (!there[j]) continue;
        energies[j] = inner(values + j * d, d_context, d) + (d_alpha ? d_alpha[j] : 0);
        mean += alpha[j] * energies[j];
    }
    for (long j = 0; j < T; j++) energies[j] = there[j] ? alpha[j] * (energies[j] - mean) : 0;
    long k = 0;
    for (; k + 4 * LANES <= a; k += 4 * LANES)
        back_units(4, a - k, keys + k, there, q + k, v ? v + k : NULL, scale, energies, T, a, d_q + k, d_keys + k,
                   v ? d_v + k : NULL);
    for (; k < a; k += LANES)
        back_units(1, a - k, keys + k, there, q + k, v ? v + k : NULL, scale, energies, T, a, d_q + k, d_keys + k,
                   v ? d_v + k : NULL);
}
