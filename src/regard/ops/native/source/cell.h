/* Cells that take one product a step, one row forwards and back: the LSTM and the plain RNN. */
#pragma once
#include "vector.h"

/* LSTM: h = o tanh(c); LSTM_PLAIN: h = o c; PEEPHOLE: its gates see the memory. The RNN's activations are tanh and the
   logistic sigmoid. */
enum { LSTM, LSTM_PLAIN, TANH, SIGMOID, PEEPHOLE };

INLINE int has_memory(int cell) { return cell <= LSTM_PLAIN || cell == PEEPHOLE; }
INLINE long gates_of(int cell) { return has_memory(cell) ? 4 : 1; }

/* Blocks in torch's order: in, forget, candidate, out. x: W x + b; y: U h (and what else joined), both (4n). Writes the
   gates (4n) where there is memory for them, c in place, and h. p: peepholes (3n) of in, forget and out, or NULL. */
INLINE void seeing_row(const int squash, const float *p, const float *x, const float *y, long n, float *gates, float *c,
                       float *h) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec old = take(c + u, left);
        vec i = take(x + u, left) + take(y + u, left), f = take(x + n + u, left) + take(y + n + u, left);
        vec g = vtanh(take(x + 2 * n + u, left) + take(y + 2 * n + u, left));
        vec o = take(x + 3 * n + u, left) + take(y + 3 * n + u, left);
        i = vsigmoid(p ? i + take(p + u, left) * old : i);
        f = vsigmoid(p ? f + take(p + n + u, left) * old : f);
        vec m = f * old + i * g;
        o = vsigmoid(p ? o + take(p + 2 * n + u, left) * m : o);
        if (gates) {
            put(gates + u, i, left);
            put(gates + n + u, f, left);
            put(gates + 2 * n + u, g, left);
            put(gates + 3 * n + u, o, left);
        }
        put(c + u, m, left);
        put(h + u, o * (squash ? vtanh(m) : m), left);
    }
}

INLINE void lstm_row(const int squash, const float *x, const float *y, long n, float *gates, float *c, float *h) {
    seeing_row(squash, NULL, x, y, n, gates, c, h);
}

/* dh: ∂/∂h (n); dc: ∂/∂c after the step, becomes that before it; before, after: c. Writes ∂/∂(inside the gates), (4n). */
INLINE void seeing_row_back(const int squash, const float *p, const float *dh, const float *gates, const float *before,
                            const float *after, long n, float *dc, float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec i = take(gates + u, left), f = take(gates + n + u, left);
        vec g = take(gates + 2 * n + u, left), o = take(gates + 3 * n + u, left);
        vec m = take(after + u, left), d = take(dh + u, left);
        if (squash) m = vtanh(m);
        vec d_o = d * m * o * (1.0f - o), into = take(dc + u, left) + (squash ? d * o * (1.0f - m * m) : d * o);
        if (p) into += d_o * take(p + 2 * n + u, left);
        vec d_i = into * g * i * (1.0f - i), d_f = into * take(before + u, left) * f * (1.0f - f);
        put(d_gates + u, d_i, left);
        put(d_gates + n + u, d_f, left);
        put(d_gates + 2 * n + u, into * i * (1.0f - g * g), left);
        put(d_gates + 3 * n + u, d_o, left);
        into *= f;
        if (p) into += d_i * take(p + u, left) + d_f * take(p + n + u, left);
        put(dc + u, into, left);
    }
}

INLINE void lstm_row_back(const int squash, const float *dh, const float *gates, const float *before,
                          const float *after, long n, float *dc, float *d_gates) {
    seeing_row_back(squash, NULL, dh, gates, before, after, n, dc, d_gates);
}

/* h = f(x + y), kept as the gate, too. */
INLINE void rnn_row(const int tanh, const float *x, const float *y, long n, float *gates, float *h) {
    for (long u = 0; u < n; u += LANES) {
        vec sum = take(x + u, n - u) + take(y + u, n - u), new = tanh ? vtanh(sum) : vsigmoid(sum);
        if (gates) put(gates + u, new, n - u);
        put(h + u, new, n - u);
    }
}

INLINE void rnn_row_back(const int tanh, const float *dh, const float *gates, long n, float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        vec h = take(gates + u, n - u);
        put(d_gates + u, take(dh + u, n - u) * (tanh ? 1.0f - h * h : h * (1.0f - h)), n - u);
    }
}

/* Any of them; c is NULL for an RNN, p for all but PEEPHOLE. */
INLINE void cell_row(int cell, const float *p, const float *x, const float *y, long n, float *gates, float *c, float *h) {
    switch (cell) {
        case PEEPHOLE: seeing_row(1, p, x, y, n, gates, c, h); break;
        case LSTM: lstm_row(1, x, y, n, gates, c, h); break;
        case LSTM_PLAIN: lstm_row(0, x, y, n, gates, c, h); break;
        case TANH: rnn_row(1, x, y, n, gates, h); break;
        default: rnn_row(0, x, y, n, gates, h);
    }
}

INLINE void cell_row_back(int cell, const float *p, const float *dh, const float *gates, const float *before,
                          const float *after, long n, float *dc, float *d_gates) {
    switch (cell) {
        case PEEPHOLE: seeing_row_back(1, p, dh, gates, before, after, n, dc, d_gates); break;
        case LSTM: lstm_row_back(1, dh, gates, before, after, n, dc, d_gates); break;
        case LSTM_PLAIN: lstm_row_back(0, dh, gates, before, after, n, dc, d_gates); break;
        case TANH: rnn_row_back(1, dh, gates, n, d_gates); break;
        default: rnn_row_back(0, dh, gates, n, d_gates);
    }
}
