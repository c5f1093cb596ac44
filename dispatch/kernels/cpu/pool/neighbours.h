/* Rows of pools: neighbours whose windows lie at equal distances, or all channels of a place. Choices instead of branches, so that
   loops vectorise. */
#ifndef DISPATCH_NEIGHBOURS_H
#define DISPATCH_NEIGHBOURS_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

#define TAKE_LARGER(T, STEP, AT) \
    for (int64_t i = 0; i < n; i++) { \
        const T value = x[i * (STEP)], old = most[i]; \
        const bool better = (value > old) | (value != value); \
        const int64_t place = best[i]; \
        most[i] = better ? value : old; \
        best[i] = better ? (AT) : place; \
    }
#define POOL_ROWS(K, T) \
    /* Places are `step` apart, and so are elements. What is larger, or NaN, counts. */ \
    WIDE static void largest_row_##K(T *restrict most, int64_t *restrict best, const T *restrict x, int64_t n, int64_t step, \
                                     int64_t at) \
    { \
        if (step == 1) \
            TAKE_LARGER(T, 1, at + i) \
        else if (step == 2) \
            TAKE_LARGER(T, 2, at + i * 2) \
        else \
            TAKE_LARGER(T, step, at + i * step) \
    } \
    /* All channels of the place `at`. */ \
    WIDE static void largest_pixel_##K(T *restrict most, int64_t *restrict best, const T *restrict x, int64_t n, int64_t at) \
    { \
        TAKE_LARGER(T, 1, at) \
    } \
    WIDE static void add_pixel_##K(T *restrict to, const T *restrict x, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] += x[i]; \
    } \
    WIDE static void divide_pixel_##K(T *to, const T *x, T by, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = x[i] / by; \
    }
POOL_ROWS(f32, float)
POOL_ROWS(f64, double)
POOL_ROWS(i64, int64_t)
#pragma GCC pop_options
#endif
