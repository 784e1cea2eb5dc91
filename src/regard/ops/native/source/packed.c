/* The products of `packed.h`. */
#include <math.h>
#include <omp.h>
#include "packed.h"
#if defined(__FMA__)
#include <immintrin.h>
#endif
#if defined(__AVX512VNNI__) && defined(__AVX512F__)
#define FOURS 1
#else
#define FOURS 0
#endif

typedef int8_t small __attribute__((vector_size(LANES)));

/* Words of a panel of whatever kind. */
INLINE long words_of_panel(int kind, long inner) {
    return kind == INT8 ? (inner + 3) / 4 * WIDE : panel_words(inner, kind == BFLOAT16);
}

INLINE float largest(const float *x, long count) {
    vec most = {0};
    for (long k = 0; k < count; k += LANES) {
        vec y = take(x + k, count - k);
        y = choose(y < 0.0f, -y, y);
        most = choose(y > most, y, most);
    }
    float found = 0;
    for (int lane = 0; lane < LANES; lane++) found = most[lane] > found ? most[lane] : found;
    return found;
}

/* NaN if one of them is no number or infinite, and 0 otherwise. */
INLINE float spoilt(const float *x, long count) {
    vec sum = {0};
    for (long k = 0; k < count; k += LANES) sum += take(x + k, count - k) * 0.0f;
    return total(sum);
}

/* round(x * times), to even, the exact product rounded once: adding and taking away 1.5 * 2^23 in a fused step, or in
   float64, which holds the product. 0 where `times` is 0, of what is no number, too: that has no integer. */
INLINE ints whole(vec x, float times) {
    if (times == 0) return (ints){0};
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    vec magic = all(12582912.0f);
#if LANES == 16
    vec sum = (vec)_mm512_fmadd_ps((__m512)x, _mm512_set1_ps(times), (__m512)magic);
#elif LANES == 8
    vec sum = (vec)_mm256_fmadd_ps((__m256)x, _mm256_set1_ps(times), (__m256)magic);
#else
    vec sum = x * times + magic; /* the compiler fuses it */
#endif
    return __builtin_convertvector(sum - magic, ints);
#else
    ints rounded;
    for (int lane = 0; lane < LANES; lane++) rounded[lane] = (int32_t)rint((double)x[lane] * times);
    return rounded;
#endif
}

/* One row to bytes around 128; the unit they are counted in. */
INLINE float row_to_bytes(const float *x, long inner, uint8_t *out) {
    float most = largest(x, inner), bad = spoilt(x, inner), times = most > 0 && bad == 0 ? 127.0f / most : 0;
    for (long k = 0; k < inner; k += LANES) {
        ints q = whole(take(x + k, inner - k), times) + 128;
        long count = inner - k < LANES ? inner - k : LANES;
#if FOURS
        if (count == LANES) {
            _mm_storeu_si128((__m128i *)(out + k), _mm512_cvtepi32_epi8((__m512i)q));
            continue;
        }
#endif
        for (long lane = 0; lane < count; lane++) out[k + lane] = (uint8_t)q[lane];
    }
    for (long k = inner; k % 4; k++) out[k] = 0;
    return most / 127.0f + bad;
}

prepared regard_prepare(int kind, const float *A, long down, long rows, long inner, float *scratch) {
    if (kind == FLOAT32) return (prepared){A, down, NULL};
    if (kind == BFLOAT16) {
        regard_narrow_rows(A, down, rows, inner, scratch);
        return (prepared){scratch, (inner + 1) / 2, NULL};
    }
    long words = (inner + 3) / 4;
    float *unit = scratch + rows * words;
    for (long i = 0; i < rows; i++) unit[i] = row_to_bytes(A + i * down, inner, (uint8_t *)(scratch + i * words));
    return (prepared){scratch, words, unit};
}

/* `rows` <= HIGH rows of bytes times one panel of fours. */
INLINE void bytes_tile(const int rows, const uint32_t *A, long down, const float *row_unit, const int8_t *panel,
                       long fours, const float *unit, const int32_t *offset, const float *bias, int add, float *C,
                       long C_down, long count) {
    ints acc[HIGH][ACROSS];
    memset(acc, 0, sizeof acc);
#if FOURS
    for (long k = 0; k < fours; k++) {
        __m512i b[ACROSS];
        for (int v = 0; v < ACROSS; v++) b[v] = _mm512_load_si512(panel + (k * WIDE + v * LANES) * 4);
        for (int i = 0; i < rows; i++) {
            __m512i a = _mm512_set1_epi32((int)A[i * down + k]);
            for (int v = 0; v < ACROSS; v++) acc[i][v] = (ints)_mm512_dpbusd_epi32((__m512i)acc[i][v], a, b[v]);
        }
    }
#else
    for (long k = 0; k < fours; k++)
        for (int i = 0; i < rows; i++) {
            const uint8_t *a = (const uint8_t *)(A + i * down + k);
            for (int j = 0; j < WIDE; j++) {
                const int8_t *b = panel + (k * WIDE + j) * 4;
                acc[i][j / LANES][j % LANES] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            }
        }
#endif
    for (int v = 0; v < ACROSS; v++) {
        long left = count - v * LANES;
        if (left <= 0) break;
        ints away;
        memcpy(&away, offset + v * LANES, sizeof away);
        vec units = load(unit + v * LANES), start = bias ? take(bias + v * LANES, left) : (vec){0};
        for (int i = 0; i < rows; i++) {
            float *to = C + i * C_down + v * LANES;
            vec from = add ? take(to, left) : start;
            put(to, __builtin_convertvector(acc[i][v] - away, vec) * (units * row_unit[i]) + from, left);
        }
    }
}

INLINE void bytes_by_panel(long rows, const uint32_t *A, long down, const float *row_unit, const int8_t *panel,
                           long fours, const float *unit, const int32_t *offset, const float *bias, int add, float *C,
                           long C_down, long count) {
#define ONE(R) bytes_tile(R, A, down, row_unit, panel, fours, unit, offset, bias, add, C, C_down, count)
    for (; rows >= HIGH; rows -= HIGH, A += HIGH * down, row_unit += HIGH, C += HIGH * C_down) ONE(HIGH);
    switch (rows) { FEWER(ONE) }
#undef ONE
}

void regard_rows_by_panels(const packed *w, prepared x, long rows, long first, long last, const float *bias, int add,
                           float *C, long C_down) {
    long step = words_of_panel(w->kind, w->inner);
    for (long p = first; p < last; p++) {
        long j = p * WIDE, count = w->columns - j < WIDE ? w->columns - j : WIDE;
        const float *panel = w->panels + p * step, *start = bias ? bias + j : NULL;
        if (w->kind == INT8)
            bytes_by_panel(rows, (const uint32_t *)x.rows, x.down, x.unit, (const int8_t *)panel, (w->inner + 3) / 4,
                           w->unit + j, w->offset + j, start, add, C + j, C_down, count);
        else
            regard_rows_by_panel(rows, x.rows, x.down, panel, w->inner, w->kind == BFLOAT16, start, add, C + j, C_down,
                                 count);
    }
}

/* Bytes that the panels of a matrix take. */
long regard_packed_bytes(long inner, long columns, int kind) {
    return num_panels(columns) * words_of_panel(kind, inner) * 4;
}

/* W (columns, inner), `down` from row to row → the panels of w, and of int8 its units and offsets, all of which
   have memory. */
void regard_pack(const float *W, long down, const packed *w) {
    float *panels = (float *)w->panels;
    if (w->kind != INT8) {
        regard_pack_share(W, 1, down, w->inner, w->columns, w->kind == BFLOAT16, panels, 0, 1);
        return;
    }
    long fours = (w->inner + 3) / 4;
    int8_t *out = (int8_t *)panels;
    memset(out, 0, (size_t)(panels_of(w) * fours * WIDE * 4));
    for (long j = 0; j < w->columns; j++) {
        const float *row = W + j * down;
        float most = largest(row, w->inner), bad = spoilt(row, w->inner);
        float times = most > 0 && bad == 0 ? 127.0f / most : 0;
        int8_t *column = out + (j / WIDE * fours * WIDE + j % WIDE) * 4;
        int32_t sum = 0;
        for (long k = 0; k < w->inner; k += LANES) {
            ints q = whole(take(row + k, w->inner - k), times); /* 0 behind the row's end */
            small each = __builtin_convertvector(q, small);
            for (int lane = 0; lane < LANES; lane += 4)
                if (k + lane < w->inner) memcpy(column + (k + lane) * WIDE, (int8_t *)&each + lane, 4);
            for (int lane = 0; lane < LANES; lane++) sum += q[lane];
        }
        ((float *)w->unit)[j] = most / 127.0f + bad; /* what is no number stays none */
        ((int32_t *)w->offset)[j] = 128 * sum;
    }
}

#define TALL 128 /* rows prepared at a time: with a panel they stay in the second cache */

/* C (rows, columns) = A W' (+ bias, or + C); A's rows A_down apart, C's C_down. */
int regard_packed_product(const packed *w, const float *A, long A_down, const float *bias, int add, float *C,
                          long C_down, long rows, int threads) {
    long panels = panels_of(w), words = prepared_words(w->kind, w->inner);
    arena *memory = regard_begin();
    shares prepared_rows = scratch_shares(memory, TALL * words, threads);
    if (memory->failed) return NO_MEMORY;
    int by_columns = rows < 2 * HIGH * threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        part p = part_of(rows, panels, by_columns, me, num_threads);
        float *scratch = own_share(prepared_rows, me);
        for (long i = p.first; i < p.last; i += TALL) {
            long some = p.last - i < TALL ? p.last - i : TALL;
            prepared x = regard_prepare(w->kind, A + i * A_down, A_down, some, w->inner, scratch);
            regard_rows_by_panels(w, x, some, p.first_panel, p.last_panel, bias, add, C + i * C_down, C_down);
        }
    }
    return DONE;
}
