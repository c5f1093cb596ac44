/* Depthwise convolutions of small planes, each laid out once with its padding: then windows of all rows are long runs, with each
   tap at one distance.

   A layout is zeros but for the plane's own elements. Runs go on through the ends of rows: what they make there is left out, or
   masked where it would be added to a sum, for zero times infinity is no zero. */
#ifndef DISPATCH_PLANES_H
#define DISPATCH_PLANES_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "../pixels.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

enum { PLANE_ROOM = 4096, PLANE_SLACK = 64, PLANE_TAPS = 64, TAPS_AT_ONCE = 8 };

/* Elements of a plane as they are laid out: rows and columns of it, how far apart, where the first one is. */
typedef struct { int64_t rows, columns, down, right, first; } plane_layout;

#define PLANES(T, I, NAME) \
    typedef T plane_##NAME __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
    typedef I plane_mask_##NAME __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
    typedef T plane_half_##NAME __attribute__((vector_size(32), aligned(sizeof(T)), may_alias)); \
    INLINE_PLANE void copy_line_##NAME(T *to, const T *from, int64_t n) \
    { \
        enum { WIDTH = 64 / sizeof(T) }; \
        int64_t i; \
        if (n >= WIDTH) { \
            for (i = 0; i + WIDTH <= n; i += WIDTH) \
                *(plane_##NAME *)(to + i) = *(const plane_##NAME *)(from + i); \
            if (i < n) \
                *(plane_##NAME *)(to + n - WIDTH) = *(const plane_##NAME *)(from + n - WIDTH); \
        } else if (n >= WIDTH / 2) { \
            const plane_half_##NAME a = *(const plane_half_##NAME *)from, b = *(const plane_half_##NAME *)(from + n - WIDTH / 2); \
            *(plane_half_##NAME *)to = a; \
            *(plane_half_##NAME *)(to + n - WIDTH / 2) = b; \
        } else \
            for (i = 0; i < n; i++) \
                to[i] = from[i]; \
    } \
    PIXELS_WIDEST static void lay_plane_##NAME(T *to, const T *from, const plane_layout *l) \
    { \
        to += l->first; \
        for (int64_t r = 0; r < l->rows; r++, to += l->down, from += l->columns) \
            if (l->right == 1) \
                copy_line_##NAME(to, from, l->columns); \
            else \
                for (int64_t i = 0; i < l->columns; i++) \
                    to[i * l->right] = from[i]; \
    } \
    /* The same backwards. */ \
    PIXELS_WIDEST static void take_plane_##NAME(T *to, const T *from, const plane_layout *l) \
    { \
        from += l->first; \
        for (int64_t r = 0; r < l->rows; r++, from += l->down, to += l->columns) \
            if (l->right == 1) \
                copy_line_##NAME(to, from, l->columns); \
            else if (l->right == 2) \
                for (int64_t i = 0; i < l->columns; i++) \
                    to[i] = from[2 * i]; \
            else \
                for (int64_t i = 0; i < l->columns; i++) \
                    to[i] = from[i * l->right]; \
    } \
    /* `runs` of n elements, `step` apart: the sums of x at each tap's distance times its weight; n is rounded up to vectors. */ \
    PIXELS_WIDEST static void mix_taps_##NAME(T *to, const T *x, const T *w, const int64_t *at, int64_t taps, int64_t n, \
                                              int64_t runs, int64_t step) \
    { \
        enum { WIDTH = 64 / sizeof(T) }; \
        for (int64_t r = 0; r < runs; r++, to += step, x += step) { \
            int64_t i = 0; \
            for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) { \
                plane_##NAME sums[4] = {{0}, {0}, {0}, {0}}; \
                for (int64_t t = 0; t < taps; t++) \
                    _Pragma("GCC unroll 4") \
                    for (int p = 0; p < 4; p++) \
                        sums[p] += *(const plane_##NAME *)(x + at[t] + i + p * WIDTH) * w[t]; \
                _Pragma("GCC unroll 4") \
                for (int p = 0; p < 4; p++) \
                    *(plane_##NAME *)(to + i + p * WIDTH) = sums[p]; \
            } \
            for (; i < n; i += WIDTH) { \
                plane_##NAME sum = {0}; \
                for (int64_t t = 0; t < taps; t++) \
                    sum += *(const plane_##NAME *)(x + at[t] + i) * w[t]; \
                *(plane_##NAME *)(to + i) = sum; \
            } \
        } \
    } \
    /* sums[t] += g times x at the tap's distance, where the mask says so; n is rounded up to vectors. */ \
    PIXELS_WIDEST static void sum_taps_##NAME(T *sums, const T *g, const T *x, const T *mask, const int64_t *at, int64_t taps, \
                                              int64_t n) \
    { \
        enum { WIDTH = 64 / sizeof(T) }; \
        int64_t t = 0; \
        for (; t + TAPS_AT_ONCE <= taps; t += TAPS_AT_ONCE) { \
            plane_##NAME part[TAPS_AT_ONCE] = {{0}}; \
            for (int64_t i = 0; i < n; i += WIDTH) { \
                const plane_##NAME by = *(const plane_##NAME *)(g + i); \
                const plane_mask_##NAME only = *(const plane_mask_##NAME *)(mask + i); \
                _Pragma("GCC unroll 8") \
                for (int k = 0; k < TAPS_AT_ONCE; k++) \
                    part[k] += by * (plane_##NAME)(*(const plane_mask_##NAME *)(x + at[t + k] + i) & only); \
            } \
            for (int k = 0; k < TAPS_AT_ONCE; k++) \
                for (int p = 0; p < WIDTH; p++) \
                    sums[t + k] += part[k][p]; \
        } \
        for (; t < taps; t++) { \
            plane_##NAME part = {0}; \
            for (int64_t i = 0; i < n; i += WIDTH) \
                part += *(const plane_##NAME *)(g + i) * (plane_##NAME)(*(const plane_mask_##NAME *)(x + at[t] + i) \
                                                                        & *(const plane_mask_##NAME *)(mask + i)); \
            for (int p = 0; p < WIDTH; p++) \
                sums[t] += part[p]; \
        } \
    } \
    static void set_mask_##NAME(T *mask, const plane_layout *l) \
    { \
        const I ones = -1; \
        for (int64_t r = 0; r < l->rows; r++) \
            for (int64_t i = 0; i < l->columns; i++) \
                memcpy(mask + l->first + r * l->down + i * l->right, &ones, sizeof ones); \
    }
#define INLINE_PLANE static inline __attribute__((always_inline))

PLANES(float, int32_t, f32)
PLANES(double, int64_t, f64)
#pragma GCC pop_options
#endif
