/* Matrices that are laid out once and met by many rows afterwards: what decoding does with every weight.

   A matrix W (columns, inner) stands in the panels of `product.h`, of one of three kinds: float32; bfloat16 in pairs;
   int8 in fours, each column q = round(127 w / max |w|). Rows that meet an int8 matrix are rounded likewise, a unit to
   each row, and made unsigned by adding 128, which the column's `offset`, 128 times the sum of its q, takes away again:
   the sum over k is exact in int32. Every row of a result is computed in the same order whatever stands beside it. */
#pragma once
#include "product.h"

enum { FLOAT32, BFLOAT16, INT8 };

typedef struct {
    long inner, columns;
    int kind;
    const float *panels;
    const float *unit;     /* int8: (columns) what a q of 1 stands for; whole panels of it */
    const int32_t *offset; /* int8: (columns), likewise */
} packed;

/* Rows as a matrix of one kind takes them: in place for float32, rounded into `scratch` for the others. */
typedef struct {
    const float *rows;
    long down;         /* words of four bytes from row to row */
    const float *unit; /* int8: (rows) */
} prepared;

/* Words of four bytes that `prepare` wants for a row. */
INLINE long prepared_words(int kind, long inner) {
    return kind == FLOAT32 ? 0 : kind == BFLOAT16 ? (inner + 1) / 2 : (inner + 3) / 4 + 1;
}

/* A (rows, inner), `down` apart. */
prepared regard_prepare(int kind, const float *A, long down, long rows, long inner, float *scratch);

/* C = x W' (+ bias, or + C) for the panels from `first` to before `last`; C's columns are W's, its rows C_down apart. */
void regard_rows_by_panels(const packed *w, prepared x, long rows, long first, long last, const float *bias, int add,
                           float *C, long C_down);

INLINE long panels_of(const packed *w) { return num_panels(w->columns); }
