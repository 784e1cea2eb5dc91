/* Products of matrices. The right factor is first laid out in panels of WIDE columns, row after row, so that the
   innermost loop reads it in one stream; a tile of HIGH rows and WIDE columns of the result stays in registers.

   narrow: the factors are rounded to bfloat16 and multiplied two by two, where the processor has such an instruction;
   sums are float32 either way. Every row of a result is computed in the same order whatever stands beside it. */
#pragma once
#include "scratch.h"

/* A tile has HIGH rows; FEWER are the cases of a switch for those with fewer, each compiled for its number. */
#define CASE(R, ONE) \
    case R: ONE(R); break;
#define UP_TO_3(ONE) CASE(1, ONE) CASE(2, ONE) CASE(3, ONE)
#if LANES == 16
#define HIGH 8
#define FEWER(ONE) UP_TO_3(ONE) CASE(4, ONE) CASE(5, ONE) CASE(6, ONE) CASE(7, ONE)
#else
#define HIGH 4
#define FEWER(ONE) UP_TO_3(ONE)
#endif
#define ACROSS 2
#define WIDE (LANES * ACROSS)

/* Words of four bytes that a panel of `inner` rows takes. */
INLINE long panel_words(long inner, int narrow) { return (narrow ? (inner + 1) / 2 : inner) * WIDE; }
INLINE long num_panels(long columns) { return (columns + WIDE - 1) / WIDE; }

/* What a thread computes of a product: some rows, and all panels; or, of few rows, all of them, and some panels. */
typedef struct {
    long first, last, first_panel, last_panel;
} part;

INLINE part part_of(long rows, long panels, int by_columns, int me, int num_threads) {
    if (by_columns) return (part){0, rows, panels * me / num_threads, panels * (me + 1) / num_threads};
    long tiles = (rows + HIGH - 1) / HIGH, last = tiles * (me + 1) / num_threads * HIGH;
    return (part){tiles * me / num_threads * HIGH, last < rows ? last : rows, 0, panels};
}

/* This thread's share of the panels of B (inner, columns), whose element (k, j) is B[k * down + j * across]. */
void regard_pack_share(const float *B, long down, long across, long inner, long columns, int narrow, float *out,
                       int thread, int threads);

/* Scratch memory for the panels of a matrix (inner, columns). */
INLINE float *scratch_panels(arena *a, long inner, long columns, int narrow) {
    return regard_scratch(a, num_panels(columns), panel_words(inner, narrow), 0);
}

/* And for rows of `inner` columns in pairs, of both terms together, which a step's products share. */
INLINE shares scratch_pairs(arena *a, long B, long inner, int narrow, int threads) {
    return scratch_rows(a, B, narrow ? (inner + 1) / 2 : 0, threads);
}

/* One product of a sum: A, whose rows are `down` words apart, and B packed. */
typedef struct {
    const float *A;
    long down, inner;
    const float *packed;
} term;

/* C = Σ A B (+ C) of one or two terms, for few rows that one thread has: a step of a recurrence. Rows of C are `C_down`
   words apart; `pairs` is for each A in pairs. Both are added up while a panel's columns of C are near. */
void regard_step_product(const term *terms, int count, long rows, long columns, int narrow, int add, float *C,
                         long C_down, float *pairs);

/* A (rows, inner), `down` apart, rounded to bfloat16 two by two; `out` then holds (inner + 1) / 2 words a row. */
void regard_narrow_rows(const float *A, long down, long rows, long inner, float *out);

/* C = A B (+ bias, or + C) for one panel of B, whose `count` columns are C's; rows of A `down` words apart. */
void regard_rows_by_panel(long rows, const float *A, long down, const float *panel, long inner, int narrow,
                          const float *bias, int add, float *C, long C_down, long count);
