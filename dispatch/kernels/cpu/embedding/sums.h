/* A row added to another: the widest registers there are, and the lines of the next row on their way. */
#ifndef DISPATCH_SUMS_H
#define DISPATCH_SUMS_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

#define ADD_ROW(K, T) \
    WIDE static void add_row_##K(T *restrict to, const T *restrict row, const T *next, int64_t n) \
    { \
        for (int64_t k = 0; k < n * (int64_t)sizeof(T); k += 64) \
            __builtin_prefetch((const char *)next + k); \
        for (int64_t k = 0; k < n; k++) \
            to[k] += row[k]; \
    }
ADD_ROW(f32, float)
ADD_ROW(f64, double)
#pragma GCC pop_options
#endif
