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

/* The same from points that lie as columns, `stride` apart in each of their numbers: points are lanes, and nothing is added up
   across. Up to a block behind the last point is read. */
enum { TURNED_VECTORS = 4 };
typedef float many_f32 __attribute__((vector_size(64), aligned(4), may_alias));
typedef double many_f64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int32_t signs_f32 __attribute__((vector_size(64)));
typedef int64_t signs_f64 __attribute__((vector_size(64)));
#define MANY_f32(d) ((many_f32)((signs_f32)(d) & INT32_MAX))
#define MANY_f64(d) ((many_f64)((signs_f64)(d) & INT64_MAX))
#define ADDED(K, sum, d) ((sum) + (d))
#define CHOSEN(K, sum, d, better) ((many_##K)(((signs_##K)(d) & (better)) | ((signs_##K)(sum) & ~(better))))
#define LARGER(K, sum, d) CHOSEN(K, sum, d, (d) > (sum))
#define LARGER_OR_NAN(K, sum, d) CHOSEN(K, sum, d, ((d) > (sum)) | ((d) != (d)))
#define TURNED(NAME, K, T, TERMS, COMBINE, FINISH) \
    WIDEST static void turned_##NAME##_##K(T *restrict out, const T *restrict x, const T *restrict y, int64_t points, \
                                           int64_t stride, int64_t columns) \
    { \
        enum { LANES = sizeof(many_##K) / sizeof(T), BLOCK_OF = TURNED_VECTORS * LANES }; \
        for (int64_t i = 0; i < points; i += BLOCK_OF) { \
            many_##K sums[TURNED_VECTORS] = {{0}}; \
            const int64_t n = points - i < BLOCK_OF ? points - i : BLOCK_OF; \
            for (int64_t k = 0; k < columns; k++) { \
                const many_##K own = x[k] - (many_##K){0}; \
                const T *row = y + k * stride + i; \
                _Pragma("GCC unroll 4") \
                for (int v = 0; v < TURNED_VECTORS; v++) { \
                    const many_##K d = own - *(const many_##K *)(row + v * LANES); \
                    const many_##K term = TERMS(d); \
                    sums[v] = COMBINE(K, sums[v], term); \
                } \
            } \
            T made[BLOCK_OF]; \
            memcpy(made, sums, sizeof(made)); \
            for (int l = 0; l < BLOCK_OF; l++) \
                made[l] = FINISH(made[l]); \
            memcpy(out + i, made, (size_t)n * sizeof(T)); \
        } \
    }
TURNED(one, f32, float, MANY_f32, ADDED, SAME)
TURNED(one, f64, double, MANY_f64, ADDED, SAME)
TURNED(two, f32, float, SQUARE, ADDED, sqrtf)
TURNED(two, f64, double, SQUARE, ADDED, sqrt)
TURNED(largest, f32, float, MANY_f32, LARGER, SAME)
TURNED(largest, f64, double, MANY_f64, LARGER, SAME)
TURNED(largest_or_nan, f32, float, MANY_f32, LARGER_OR_NAN, SAME)
TURNED(largest_or_nan, f64, double, MANY_f64, LARGER_OR_NAN, SAME)
typedef void (*turned_f32)(float *, const float *, const float *, int64_t, int64_t, int64_t);
typedef void (*turned_f64)(double *, const double *, const double *, int64_t, int64_t, int64_t);
/* In the order of `Norm`; the largest difference passes over NaN, or does not. */
static const turned_f32 TURNED_f32[2][4] = {
    {NULL, turned_one_f32, turned_two_f32, turned_largest_or_nan_f32}, {NULL, turned_one_f32, turned_two_f32, turned_largest_f32},
};
static const turned_f64 TURNED_f64[2][4] = {
    {NULL, turned_one_f64, turned_two_f64, turned_largest_or_nan_f64}, {NULL, turned_one_f64, turned_two_f64, turned_largest_f64},
};

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
