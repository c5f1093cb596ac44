/* Columns of windows added to where they were taken from, a row of positions at a time. */
#ifndef DISPATCH_COLUMNS_H
#define DISPATCH_COLUMNS_H
#include "../rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

#define COLUMNS(K, T) \
    /* Places `s` apart. */ \
    WIDEST static void add_columns_##K(T *restrict x, const T *restrict columns, int64_t n, int64_t s) \
    { \
        if (s == 1) \
            for (int64_t i = 0; i < n; i++) \
                x[i] += columns[i]; \
        else \
            for (int64_t i = 0; i < n; i++) \
                x[i * s] += columns[i]; \
    } \
    /* Two taps beside each other of windows that are two apart. */ \
    WIDEST static void add_pairs_##K(T *restrict x, const T *restrict a, const T *restrict b, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            x[2 * i] += a[i]; \
            x[2 * i + 1] += b[i]; \
        } \
    }
COLUMNS(f32, float)
COLUMNS(f64, double)
COLUMNS(i64, int64_t)
#pragma GCC pop_options
#endif
