/* Sums of many short rows in one call, each to a state of its own or all to one. What is no whole vector at a row's end is the
   last vector of the row less what was added before. Steps of the rules of `fold.h`, which includes this behind its sums of
   floats; nobody else does. */
#ifndef DISPATCH_FOLD_ROWS_H
#define DISPATCH_FOLD_ROWS_H

/* From TAIL_K + k on: a mask of the last k lanes. */
static const int32_t TAIL_f32[2 * LANES_f32] = {[LANES_f32 ... 2 * LANES_f32 - 1] = -1};
static const int64_t TAIL_f64[2 * LANES_f64] = {[LANES_f64 ... 2 * LANES_f64 - 1] = -1};
#define TAIL_i64 TAIL_f64

#define SUM_ROWS(NAME, K, OF) \
    WIDE static void NAME##_rows_##K(const char *from, intptr_t step, int64_t rows, int64_t n, fold_states *s, int64_t at, \
                                     bool each) \
    { \
        enum { L = LANES_##K }; \
        sum_##K *to = (sum_##K *)s->slot[0] + at, left = 0; \
        vec_sum_##K sums = {0}; \
        for (; rows > 0; rows--, from += step) { \
            const num_##K *x = (const num_##K *)from; \
            vec_##K a = {0}, b = {0}; \
            int64_t i = 0; \
            for (; i + 8 * L <= n; i += 8 * L) { \
                const vec_##K *v = (const vec_##K *)(x + i), p = SUM_OF_EIGHT(K, OF##_V, v); \
                WIDEN_##K(sums, p); \
            } \
            for (; i + 2 * L <= n; i += 2 * L) { \
                const vec_##K *v = (const vec_##K *)(x + i); \
                a += OF##_V(K, v[0]); \
                b += OF##_V(K, v[1]); \
            } \
            if (i + L <= n) { \
                a += OF##_V(K, *(const vec_##K *)(x + i)); \
                i += L; \
            } \
            if (i < n && n >= L) { \
                const mask_##K last = *(const mask_##K *)(TAIL_##K + (n - i)) & *(const mask_##K *)(x + n - L); \
                b += OF##_V(K, (vec_##K)last); \
                i = n; \
            } \
            a += b; \
            WIDEN_##K(sums, a); \
            for (; i < n; i++) \
                left += (sum_##K)OF(K, x[i]); \
            if (each) { \
                *to++ += left + ((sums[0] + sums[1]) + (sums[2] + sums[3])); \
                sums = (vec_sum_##K){0}; \
                left = 0; \
            } \
        } \
        if (!each) \
            *to += left + ((sums[0] + sums[1]) + (sums[2] + sums[3])); \
    }
SUM_ROWS(sum, f32, ITSELF)
SUM_ROWS(sum, f64, ITSELF)
SUM_ROWS(sum, i64, ITSELF)
SUM_ROWS(nansum, f32, NUMBERS)
SUM_ROWS(nansum, f64, NUMBERS)
SUM_ROWS(count, f32, COUNT)
SUM_ROWS(count, f64, COUNT)
SUM_ROWS(count, i64, COUNT)
SUM_ROWS(abs, f32, ABS)
SUM_ROWS(abs, f64, ABS)
SUM_ROWS(square, f32, SQUARE)
SUM_ROWS(square, f64, SQUARE)
#endif
