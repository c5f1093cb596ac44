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
#define LARGEST_OF_WINDOW(K, T, I, PARTS) \
    { \
        vector_##K seen[PARTS]; \
        vector_##I where[PARTS]; \
        _Pragma("GCC unroll 4") \
        for (int p = 0; p < PARTS; p++) \
            seen[p] = (T)(LOWEST_##K) - (vector_##K){0}, where[p] = (vector_##I){0}; \
        for (int64_t d = 0; d < count[0]; d++) \
            for (int64_t h = 0; h < count[1]; h++) \
                for (int64_t w = 0; w < count[2]; w++) { \
                    const int64_t place = d * step[0] + h * step[1] + w * step[2]; \
                    const vector_##I here = (NUMBER_##I)place - (vector_##I){0}; \
                    _Pragma("GCC unroll 4") \
                    for (int p = 0; p < PARTS; p++) { \
                        const vector_##K value = *(const vector_##K *)(x + (at + place) * n + i + p * PART); \
                        const vector_##I better = (vector_##I)((value > seen[p]) | (value != value)); \
                        seen[p] = (vector_##K)(((vector_##I)value & better) | ((vector_##I)seen[p] & ~better)); \
                        where[p] = (here & better) | (where[p] & ~better); \
                    } \
                } \
        for (int p = 0; p < PARTS; p++) { \
            *(vector_##K *)(most + i + p * PART) = seen[p]; \
            NUMBER_##I numbers[PART]; \
            memcpy(numbers, &where[p], sizeof(numbers)); \
            for (int k = 0; k < PART; k++) \
                best[i + p * PART + k] = at + numbers[k]; \
        } \
    }
typedef int32_t NUMBER_i32;
typedef int64_t NUMBER_i64;
enum { GUESSED = 9 };
#define LOWEST_f32 -INFINITY
#define LOWEST_f64 -INFINITY
#define LOWEST_i64 INT64_MIN
#define POOL_ROWS(K, T, I) \
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
    /* Of all channels, as many as vectors hold (which is returned), the largest of a window's places: `count` of each dimension, \
       `step` places apart, from the place `at` on. Places, counted from there, are numbers as wide as elements. */ \
    WIDE static int64_t largest_window_##K(T *most, int64_t *best, const T *x, int64_t n, const int64_t *count, \
                                           const int64_t *step, int64_t at) \
    { \
        enum { PART = sizeof(vector_##K) / sizeof(T) }; \
        int64_t i = 0; \
        for (; i + 4 * PART <= n; i += 4 * PART) \
            LARGEST_OF_WINDOW(K, T, I, 4) \
        for (; i + PART <= n; i += PART) \
            LARGEST_OF_WINDOW(K, T, I, 1) \
        return i; \
    } \
    /* The same of a window in one plane, of `count` places along each dimension from place `at` on. A new largest element is a \
       surprise in a small window, where a branch would be guessed wrong, and rare in a large one. */ \
    EACH void largest_place_##K(T *most, int64_t *best, const T *x, const int64_t *count, const int64_t *step, int64_t at) \
    { \
        const bool guess = count[0] * count[1] * count[2] > GUESSED; \
        T old = (T)(LOWEST_##K); \
        int64_t where = at; \
        for (int64_t d = 0; d < count[0]; d++) \
            for (int64_t h = 0; h < count[1]; h++) { \
                const int64_t line = at + d * step[0] + h * step[1]; \
                for (int64_t w = line; w < line + count[2]; w++) { \
                    const T value = x[w]; \
                    if (guess) { \
                        if (value > old || value != value) \
                            old = value, where = w; \
                        continue; \
                    } \
                    const int64_t better = -(int64_t)((value > old) | (value != value)); \
                    NUMBER_##I bits, old_bits; \
                    memcpy(&bits, &value, sizeof(T)); \
                    memcpy(&old_bits, &old, sizeof(T)); \
                    bits = (NUMBER_##I)((bits & better) | (old_bits & ~better)); \
                    memcpy(&old, &bits, sizeof(T)); \
                    where = (w & better) | (where & ~better); \
                } \
            } \
        *most = old, *best = where; \
    } \
    /* The mean of all places of a window, for each channel: `wide` places lie one after the other, lines and planes of them so \
       many elements apart. Sums stay in registers. */ \
    WIDE static void average_window_##K(void *given, const void *from_, int64_t deep, int64_t plane, int64_t high, \
                                        int64_t line, int64_t wide, int64_t n, int64_t count) \
    { \
        T *restrict to = given; \
        const T *restrict x = from_; \
        const T by = (T)count; \
        enum { PART = sizeof(vector_##K) / sizeof(T) }; \
        int64_t i = 0; \
        for (; i + 4 * PART <= n; i += 4 * PART) { \
            vector_##K a = {0}, b = {0}, c = {0}, d = {0}; \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) { \
                    const T *from = x + p * plane + q * line + i; \
                    for (int64_t k = 0; k < wide; k++, from += n) { \
                        a += *(const vector_##K *)from; \
                        b += *(const vector_##K *)(from + PART); \
                        c += *(const vector_##K *)(from + 2 * PART); \
                        d += *(const vector_##K *)(from + 3 * PART); \
                    } \
                } \
            *(vector_##K *)(to + i) = a / by; \
            *(vector_##K *)(to + i + PART) = b / by; \
            *(vector_##K *)(to + i + 2 * PART) = c / by; \
            *(vector_##K *)(to + i + 3 * PART) = d / by; \
        } \
        for (; i + PART <= n; i += PART) { \
            vector_##K a = {0}; \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) \
                    for (int64_t k = 0; k < wide; k++) \
                        a += *(const vector_##K *)(x + p * plane + q * line + k * n + i); \
            *(vector_##K *)(to + i) = a / by; \
        } \
        for (; i < n; i++) { \
            T sum = 0; \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) \
                    for (int64_t k = 0; k < wide; k++) \
                        sum += x[p * plane + q * line + k * n + i]; \
            to[i] = sum / by; \
        } \
    } \
    /* The largest element of each window of a line without padding, or the last NaN. */ \
    WIDE static void largest_line_##K(T *restrict most, const T *restrict x, int64_t n, int64_t kernel, int64_t step, \
                                      int64_t dilation) \
    { \
        for (int64_t i = 0; i < n; i++) \
            most[i] = x[i * step]; \
        for (int64_t k = 1; k < kernel; k++) \
            for (int64_t i = 0; i < n; i++) { \
                const T value = x[i * step + k * dilation], old = most[i]; \
                most[i] = (value > old) | (value != value) ? value : old; \
            } \
    }
typedef float vector_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double vector_f64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t vector_i64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t vector_i32 __attribute__((vector_size(32), aligned(4), may_alias));
POOL_ROWS(f32, float, i32)
POOL_ROWS(f64, double, i64)
POOL_ROWS(i64, int64_t, i64)

/* The same of 16-bit floats, which are computed as floats. */
#define HALF_WINDOW(K) \
    WIDE static void average_channels_##K(uint16_t *restrict to, const uint16_t *restrict x, int64_t deep, int64_t plane, \
                                          int64_t high, int64_t line, int64_t wide, int64_t n, int64_t i, float by) \
    { \
        for (; i < n; i++) { \
            float sum = 0; \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) \
                    for (int64_t k = 0; k < wide; k++) \
                        sum += f32_of_##K(x[p * plane + q * line + k * n + i]); \
            to[i] = K##_of_f32(sum / by); \
        } \
    } \
    static void average_window_##K(void *to, const void *x, int64_t deep, int64_t plane, int64_t high, int64_t line, int64_t wide, \
                                   int64_t n, int64_t count) \
    { \
        const int64_t done = average_by_16_##K(to, x, deep, plane, high, line, wide, n, (float)count); \
        average_channels_##K(to, x, deep, plane, high, line, wide, n, done, (float)count); \
    }
#ifdef CONVERTS_16
#define WINDOW_BY_16(K) \
    CONVERTS_16 static int64_t average_vectors_##K(char *to, const char *x, int64_t deep, int64_t plane, int64_t high, \
                                                   int64_t line, int64_t wide, int64_t n, float by) \
    { \
        int64_t i = 0; \
        for (; i + 64 <= n; i += 64) { \
            __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a; \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) { \
                    const char *from = x + 2 * (p * plane + q * line + i); \
                    for (int64_t k = 0; k < wide; k++, from += 2 * n) { \
                        a = _mm512_add_ps(a, FLOATS_OF_##K(from)); \
                        b = _mm512_add_ps(b, FLOATS_OF_##K(from + 32)); \
                        c = _mm512_add_ps(c, FLOATS_OF_##K(from + 64)); \
                        d = _mm512_add_ps(d, FLOATS_OF_##K(from + 96)); \
                    } \
                } \
            PUT_FLOATS_##K(_mm512_div_ps(a, _mm512_set1_ps(by)), to + 2 * i); \
            PUT_FLOATS_##K(_mm512_div_ps(b, _mm512_set1_ps(by)), to + 2 * i + 32); \
            PUT_FLOATS_##K(_mm512_div_ps(c, _mm512_set1_ps(by)), to + 2 * i + 64); \
            PUT_FLOATS_##K(_mm512_div_ps(d, _mm512_set1_ps(by)), to + 2 * i + 96); \
        } \
        for (; i + 16 <= n; i += 16) { \
            __m512 a = _mm512_setzero_ps(); \
            for (int64_t p = 0; p < deep; p++) \
                for (int64_t q = 0; q < high; q++) \
                    for (int64_t k = 0; k < wide; k++) \
                        a = _mm512_add_ps(a, FLOATS_OF_##K(x + 2 * (p * plane + q * line + k * n + i))); \
            PUT_FLOATS_##K(_mm512_div_ps(a, _mm512_set1_ps(by)), to + 2 * i); \
        } \
        return i; \
    } \
    static int64_t average_by_16_##K(char *to, const char *x, int64_t deep, int64_t plane, int64_t high, int64_t line, \
                                     int64_t wide, int64_t n, float by) \
    { \
        return __builtin_cpu_supports("avx512f") ? average_vectors_##K(to, x, deep, plane, high, line, wide, n, by) : 0; \
    }
WINDOW_BY_16(f16)
WINDOW_BY_16(bf16)
#else
#define average_by_16_f16(...) 0
#define average_by_16_bf16(...) 0
#endif
HALF_WINDOW(f16)
HALF_WINDOW(bf16)

/* The mean of a window, for each channel, by the dtype that it is stored in. */
typedef void (*average_window)(void *to, const void *x, int64_t deep, int64_t plane, int64_t high, int64_t line, int64_t wide,
                               int64_t n, int64_t count);
static average_window average_window_of(int code)
{
    switch (code) {
        case ST_float16: return average_window_f16;
        case ST_bfloat16: return average_window_bf16;
        case ST_float32: return average_window_f32;
        case ST_float64: return average_window_f64;
        default: return average_window_i64;
    }
}
#pragma GCC pop_options
#endif
