/* Luong's recurrence with input feeding: the LSTM steps, its new state asks, and what it reads becomes h~.

   The values are W_c h already (B, Tx, l), so that d of the source is l here. W (4n, n + l) meets [h; h~]; W_q meets
   h_t and gives [the query (p); W_c's share of h~ (l)], with p = 0 where the state itself asks. */
#include "attending.h"
#include "cell.h"

/* projected, gates (B, Ty, 4n); carried (B, Ty, n + l): [h; h~] before each step; states, memories (B, Ty, n); asked
   (B, Ty, p + l): [the query; h~ before dropout]; readouts, dropped (B, Ty, l); alpha (B, Ty, Tx). */
int regard_input_feeding(const source *x, long p, const float *projected, const float *W, const float *W_q,
                         const float *h, const float *c, const float *fed, const float *dropped, float *carried,
                         float *states, float *memories, float *gates, float *asked, float *readouts, float *alpha) {
    long B = x->B, n = x->n, l = x->d, g = 4 * n, both = n + l, wide = p + l;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *for_gates = scratch_panels(memory, both, g, x->narrow), *for_asking = scratch_panels(memory, n, wide, x->narrow);
    shares all_now = scratch_rows(memory, B, both, threads), all_m = scratch_rows(memory, B, n, threads);
    shares all_s = scratch_rows(memory, B, n, threads), all_ask = scratch_rows(memory, B, wide, threads);
    shares all_y = scratch_rows(memory, B, g, threads), all_contexts = scratch_shares(memory, l, threads);
    shares all_pairs = scratch_pairs(memory, B, both, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *now = OWN(all_now), *m = OWN(all_m), *s = OWN(all_s), *ask = OWN(all_ask), *y = OWN(all_y);
        float *pairs = OWN(all_pairs), *context = own_share(all_contexts, me);
        regard_pack_share(W, 1, both, both, g, x->narrow, for_gates, me, num_threads);
        regard_pack_share(W_q, 1, n, n, wide, x->narrow, for_asking, me, num_threads);
        for (long i = 0; i < rows; i++) {
            long b = me + i * num_threads;
            memcpy(now + i * both, h + b * n, (size_t)n * 4);
            memcpy(now + i * both + n, fed + b * l, (size_t)l * 4);
            memcpy(m + i * n, c + b * n, (size_t)n * 4);
        }
#pragma omp barrier
        for (long t = 0; t < x->Ty; t++) {
            regard_step_product(now, rows, for_gates, both, g, x->narrow, 0, y, pairs);
            for (long i = 0; i < rows; i++) {
                long at = (me + i * num_threads) * x->Ty + t;
                memcpy(carried + at * both, now + i * both, (size_t)both * 4);
                lstm_row(1, projected + at * g, y + i * g, n, gates + at * g, m + i * n, s + i * n);
                memcpy(now + i * both, s + i * n, (size_t)n * 4);
                memcpy(states + at * n, s + i * n, (size_t)n * 4);
                memcpy(memories + at * n, m + i * n, (size_t)n * 4);
            }
            regard_step_product(s, rows, for_asking, n, wide, x->narrow, 0, ask, pairs);
            for (long i = 0; i < rows; i++) {
                long b = me + i * num_threads, at = b * x->Ty + t;
                attend_row(x->keys + b * x->Tx * x->a, x->values + b * x->Tx * l, x->there + b * x->Tx,
                           p ? ask + i * wide : s + i * n, x->v, x->scale, x->Tx, x->a, l, alpha + at * x->Tx, context);
                float *fed_now = now + i * both + n, *kept = asked + at * wide;
                memcpy(kept, ask + i * wide, (size_t)p * 4);
                for (long u = 0; u < l; u += LANES) {
                    vec z = vtanh(take(ask + i * wide + p + u, l - u) + take(context + u, l - u));
                    put(kept + p + u, z, l - u);
                    if (dropped) z *= take(dropped + at * l + u, l - u);
                    put(fed_now + u, z, l - u);
                }
                memcpy(readouts + at * l, fed_now, (size_t)l * 4);
            }
        }
    }
    return DONE;
}

/* d_asked (B, Ty, p + l), d_gates (B, Ty, 4n); d_keys (B, Tx, a) and d_v (B, a) come as zeros; d_first (B, n + l)
   and dc (B, n) leave as what the first state takes. */
int regard_input_feeding_back(const source *x, long p, const float *W, const float *W_q, const float *first_c,
                              const float *dropped, const float *states, const float *memories, const float *gates,
                              const float *asked, const float *alpha, const float *d_readouts, const float *d_alpha,
                              float *d_gates, float *d_asked, float *d_keys, float *d_v, float *d_first, float *dc) {
    long B = x->B, n = x->n, a = x->a, l = x->d, g = 4 * n, both = n + l, wide = p + l;
    int threads = x->threads;
    arena *memory = regard_begin();
    float *to_carried = scratch_panels(memory, g, both, x->narrow), *to_state = scratch_panels(memory, wide, n, x->narrow);
    shares all_back = scratch_rows(memory, B, both, threads), all_dh = scratch_rows(memory, B, n, threads);
    shares all_dm = scratch_rows(memory, B, n, threads), all_ask = scratch_rows(memory, B, wide, threads);
    shares all_dy = scratch_rows(memory, B, g, threads), all_energies = scratch_shares(memory, x->Tx, threads);
    shares all_dq = scratch_shares(memory, a, threads);
    shares all_pairs = scratch_pairs(memory, B, g > wide ? g : wide, x->narrow, threads);
    if (memory->failed) return NO_MEMORY;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), num_threads = omp_get_num_threads();
        long rows = rows_of(B, me, num_threads);
        float *back = OWN(all_back), *dh = OWN(all_dh), *dm = OWN(all_dm), *ask = OWN(all_ask), *dy = OWN(all_dy);
        float *pairs = OWN(all_pairs), *energies = own_share(all_energies, me), *dq = own_share(all_dq, me);
        regard_pack_share(W, both, 1, g, both, x->narrow, to_carried, me, num_threads);
        regard_pack_share(W_q, n, 1, wide, n, x->narrow, to_state, me, num_threads);
        memset(back, 0, (size_t)(rows * both) * 4);
        memset(dm, 0, (size_t)(rows * n) * 4);
#pragma omp barrier
        for (long t = x->Ty - 1; t >= 0; t--) {
            for (long i = 0; i < rows; i++) {
                long b = me + i * num_threads, at = b * x->Ty + t;
                float *dz = ask + i * wide + p;
                for (long u = 0; u < l; u += LANES) {
                    vec z = take(asked + at * wide + p + u, l - u);
                    vec d = take(back + i * both + n + u, l - u) + take(d_readouts + at * l + u, l - u);
                    if (dropped) d *= take(dropped + at * l + u, l - u);
                    put(dz + u, d * (1.0f - z * z), l - u);
                }
                attend_row_back(x->keys + b * x->Tx * a, x->values + b * x->Tx * l, x->there + b * x->Tx,
                                p ? asked + at * wide : states + at * n, x->v, x->scale, alpha + at * x->Tx, dz,
                                d_alpha ? d_alpha + at * x->Tx : NULL, x->Tx, a, l, energies, dq,
                                d_keys + b * x->Tx * a, d_v + b * a);
                memcpy(dh + i * n, back + i * both, (size_t)n * 4);
                if (p)
                    memcpy(ask + i * wide, dq, (size_t)p * 4);
                else
                    add_scaled(dh + i * n, 1.0f, dq, n);
                memcpy(d_asked + at * wide, ask + i * wide, (size_t)wide * 4);
            }
            regard_step_product(ask, rows, to_state, wide, n, x->narrow, 1, dh, pairs);
            for (long i = 0; i < rows; i++) {
                long b = me + i * num_threads, at = b * x->Ty + t;
                const float *before = t ? memories + (at - 1) * n : first_c + b * n;
                lstm_row_back(1, dh + i * n, gates + at * g, before, memories + at * n, n, dm + i * n, dy + i * g);
                memcpy(d_gates + at * g, dy + i * g, (size_t)g * 4);
            }
            regard_step_product(dy, rows, to_carried, g, both, x->narrow, 0, back, pairs);
        }
        for (long i = 0; i < rows; i++) {
            long b = me + i * num_threads;
            memcpy(d_first + b * both, back + i * both, (size_t)both * 4);
            memcpy(dc + b * n, dm + i * n, (size_t)n * 4);
        }
    }
    return DONE;
}
