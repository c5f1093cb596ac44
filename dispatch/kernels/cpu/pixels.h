/* Rows of floats without gaps, as loops over images use them: all channels of a place, or a line of a plane.

   Each is compiled for AVX2 beside the base line, and the loader chooses; short rows are not worth the call. */
#ifndef DISPATCH_PIXELS_H
#define DISPATCH_PIXELS_H
#include <stdbool.h>
#include <stdint.h>

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#define PIXELS __attribute__((target_clones("arch=x86-64-v3", "default")))
#define PIXELS_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PIXELS
#define PIXELS_WIDEST
#endif

enum { LANES = 16 };

#define PIXEL_ROWS(T, NAME) \
    /* to += weight * x */ \
    PIXELS static void add_scaled_##NAME(T *restrict to, const T *restrict x, T weight, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] += weight * x[i]; \
    } \
    /* to = weight * x */ \
    PIXELS static void scale_##NAME(T *restrict to, const T *restrict x, T weight, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = weight * x[i]; \
    } \
    /* to += weight * every second x */ \
    PIXELS static void add_scaled_halves_##NAME(T *restrict to, const T *restrict x, T weight, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] += weight * x[2 * i]; \
    } \
    /* to += three neighbours of x, each with a weight */ \
    PIXELS static void add_three_##NAME(T *restrict to, const T *restrict x, const T *restrict w, int64_t n) \
    { \
        const T a = w[0], b = w[1], c = w[2]; \
        for (int64_t i = 0; i < n; i++) \
            to[i] += a * x[i] + b * x[i + 1] + c * x[i + 2]; \
    } \
    /* to = three neighbours of three lines, each with a weight; added to what is there if `more` */ \
    PIXELS static void mix_nine_##NAME(T *restrict to, const T *x, const T *y, const T *z, const T *restrict w, int64_t n, \
                                         bool more) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            const T sum = w[0] * x[i] + w[1] * x[i + 1] + w[2] * x[i + 2] + w[3] * y[i] + w[4] * y[i + 1] + w[5] * y[i + 2] \
                + w[6] * z[i] + w[7] * z[i + 1] + w[8] * z[i + 2]; \
            to[i] = more ? to[i] + sum : sum; \
        } \
    } \
    /* lanes += y * x, in turn; `taps` rows of lanes, for x and its neighbours */ \
    PIXELS static void add_lanes_##NAME(T *lanes, const T *restrict x, const T *restrict y, int taps, int64_t n) \
    { \
        enum { WIDTH = 32 / sizeof(T), PARTS = LANES / WIDTH }; \
        typedef T vector __attribute__((vector_size(32), aligned(sizeof(T)), may_alias)); \
        int64_t i = 0; \
        for (int k = 0; k < taps; k++) \
            for (int p = 0; p < PARTS; p++) { \
                vector sum = *(const vector *)(lanes + k * LANES + p * WIDTH); \
                for (i = 0; i + LANES <= n; i += LANES) \
                    sum += *(const vector *)(y + i + p * WIDTH) * *(const vector *)(x + i + k + p * WIDTH); \
                *(vector *)(lanes + k * LANES + p * WIDTH) = sum; \
            } \
        for (; i < n; i++) \
            for (int k = 0; k < taps; k++) \
                lanes[k * LANES + i % LANES] += y[i] * x[i + k]; \
    } \
    /* to += weights * x, element by element */ \
    PIXELS static void add_products_##NAME(T *restrict to, const T *restrict x, const T *restrict weights, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] += weights[i] * x[i]; \
    } \
    /* to = the sum of rows `at` elements from x, times those `by` elements from the weights, element by element; the same for \
       `places` runs of n elements, `step` apart in x. Four of them share the weights that are read. */ \
    PIXELS_WIDEST static void mix_products_##NAME(T *restrict to, const T *restrict x, const int64_t *restrict at, \
                                                  const T *restrict weights, const int64_t *restrict by, int64_t rows, int64_t n, \
                                                  int64_t places, int64_t step) \
    { \
        enum { WIDTH = 64 / sizeof(T) }; \
        typedef T vector __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
        int64_t i = 0, p; \
        for (; i + WIDTH <= n; i += WIDTH) { \
            for (p = 0; p + 4 <= places; p += 4) { \
                vector sums[4] = {{0}, {0}, {0}, {0}}; \
                for (int64_t r = 0; r < rows; r++) { \
                    const vector w = *(const vector *)(weights + by[r] + i); \
                    const T *from = x + p * step + at[r] + i; \
                    _Pragma("GCC unroll 4") \
                    for (int q = 0; q < 4; q++) \
                        sums[q] += w * *(const vector *)(from + q * step); \
                } \
                _Pragma("GCC unroll 4") \
                for (int q = 0; q < 4; q++) \
                    *(vector *)(to + (p + q) * n + i) = sums[q]; \
            } \
            for (; p < places; p++) { \
                vector sum = {0}; \
                for (int64_t r = 0; r < rows; r++) \
                    sum += *(const vector *)(weights + by[r] + i) * *(const vector *)(x + p * step + at[r] + i); \
                *(vector *)(to + p * n + i) = sum; \
            } \
        } \
        for (p = 0; p < places && i < n; p++) \
            for (int64_t k = i; k < n; k++) { \
                T sum = 0; \
                for (int64_t r = 0; r < rows; r++) \
                    sum += weights[by[r] + k] * x[p * step + at[r] + k]; \
                to[p * n + k] = sum; \
            } \
    } \
    /* to += the sum of the products of rows of n elements: those of y without gaps, those of x `step` apart */ \
    PIXELS_WIDEST static void sum_products_##NAME(T *restrict to, const T *restrict y, const T *restrict x, int64_t step, \
                                                  int64_t rows, int64_t n) \
    { \
        enum { WIDTH = 64 / sizeof(T) }; \
        typedef T vector __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
        int64_t i = 0; \
        for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) { \
            vector sums[4] = {{0}, {0}, {0}, {0}}; \
            for (int64_t r = 0; r < rows; r++) \
                _Pragma("GCC unroll 4") \
                for (int p = 0; p < 4; p++) \
                    sums[p] += *(const vector *)(y + r * n + i + p * WIDTH) * *(const vector *)(x + r * step + i + p * WIDTH); \
            _Pragma("GCC unroll 4") \
            for (int p = 0; p < 4; p++) \
                *(vector *)(to + i + p * WIDTH) += sums[p]; \
        } \
        for (; i + WIDTH <= n; i += WIDTH) { \
            vector sum = {0}; \
            for (int64_t r = 0; r < rows; r++) \
                sum += *(const vector *)(y + r * n + i) * *(const vector *)(x + r * step + i); \
            *(vector *)(to + i) += sum; \
        } \
        for (; i < n; i++) { \
            T sum = 0; \
            for (int64_t r = 0; r < rows; r++) \
                sum += y[r * n + i] * x[r * step + i]; \
            to[i] += sum; \
        } \
    } \
    /* to = the sum of four rows, each with a weight */ \
    PIXELS static void mix_four_##NAME(T *restrict to, const T *a, const T *b, const T *c, const T *d, const T *w, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i]; \
    } \
    /* to = the sum of two rows, each with a weight */ \
    PIXELS static void mix_two_##NAME(T *restrict to, const T *a, const T *b, T u, T v, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = u * a[i] + v * b[i]; \
    } \
    /* to = the sum of x's elements that the table names, two for each, with their weights */ \
    PIXELS static void gather_two_##NAME(T *restrict to, const T *restrict x, const int64_t *restrict at, const T *restrict w, \
                                         int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = w[2 * i] * x[at[2 * i]] + w[2 * i + 1] * x[at[2 * i + 1]]; \
    } \
    /* the same with four for each */ \
    PIXELS static void gather_four_##NAME(T *restrict to, const T *restrict x, const int64_t *restrict at, const T *restrict w, \
                                          int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++, at += 4, w += 4) \
            to[i] = w[0] * x[at[0]] + w[1] * x[at[1]] + w[2] * x[at[2]] + w[3] * x[at[3]]; \
    } \
    /* the same with any number for each, of rows of `size` elements one after the other; what has no weight is not looked at */ \
    PIXELS static void gather_many_##NAME(T *restrict to, const T *restrict x, const int64_t *restrict at, const T *restrict w, \
                                          int most, int64_t n, int64_t rows, int64_t size) \
    { \
        int64_t r = 0; \
        for (; r + 4 <= rows; r += 4, to += 4 * n, x += 4 * size) \
            for (int64_t i = 0; i < n; i++) { \
                T a = 0, b = 0, c = 0, d = 0; \
                for (int k = 0; k < most; k++) { \
                    const T by = w[i * most + k], *from = x + at[i * most + k]; \
                    if (by != 0) \
                        a += by * from[0], b += by * from[size], c += by * from[2 * size], d += by * from[3 * size]; \
                } \
                to[i] = a, to[n + i] = b, to[2 * n + i] = c, to[3 * n + i] = d; \
            } \
        for (; r < rows; r++, to += n, x += size) \
            for (int64_t i = 0; i < n; i++) { \
                T total = 0; \
                for (int k = 0; k < most; k++) \
                    total += w[i * most + k] != 0 ? w[i * most + k] * x[at[i * most + k]] : 0; \
                to[i] = total; \
            } \
    }

PIXEL_ROWS(float, f32)
PIXEL_ROWS(double, f64)

#pragma GCC pop_options
#endif
