/* A row added to another: the widest registers there are, and the lines of the next row on their way. */
#ifndef DISPATCH_SUMS_H
#define DISPATCH_SUMS_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

#define ADD_ROW(K, T) \
    WIDEST static void add_row_##K(T *restrict to, const T *restrict row, const T *next, int64_t n) \
    { \
        for (int64_t k = 0; k < n * (int64_t)sizeof(T); k += 64) \
            __builtin_prefetch((const char *)next + k); \
        for (int64_t k = 0; k < n; k++) \
            to[k] += row[k]; \
    }
ADD_ROW(f32, float)
ADD_ROW(f64, double)

/* A row of 16-bit floats, converted on the way: as many elements as fill whole vectors, and the rest. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define F16_VECTOR(bits) _mm512_cvtph_ps(bits)
#define BF16_VECTOR(bits) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))
#define ADD_HALVES(K, VECTOR) \
    CONVERTS_16 static int64_t add_##K##_by_16(float *to, const uint16_t *row, int64_t n) \
    { \
        int64_t k = 0; \
        for (; k + 16 <= n; k += 16) \
            _mm512_storeu_ps(to + k, _mm512_add_ps(_mm512_loadu_ps(to + k), \
                                                   VECTOR(_mm256_loadu_si256((const __m256i *)(row + k))))); \
        return k; \
    }
ADD_HALVES(f16, F16_VECTOR)
ADD_HALVES(bf16, BF16_VECTOR)
#define BY_16(K, to, row, n) (__builtin_cpu_supports("avx512f") ? add_##K##_by_16(to, row, n) : 0)
#else
#define BY_16(K, to, row, n) 0
#endif
#define ADD_HALF_ROW(K) \
    static void add_row_##K(float *to, const uint16_t *row, const uint16_t *next, int64_t n) \
    { \
        for (int64_t k = 0; k < n * 2; k += 64) \
            __builtin_prefetch((const char *)next + k); \
        for (int64_t k = BY_16(K, to, row, n); k < n; k++) \
            to[k] += f32_of_##K(row[k]); \
    }
ADD_HALF_ROW(f16)
ADD_HALF_ROW(bf16)
#pragma GCC pop_options
#endif
