/* A recurrence that attends to its own past: what comes in, what is kept for the way back, and what comes out.

   B sentences of T positions; n units of state, p of keys, d of a slot: [h], or [h; c] of an LSTM. A tape has `first`
   slots that are given and one for each step, in the order of the steps. Attending before the update, q_t = x_q + S s
   and U meets what was read; `after` it, U meets [s] or [s; h] of the last step, `met` units, and q_t = S h_t. */
#pragma once
#include <stdint.h>

typedef struct {
    long B, T, first, n, p, met;
    long span;                            /* how many real slots a step reads; 0 for all */
    const uint8_t *there, *valid;         /* (B, T): a word; (B, first + T): a slot that can be read */
    const float *U, *S, *U_a, *v;         /* (g, met); (p, n), and where h asks NULL; (p, n), NULL where h is the key; (p) */
    const float *dropped;                 /* (B, n) on what U meets, or NULL */
    const float *projected;               /* (B, T, g), with x_q (B, T, g + p) where the query has it */
    float *h, *c, *s;                     /* (B, n): first state in, last state out; c NULL of an RNN */
    float *keys, *written;                /* (B, first + T, p), (B, first + T, d): what is given in, the rest out */
    float *states, *alpha;                /* (B, T, n), (B, T, first + T), zero at padding beforehand */
    float *queries, *reads, *gates;       /* (B, T, p), (B, T, d), (B, T, g), zero at padding beforehand */
    float *carried;                       /* (B, T, met): [s] or [s; h] before each step, zero at padding beforehand */
    const float *d_states, *d_alpha;      /* taken by the loss; each may be NULL */
    float *d_projected, *d_queries;       /* as projected, zero at padding beforehand; (B, T, p) where h asks */
    float *d_reads;                       /* (B, T, d), which the backward pass fills */
    float *d_keys, *d_written, *d_v;      /* as the tapes: what is taken from them in, all that is out; (B, p) zeros */
    float *dh, *dc, *ds;                  /* (B, n): ∂/∂(last state) in, ∂/∂(first state) out */
    float scale;
    int cell, after, reverse, narrow, threads;
} tape;
