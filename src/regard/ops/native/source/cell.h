/* Cells, one row forwards and back: the LSTM, the plain RNN and the paper's GRU.

   A step adds two rows of blocks: x, what was computed for all steps at once (W x + b), and y, the rest (U h and what
   else joins). All of U meets the state, but the GRU's candidate, which meets r * s; its gates come first. */
#pragma once
#include "vector.h"

/* LSTM: h = o tanh(c); LSTM_PLAIN: h = o c; PEEPHOLE: its gates see the memory. The RNN's activations are tanh and the
   logistic sigmoid. */
enum { LSTM, LSTM_PLAIN, TANH, SIGMOID, PEEPHOLE, GRU };

INLINE int has_memory(int cell) { return cell <= LSTM_PLAIN || cell == PEEPHOLE; }
INLINE long gates_of(int cell) { return cell == GRU ? 3 : has_memory(cell) ? 4 : 1; }
/* The blocks of U that meet the state. */
INLINE long first_gates_of(int cell) { return cell == GRU ? 2 : gates_of(cell); }

/* Blocks in torch's order: in, forget, candidate, out. Writes the gates (4n) where there is memory for them, c in
   place, and h. p: peepholes (3n) of in, forget and out, or NULL. fetched: what a fifth gate adds to c (n), or NULL. */
INLINE void lstm_row(const int squash, const float *p, const float *fetched, const float *x, const float *y, long n,
                     float *gates, float *c, float *h) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec old = take(c + u, left);
        vec i = take(x + u, left) + take(y + u, left), f = take(x + n + u, left) + take(y + n + u, left);
        vec g = vtanh(take(x + 2 * n + u, left) + take(y + 2 * n + u, left));
        vec o = take(x + 3 * n + u, left) + take(y + 3 * n + u, left);
        i = vsigmoid(p ? i + take(p + u, left) * old : i);
        f = vsigmoid(p ? f + take(p + n + u, left) * old : f);
        vec m = f * old + i * g;
        if (fetched) {
            vec r = vsigmoid(take(x + 4 * n + u, left) + take(y + 4 * n + u, left));
            m += r * take(fetched + u, left);
            put(gates + 4 * n + u, r, left);
        }
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

/* dh: ∂/∂h (n); dc: ∂/∂c after the step, becomes that before it; before, after: c. Writes ∂/∂(inside the gates), and
   ∂/∂fetched. */
INLINE void lstm_row_back(const int squash, const float *p, const float *fetched, const float *dh, const float *gates,
                          const float *before, const float *after, long n, float *dc, float *d_gates,
                          float *d_fetched) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec i = take(gates + u, left), f = take(gates + n + u, left);
        vec g = take(gates + 2 * n + u, left), o = take(gates + 3 * n + u, left);
        vec m = take(after + u, left), d = take(dh + u, left);
        if (squash) m = vtanh(m);
        vec d_o = d * m * o * (1.0f - o), into = take(dc + u, left) + (squash ? d * o * (1.0f - m * m) : d * o);
        if (p) into += d_o * take(p + 2 * n + u, left);
        if (fetched) {
            vec r = take(gates + 4 * n + u, left);
            put(d_gates + 4 * n + u, into * take(fetched + u, left) * r * (1.0f - r), left);
            put(d_fetched + u, into * r, left);
        }
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

/* The GRU's blocks: update, reset, candidate. Before its candidate: the first two gates, and r * s. */
APART void gru_row_reset(const float *x, const float *y, const float *s, long n, float *gates, float *reset_state) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        put(gates + u, vsigmoid(take(x + u, left) + take(y + u, left)), left);
        vec r = vsigmoid(take(x + n + u, left) + take(y + n + u, left));
        put(gates + n + u, r, left);
        put(reset_state + u, r * take(s + u, left), left);
    }
}

/* And after it; the state in place. */
INLINE void gru_row(const float *x, const float *y, long n, float *gates, float *s) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec g = vtanh(take(x + 2 * n + u, left) + take(y + 2 * n + u, left)), old = take(s + u, left);
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

/* s: what r scaled; d_s: ∂/∂(r * s) (n), becomes ∂/∂s → ∂/∂(inside reset). */
APART void gru_row_reset_back(const float *gates, const float *s, long n, float *d_s, float *d_gates) {
    for (long u = 0; u < n; u += LANES) {
        long left = n - u;
        vec r = take(gates + n + u, left), d = take(d_s + u, left);
        put(d_gates + n + u, d * take(s + u, left) * r * (1.0f - r), left);
        put(d_s + u, d * r, left);
    }
}

/* Any of them, once all of y is there; h: the state in place. c is NULL without a memory, p of all but PEEPHOLE. */
APART void cell_row(int cell, const float *p, const float *fetched, const float *x, const float *y, long n,
                     float *gates, float *c, float *h) {
    switch (fetched ? -1 : cell) {
        case PEEPHOLE: lstm_row(1, p, NULL, x, y, n, gates, c, h); break;
        case LSTM: lstm_row(1, NULL, NULL, x, y, n, gates, c, h); break;
        case LSTM_PLAIN: lstm_row(0, NULL, NULL, x, y, n, gates, c, h); break;
        case TANH: rnn_row(1, x, y, n, gates, h); break;
        case SIGMOID: rnn_row(0, x, y, n, gates, h); break;
        case GRU: gru_row(x, y, n, gates, h); break;
        default: lstm_row(cell != LSTM_PLAIN, p, fetched, x, y, n, gates, c, h);
    }
}

/* dh: ∂/∂h, becomes what of it passes by U where something does; state: h before the step. */
APART void cell_row_back(int cell, const float *p, const float *fetched, float *dh, const float *gates,
                          const float *state, const float *before, const float *after, long n, float *dc,
                          float *d_gates, float *d_fetched) {
    switch (fetched ? -1 : cell) {
        case PEEPHOLE: lstm_row_back(1, p, NULL, dh, gates, before, after, n, dc, d_gates, NULL); break;
        case LSTM: lstm_row_back(1, NULL, NULL, dh, gates, before, after, n, dc, d_gates, NULL); break;
        case LSTM_PLAIN: lstm_row_back(0, NULL, NULL, dh, gates, before, after, n, dc, d_gates, NULL); break;
        case TANH: rnn_row_back(1, dh, gates, n, d_gates); break;
        case SIGMOID: rnn_row_back(0, dh, gates, n, d_gates); break;
        case GRU: gru_row_back(gates, state, n, dh, d_gates); break;
        default:
            lstm_row_back(cell != LSTM_PLAIN, p, fetched, dh, gates, before, after, n, dc, d_gates, d_fetched);
    }
}
