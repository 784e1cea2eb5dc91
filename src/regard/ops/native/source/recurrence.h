/* A recurrence: what comes in, what is kept for the way back, and what comes out (ops/recurrence.py, field by field).

   B sentences of T positions; n units of state; g rows of gates, of which deep fusion has n more. A step without a word
   leaves the state as it was and writes nothing, so buffers marked 0 come as zeros: large products read them whole. */
#pragma once
#include <stdint.h>

enum { PREVIOUS_STATE, NEW_STATE, LAST_READ }; /* what asks */
enum { GATES, STATE, MEMORY, READOUT };        /* where that which was read of the source goes */

/* A memory that steps read: the source, or the own past, which has some slots that are given and one for each step, in
   their order. Keys have p units; a value has d: of the own past [h], or [h; c]; of the source, in deep fusion, [γ; c],
   and for a readout W_c has met it already, so that d is l. */
typedef struct {
    long slots, p, d;
    long span;                       /* how many real slots a step reads; 0 for all */
    long offset;                     /* of the query's share in `projected`; 0 if x has none */
    const uint8_t *there;            /* (B, slots): what can be read */
    const float *matrix, *v;         /* (p, n), NULL where what asks is the query; (p), NULL for dot products */
    float *keys, *values;            /* (B, slots, p), (B, slots, d): given slots in, the rest out */
    float *queries, *reads;          /* (B, T, p); (B, T, d) 0, and for a readout h~ before dropout */
    float *alpha;                    /* (B, T, slots), 0 everywhere beforehand */
    const float *d_alpha;            /* taken by the loss; may be NULL */
    float *d_queries;                /* (B, T, p) 0, where x has no share in them */
    float *d_reads;                  /* (B, T, d) 0: for the gates, what the loss takes in */
    float *d_keys, *d_values, *d_v;  /* as keys; as values, of the own past; (B, p) zeros: by sentence, so that sums do
                                        not depend on the number of threads */
    float scale;
    int asks;
} reading;

/* A further layer of the cell, which reads the one below it. */
typedef struct {
    const float *W, *U, *b, *p;      /* of the state below (g, n), of its own (g, n), (g), peepholes (3n) or NULL */
    const float *dropped;            /* (B, T, n) on what it reads, or NULL */
    const float *state_mask;         /* (B, n) on what U meets, or NULL */
    float *h, *c;                    /* the state: first in, last out; back: the first c */
    float *inputs, *previous;        /* (B, T, n) 0: what W met, and h before each step */
    float *gates, *gated, *memories; /* as those of the recurrence */
    float *d_h, *d_c, *d_gates;      /* ∂/∂(first state) out; ∂/∂(inside the gates), (B, T, g) 0 */
} level;

typedef struct {
    long B, T, n;
    long met, wide;                  /* what U meets, n or 2n; the width of projected */
    long layers;                     /* how many there are above the first one; only with a readout */
    const reading *source, *past;    /* NULL: not read */
    const level *above;              /* (layers) */
    const uint8_t *there;            /* (B, T): a word */
    const float *projected;          /* (B, T, wide): gates, then the queries' shares */
    const float *U, *p;              /* (g, met); peepholes (3n), or NULL */
    const float *J;                  /* of what joins the gates: C (g, d), F (g, l), or R (n, n) of the gate of fusion */
    const float *U_a, *W_h;          /* of the past's keys (p, n), NULL where h is the key; of h in a readout (l, n) */
    const float *state_mask;         /* (B, n) on what U and R meet, or NULL */
    const float *dropped;            /* (B, T, l) on readouts, or NULL */
    float *h, *c, *s, *r, *fed;      /* the state, h, memory, summary, γ~, h~: first in, last out; back: the first c */
    float *states, *readouts;        /* (B, T, n) 0, of the top layer; (B, T, l) 0 */
    float *previous;                 /* (B, T, met) 0: [h], or of one with a past [s] or [s; h], before each step; of one
                                        with a readout (B, T, met + l): h~, too */
    float *memories;                 /* (B, T, n): c after each step, where none is read */
    float *gates, *gated;            /* (B, T, g); of the GRU (B, T, n) 0: r * s */
    const float *d_states, *d_readouts; /* taken by the loss; may be NULL */
    float *d_projected;              /* as projected, 0 */
    float *d_h, *d_c, *d_s, *d_r, *d_fed; /* ∂/∂(last state) in, ∂/∂(first state) out */
    int cell, enters, reverse, narrow, threads;
} recurrence;
