/* Products of matrices. The right factor is first laid out in panels of WIDE columns, row after row, so that the
   innermost loop reads it in one stream; a tile of HIGH rows and WIDE columns of the result stays in registers.

   narrow: the factors are rounded to bfloat16 and multiplied two by two, where the processor has such an instruction;
   sums are float32 either way. Every row of a result is computed in the same order whatever stands beside it. */
#pragma once
#include "vector.h"

#if LANES == 16
#define HIGH 8
#else
#define HIGH 4
#endif
#define ACROSS 2
#define WIDE (LANES * ACROSS)

/* Words of four bytes that a panel of `inner` rows takes. */
INLINE long panel_words(long inner, int narrow) { return (narrow ? (inner + 1) / 2 : inner) * WIDE; }
INLINE long num_panels(long columns) { return (columns + WIDE - 1) / WIDE; }

/* This thread's share of the panels of B (inner, columns), whose element (k, j) is B[k * down + j * across]. */
void regard_pack_share(const float *B, long down, long across, long inner, long columns, int narrow, float *out,
                       int thread, int threads);

/* C = A B (+ C) for few rows that one thread has, A (rows, inner) without gaps, B packed: a step of a recurrence.
   `scratch` has room for A in pairs. */
void regard_step_product(const float *A, long rows, const float *packed, long inner, long columns, int narrow, int add,
                         float *C, float *scratch);

/* A (rows, inner), `down` apart, rounded to bfloat16 two by two; `out` then holds (inner + 1) / 2 words a row. */
void regard_narrow_rows(const float *A, long down, long rows, long inner, float *out);

/* C = A B (+ bias, or + C) for one panel of B, whose `count` columns are C's; rows of A `down` words apart. */
void regard_rows_by_panel(long rows, const float *A, long down, const float *panel, long inner, int narrow,
                          const float *bias, int add, float *C, long C_down, long count);
