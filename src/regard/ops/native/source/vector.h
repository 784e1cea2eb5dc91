/* Vectors of floats, as wide as the processor has them, and the functions that recurrences are made of.

   exp and tanh are fitted: a polynomial and a quotient of two, to 3e-7 of the value over the whole range. What is no
   number stays no number. Tails shorter than a vector are loaded and stored by part. */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef float loose __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));

#define INLINE static inline __attribute__((always_inline))
/* Not inlined, so that a row has all registers: in a long loop its constants would be spilled. */
#define APART static __attribute__((noinline, unused))

INLINE vec load(const float *p) { return *(const loose *)p; }
INLINE void store(float *p, vec x) { *(loose *)p = x; }
INLINE vec all(float x) { return x - (vec){0}; }

INLINE vec load_part(const float *p, long count) {
    vec x = {0};
    memcpy(&x, p, (size_t)count * 4);
    return x;
}

INLINE void store_part(float *p, vec x, long count) { memcpy(p, &x, (size_t)count * 4); }

/* Up to a vector's worth: whole where there is a whole one. */
INLINE vec take(const float *p, long count) { return count >= LANES ? load(p) : load_part(p, count); }

INLINE void put(float *p, vec x, long count) {
    if (count >= LANES)
        store(p, x);
    else
        store_part(p, x, count);
}

INLINE vec choose(ints where, vec yes, vec no) { return (vec)(((ints)yes & where) | ((ints)no & ~where)); }
INLINE vec at_most(vec x, float bound) { return choose(x > bound, all(bound), x); }
INLINE vec at_least(vec x, float bound) { return choose(x < bound, all(bound), x); }

INLINE float total(vec x) {
    float sum = 0;
    for (int k = 0; k < LANES; k++) sum += x[k];
    return sum;
}

INLINE vec vexp(vec x) {
    x = at_least(at_most(x, 88.0f), -87.0f);
    /* x = k ln 2 + r with k whole: adding and taking away 1.5 * 2^23 rounds */
    vec k = (x * 1.442695041f + 12582912.0f) - 12582912.0f;
    vec r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    vec y = all(1.383684563e-03f);
    y = y * r + 8.374815802e-03f;
    y = y * r + 4.166822558e-02f;
    y = y * r + 1.666642017e-01f;
    y = y * r + 4.999999208e-01f;
    y = y * r + 1.000000036e+00f;
    y = y * r + 1.0f;
    return y * (vec)((__builtin_convertvector(k, ints) + 127) << 23);
}

INLINE vec vtanh(vec x) {
    x = at_least(at_most(x, 9.0f), -9.0f);
    vec u = x * x;
    vec above = all(1.335462854e-08f);
    above = above * u + 2.060905623e-05f;
    above = above * u + 3.495586445e-03f;
    above = above * u + 1.338102420e-01f;
    above = above * u + 9.999999795e-01f;
    vec below = all(7.776544133e-07f);
    below = below * u + 3.285632134e-04f;
    below = below * u + 2.587697571e-02f;
    below = below * u + 4.671433979e-01f;
    below = below * u + 1.0f;
    return x * above / below;
}

INLINE vec vsigmoid(vec x) { return 1.0f / (1.0f + vexp(-x)); }
