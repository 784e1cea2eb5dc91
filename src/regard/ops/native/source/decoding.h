/* A decoder and the sentences it decodes, as a step takes them. */
#pragma once
#include "packed.h"

typedef struct {
    long n, a, d, l, m, g, V; /* g: 4n or 3n; V: words that can be last ones */
    const packed *W, *U, *F;  /* (g, m), (g, n); of what is fed, (g, l), or of the context, (g, d); F may be NULL */
    const packed *W_a;        /* (a, n), or NULL where the state itself asks */
    const packed *W_c;        /* Luong's readout, (l, d + n); RNNsearch's U_o, (2l, n) */
    const packed *V_o, *C_o;  /* RNNsearch's, (2l, m) and (2l, d) */
    const packed *W_o;        /* (words, l) */
    const float *E, *b;       /* (V, m), (g) */
    const float *table;       /* (V, g) or RNNsearch's (V, g + 2l): [W E y + b; V_o E y + b_r]; or NULL */
    const float *b_r, *v, *b_o; /* (2l), RNNsearch's; (a), or NULL for a dot product; (words) */
    float scale;
    int lstm;
} decoder;

/* keys (B, Tx, a), values (B, Tx, d), there (B, Tx). */
typedef struct {
    long B, Tx, R;
    const float *keys, *values;
    const uint8_t *there;
} sentences;
