/* Scratch memory of one call, and how a call ends.

   A thread that calls kernels has one arena, which a call finds empty and takes its buffers from, one after another,
   before it starts its threads. Where memory runs out `failed` is set and stays set, so that a call asks once, after
   its last buffer. What a call needed is kept for the next one, until the thread ends. */
#pragma once
#include "vector.h"

enum { DONE, NO_MEMORY, NO_SUCH_WORD };

typedef struct block block;

typedef struct {
    block *newest;
    size_t total; /* bytes of all blocks: what the next first block has at least */
    int failed;
} arena;

/* This thread's arena, empty. */
arena *regard_begin(void);

#define LINE 16 /* words of a cache line */

/* A buffer (rows, width) of words of four bytes, and `lines` cache lines more, that starts on a cache line; NULL where
   memory has run out, or no memory could be so large. */
float *regard_scratch(arena *a, long rows, long width, long lines);

/* Rows of a batch of B, of which each thread has its own sentences' side by side, from a cache line of its own on. */
typedef struct {
    float *data;
    long width;
} shares;

INLINE shares scratch_rows(arena *a, long B, long width, int threads) {
    return (shares){regard_scratch(a, B, width, threads), width};
}

/* The number of sentences of thread me: me, me + num_threads, … of B. */
INLINE long rows_of(long B, int me, int num_threads) { return (B - me + num_threads - 1) / num_threads; }

INLINE float *own_rows(shares x, long B, int me, int num_threads) {
    long rest = B % num_threads, before = B / num_threads * me + (me < rest ? me : rest);
    return x.data + (before * x.width + LINE * me) / LINE * LINE;
}

/* As it is called where a thread has found its place among those that share B sentences. */
#define OWN(all) own_rows(all, B, me, num_threads)

/* A buffer of this many words for each of `threads` threads; own_share(…, me) is that of thread me. */
INLINE shares scratch_shares(arena *a, long words, int threads) { return scratch_rows(a, threads, words, threads); }
INLINE float *own_share(shares x, int me) { return x.data + (me * x.width + LINE * me) / LINE * LINE; }
