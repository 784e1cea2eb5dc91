/* The products of `product.h`, for a step of a recurrence and for whole matrices. */
#include <omp.h>
#include "product.h"
#ifdef __AVX512BF16__
#include <immintrin.h>

INLINE uint16_t rounded(float x) {
    __m128bh one = _mm_cvtneps_pbh(_mm_set_ss(x));
    return (uint16_t)_mm_extract_epi16((__m128i)one, 0);
}
#else
INLINE uint16_t rounded(float x) {
    (void)x;
    return 0;
}
#endif

#ifdef __AVX512BF16__
/* Sixteen floats side by side, two by two: eight words. */
INLINE __m256i pairs_along(const float *x) { return (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x)); }

/* Each of sixteen floats with the one that stands `down` behind it: sixteen words. */
INLINE __m512i pairs_down(const float *x, long down) {
    __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x)));
    __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + down)));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
#endif

/* One panel of the right factor in pairs; see `pack_panel`. */
static void pack_narrow_panel(const float *B, long down, long across, long inner, long count, uint32_t *out) {
    long k = 0;
#ifdef __AVX512BF16__
    if (across == 1 && count == WIDE)
        for (; k + 2 <= inner; k += 2)
            for (int v = 0; v < ACROSS; v++)
                _mm512_storeu_si512(out + k / 2 * WIDE + v * LANES, pairs_down(B + k * down + v * LANES, down));
    if (down == 1 && count == WIDE)
        for (; k + 16 <= inner; k += 16)
            for (long j = 0; j < WIDE; j++) {
                uint32_t words[8];
                _mm256_storeu_si256((__m256i *)words, pairs_along(B + j * across + k));
                for (int w = 0; w < 8; w++) out[(k / 2 + w) * WIDE + j] = words[w];
            }
#endif
    for (; k < inner; k += 2)
        for (long j = 0; j < WIDE; j++) {
            uint32_t low = j < count ? rounded(B[k * down + j * across]) : 0;
            uint32_t high = j < count && k + 1 < inner ? rounded(B[(k + 1) * down + j * across]) : 0;
            out[k / 2 * WIDE + j] = low | high << 16;
        }
}

/* One panel of the right factor B (inner, count), whose element (k, j) is B[k * down + j * across]. */
static void pack_panel(const float *B, long down, long across, long inner, long count, int narrow, float *out) {
    if (narrow) {
        pack_narrow_panel(B, down, across, inner, count, (uint32_t *)out);
        return;
    }
    if (across == 1 && count == WIDE) {
        for (long k = 0; k < inner; k++)
            for (int v = 0; v < ACROSS; v++) store(out + k * WIDE + v * LANES, load(B + k * down + v * LANES));
        return;
    }
    if (count < WIDE) memset(out, 0, (size_t)(inner * WIDE) * 4);
    long k = 0;
    if (down == 1)
        for (; k + 16 <= inner; k += 16) /* a cache line of each row, while it is there */
            for (long j = 0; j < count; j++)
                for (int i = 0; i < 16; i++) out[(k + i) * WIDE + j] = B[j * across + k + i];
    for (; k < inner; k++)
        for (long j = 0; j < count; j++) out[k * WIDE + j] = B[k * down + j * across];
}

void regard_pack_share(const float *B, long down, long across, long inner, long columns, int narrow, float *out,
                       int thread, int threads) {
    for (long p = thread; p < num_panels(columns); p += threads) {
        long j = p * WIDE, count = columns - j < WIDE ? columns - j : WIDE;
        pack_panel(B + j * across, down, across, inner, count, narrow, out + p * panel_words(inner, narrow));
    }
}

/* `rows` <= HIGH rows times one panel; element (i, k) of the left factor, or its pair k, is A[i * down + k * across]. */
INLINE void tile(const int rows, const float *restrict A, long down, long across, const float *restrict panel,
                 long inner, int narrow, const float *bias, int add, float *restrict C, long C_down, long count) {
    vec acc[HIGH][ACROSS];
    float edge[HIGH * WIDE];
    int whole = count >= WIDE;
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < ACROSS; v++) {
            long left = count - v * LANES;
            const float *from = add ? C + i * C_down : bias;
            acc[i][v] = from && left > 0 ? (whole ? load(from + v * LANES) : take(from + v * LANES, left)) : (vec){0};
        }
    if (narrow) {
#ifdef __AVX512BF16__
        const uint32_t *pairs = (const uint32_t *)A;
        for (long k = 0; k < (inner + 1) / 2; k++) {
            __m512bh b[ACROSS];
            for (int v = 0; v < ACROSS; v++) b[v] = (__m512bh)_mm512_load_ps(panel + k * WIDE + v * LANES);
            for (int i = 0; i < rows; i++) {
                __m512bh a = (__m512bh)_mm512_set1_epi32((int)pairs[i * down + k * across]);
                for (int v = 0; v < ACROSS; v++) acc[i][v] = (vec)_mm512_dpbf16_ps((__m512)acc[i][v], a, b[v]);
            }
        }
#endif
    } else {
        for (long k = 0; k < inner; k++) {
            vec b[ACROSS];
            for (int v = 0; v < ACROSS; v++) b[v] = *(const vec *)(panel + k * WIDE + v * LANES);
            for (int i = 0; i < rows; i++)
                for (int v = 0; v < ACROSS; v++) acc[i][v] += A[i * down + k * across] * b[v];
        }
    }
    float *to = whole ? C : edge;
    long to_down = whole ? C_down : WIDE;
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < ACROSS; v++) store(to + i * to_down + v * LANES, acc[i][v]);
    if (!whole)
        for (int i = 0; i < rows; i++) memcpy(C + i * C_down, edge + i * WIDE, (size_t)count * 4);
}

/* Any number of rows times one panel, HIGH at a time. */
INLINE void rows_by_panel(long rows, const float *A, long down, long across, long step, const float *panel, long inner,
                          int narrow, const float *bias, int add, float *C, long C_down, long count) {
#define ONE(R) tile(R, A, down, across, panel, inner, narrow, bias, add, C, C_down, count)
    for (; rows >= HIGH; rows -= HIGH, A += step, C += HIGH * C_down) ONE(HIGH);
    switch (rows) { FEWER(ONE) }
#undef ONE
}

void regard_narrow_rows(const float *A, long down, long rows, long inner, float *out) {
    uint16_t *to = (uint16_t *)out;
    long width = (inner + 1) / 2 * 2;
    for (long i = 0; i < rows; i++) {
        long k = 0;
#ifdef __AVX512BF16__
        for (; k + 16 <= inner; k += 16)
            _mm256_storeu_si256((__m256i *)(to + i * width + k),
                                (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(A + i * down + k)));
#endif
        for (; k < inner; k++) to[i * width + k] = rounded(A[i * down + k]);
        if (inner % 2) to[i * width + inner] = 0;
    }
}

void regard_rows_by_panel(long rows, const float *A, long down, const float *panel, long inner, int narrow,
                          const float *bias, int add, float *C, long C_down, long count) {
    if (narrow)
        rows_by_panel(rows, A, down, 1, HIGH * down, panel, inner, 1, bias, add, C, C_down, count);
    else
        rows_by_panel(rows, A, down, 1, HIGH * down, panel, inner, 0, bias, add, C, C_down, count);
}

void regard_step_product(const term *terms, int count, long rows, long columns, int narrow, int add, float *C,
                         long C_down, float *pairs) {
    term all[2];
    for (int k = 0; k < count; k++) {
        all[k] = terms[k];
        if (!narrow) continue;
        regard_narrow_rows(all[k].A, all[k].down, rows, all[k].inner, pairs);
        all[k].A = pairs;
        all[k].down = (all[k].inner + 1) / 2;
        pairs += rows * all[k].down;
    }
    for (long p = 0; p < num_panels(columns); p++) {
        long j = p * WIDE, wide = columns - j < WIDE ? columns - j : WIDE;
        for (int k = 0; k < count; k++) {
            const float *panel = all[k].packed + p * panel_words(all[k].inner, narrow);
            regard_rows_by_panel(rows, all[k].A, all[k].down, panel, all[k].inner, narrow, NULL, add || k, C + j, C_down,
                                 wide);
        }
    }
}

#define DEEP 512 /* inner indices taken at a time: a panel of them stays in the second cache */
#define TALL 128 /* rows of the left factor packed at a time, likewise */

/* One block of HIGH rows of the left factor in pairs; see `pack_rows`. */
INLINE void pack_narrow_block(const float *A, long down, long across, long high, long inner, uint32_t *out) {
    long k = 0;
#ifdef __AVX512BF16__
    if (across == 1 && high == HIGH)
        for (; k + 16 <= inner; k += 16)
            for (int h = 0; h < HIGH; h++) {
                uint32_t words[8];
                _mm256_storeu_si256((__m256i *)words, pairs_along(A + h * down + k));
                for (int w = 0; w < 8; w++) out[(k / 2 + w) * HIGH + h] = words[w];
            }
#endif
    for (; k < inner; k += 2)
        for (long h = 0; h < high; h++) {
            uint32_t low = rounded(A[h * down + k * across]);
            uint32_t second = k + 1 < inner ? rounded(A[h * down + (k + 1) * across]) : 0;
            out[k / 2 * HIGH + h] = low | second << 16;
        }
}

/* Rows [0, rows) of A, element (i, k) at A[i * down + k * across], in blocks of HIGH rows, k after k. */
static void pack_rows(const float *A, long down, long across, long rows, long inner, int narrow, float *out) {
    long step = HIGH * (narrow ? (inner + 1) / 2 : inner);
    for (long i = 0; i < rows; i += HIGH, A += HIGH * down, out += step) {
        long high = rows - i < HIGH ? rows - i : HIGH;
        if (narrow) {
            pack_narrow_block(A, down, across, high, inner, (uint32_t *)out);
        } else if (down == 1 && high == HIGH) {
            for (long k = 0; k < inner; k++)
                for (int h = 0; h < HIGH; h++) out[k * HIGH + h] = A[k * across + h];
        } else {
            for (long h = 0; h < high; h++)
                for (long k = 0; k < inner; k++) out[k * HIGH + h] = A[h * down + k * across];
        }
    }
}

/* C (M, N) = A (M, K) B (K, N) + bias, or + C when `add`; A, B by strides down and across, C by rows. */
int regard_product(const float *A, long A_down, long A_across, const float *B, long B_down, long B_across,
                   const float *bias, float *C, long C_down, long M, long N, long K, int add, int narrow, int threads) {
    long panels = num_panels(N);
    arena *memory = regard_begin();
    float *packed = scratch_panels(memory, K, N, narrow);
    shares left = scratch_shares(memory, TALL * (K < DEEP ? K + 1 : DEEP), threads);
    if (memory->failed) return NO_MEMORY;
    int by_columns = M < 2 * HIGH * threads;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        part p = part_of(M, panels, by_columns, me, num_threads);
        float *own = own_share(left, me);
        for (long k = 0; k < K || k == 0; k += DEEP) {
            long inner = K - k < DEEP ? K - k : DEEP;
            float *here = packed + panels * panel_words(k, narrow);
            regard_pack_share(B + k * B_down, B_down, B_across, inner, N, narrow, here, me, num_threads);
        }
#pragma omp barrier
        for (long k = 0; k < K || k == 0; k += DEEP) {
            long inner = K - k < DEEP ? K - k : DEEP;
            float *here = packed + panels * panel_words(k, narrow);
            for (long i = p.first; i < p.last; i += TALL) {
                long rows = p.last - i < TALL ? p.last - i : TALL;
                pack_rows(A + i * A_down + k * A_across, A_down, A_across, rows, inner, narrow, own);
                long step = HIGH * (narrow ? (inner + 1) / 2 : inner);
                for (long c = p.first_panel; c < p.last_panel; c++) {
                    long j = c * WIDE, count = N - j < WIDE ? N - j : WIDE;
                    const float *panel = here + c * panel_words(inner, narrow);
                    const float *start = bias && k == 0 ? bias + j : NULL;
                    if (narrow)
                        rows_by_panel(rows, own, 1, HIGH, step, panel, inner, 1, start, add || k > 0,
                                      C + i * C_down + j, C_down, count);
                    else
                        rows_by_panel(rows, own, 1, HIGH, step, panel, inner, 0, start, add || k > 0,
                                      C + i * C_down + j, C_down, count);
                }
            }
        }
    }
    return DONE;
}

/* Whether products can be narrow here. */
int regard_narrow(void) {
#ifdef __AVX512BF16__
    return 1;
#else
    return 0;
#endif
}
