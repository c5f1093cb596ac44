/* Distances of one point from others that lie one after the other: sums of terms in lanes, so that they vectorise. */
#ifndef DISPATCH_LINES_H
#define DISPATCH_LINES_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

typedef float lanes_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double lanes_f64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t bits_f32 __attribute__((vector_size(32)));
typedef int64_t bits_f64 __attribute__((vector_size(32)));

#define SQUARE(d) ((d) * (d))
/* Without the sign, of lanes and of numbers. */
#define SIZES_f32(d) ((lanes_f32)((bits_f32)(d) & INT32_MAX))
#define SIZES_f64(d) ((lanes_f64)((bits_f64)(d) & INT64_MAX))
#define DISTANCES(NAME, K, T, TERMS, TERM, FINISH) \
    WIDE static void distances_##NAME##_##K(T *restrict out, const T *restrict x, const T *restrict y, int64_t points, \
                                            int64_t columns) \
    { \
        enum { LANES = sizeof(lanes_##K) / sizeof(T) }; \
        for (int64_t i = 0; i < points; i++, y += columns) { \
            lanes_##K a = {0}, b = {0}, d; \
            T sum = 0; \
            int64_t k = 0; \
            for (; k + 2 * LANES <= columns; k += 2 * LANES) { \
                d = *(const lanes_##K *)(x + k) - *(const lanes_##K *)(y + k); \
                a += TERMS(d); \
                d = *(const lanes_##K *)(x + k + LANES) - *(const lanes_##K *)(y + k + LANES); \
                b += TERMS(d); \
            } \
            for (; k < columns; k++) \
                sum += TERM(x[k] - y[k]); \
            a += b; \
            for (int l = 0; l < LANES / 2; l++) \
                sum += a[l] + a[l + LANES / 2]; \
            out[i] = FINISH(sum); \
        } \
    }
DISTANCES(one, f32, float, SIZES_f32, fabsf, SAME)
DISTANCES(one, f64, double, SIZES_f64, fabs, SAME)
DISTANCES(two, f32, float, SQUARE, SQUARE, sqrtf)
DISTANCES(two, f64, double, SQUARE, SQUARE, sqrt)

/* to += by * (x - y): the gradient of a distance by one of its points; and by times the signs of the differences. */
#define DIFFERENCES(K, T) \
    WIDE static void add_differences_##K(T *restrict to, const T *restrict x, const T *restrict y, T by, int64_t n) \
    { \
        for (int64_t k = 0; k < n; k++) \
            to[k] += by * (x[k] - y[k]); \
    } \
    WIDE static void add_signs_##K(T *restrict to, const T *restrict x, const T *restrict y, T by, int64_t n) \
    { \
        for (int64_t k = 0; k < n; k++) \
            to[k] += x[k] > y[k] ? by : x[k] < y[k] ? -by : (T)0; \
    }
DIFFERENCES(f32, float)
DIFFERENCES(f64, double)
#pragma GCC pop_options
#endif
