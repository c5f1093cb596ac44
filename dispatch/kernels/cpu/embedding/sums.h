/* Rows added up: the widest registers there are, and the lines of the next rows on their way. */
#ifndef DISPATCH_SUMS_H
#define DISPATCH_SUMS_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

/* Rows of a table, in their order: a few vectors at a time stay in registers until all rows were added, shorter ones at the end.
   `indices` goes on for `more` after them: those rows are the next to be wanted. */
#define ADD_BLOCKS(T, VECTOR, VECTORS) \
    for (; k + (int64_t)(VECTORS * sizeof(VECTOR) / sizeof(T)) <= columns; k += VECTORS * sizeof(VECTOR) / sizeof(T)) { \
        VECTOR sums[VECTORS]; \
        memcpy(sums, to + k, sizeof(sums)); \
        for (int64_t i = 0; i < n; i++) { \
            const VECTOR *row = (const VECTOR *)(table + indices[i] * columns + k); \
            _Pragma("GCC unroll 8") \
            for (int v = 0; v < VECTORS; v++) \
                sums[v] += row[v]; \
        } \
        memcpy(to + k, sums, sizeof(sums)); \
        for (int64_t i = 0; i < ahead; i++) \
            for (size_t b = 0; b < sizeof(sums); b += 64) \
                __builtin_prefetch((const char *)(table + indices[n + i] * columns + k) + b); \
    }
#define ADD_ROWS(K, T) \
    typedef T sum_##K __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
    typedef T half_sum_##K __attribute__((vector_size(32), aligned(sizeof(T)), may_alias)); \
    typedef T least_sum_##K __attribute__((vector_size(16), aligned(sizeof(T)), may_alias)); \
    WIDEST static void add_rows_##K(T *restrict to, const T *table, const int64_t *indices, int64_t n, int64_t more, \
                                    int64_t columns) \
    { \
        const int64_t ahead = more < n ? more : n; \
        int64_t k = 0; \
        ADD_BLOCKS(T, sum_##K, 8) \
        ADD_BLOCKS(T, sum_##K, 4) \
        ADD_BLOCKS(T, sum_##K, 2) \
        ADD_BLOCKS(T, sum_##K, 1) \
        ADD_BLOCKS(T, half_sum_##K, 1) \
        ADD_BLOCKS(T, least_sum_##K, 1) \
        for (; k < columns; k++) { \
            T sum = to[k]; \
            for (int64_t i = 0; i < n; i++) \
                sum += table[indices[i] * columns + k]; \
            to[k] = sum; \
        } \
    } \
    WIDEST static void divide_row_##K(T *restrict to, T by, int64_t columns) \
    { \
        for (int64_t k = 0; k < columns; k++) \
            to[k] /= by; \
    }
ADD_ROWS(f32, float)
ADD_ROWS(f64, double)

/* The same of 16-bit floats, converted on the way: as many elements as fill whole vectors, and the rest. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ADD_HALF_BLOCKS(K, VECTORS) \
    for (; k + 16 * VECTORS <= columns; k += 16 * VECTORS) { \
        __m512 sums[VECTORS]; \
        memcpy(sums, to + k, sizeof(sums)); \
        for (int64_t i = 0; i < n; i++) { \
            const uint16_t *row = table + indices[i] * columns + k; \
            _Pragma("GCC unroll 8") \
            for (int v = 0; v < VECTORS; v++) \
                sums[v] = _mm512_add_ps(sums[v], FLOATS_OF_##K(row + 16 * v)); \
        } \
        memcpy(to + k, sums, sizeof(sums)); \
        for (int64_t i = 0; i < ahead; i++) \
            for (size_t b = 0; b < 32 * VECTORS; b += 64) \
                __builtin_prefetch((const char *)(table + indices[n + i] * columns + k) + b); \
    }
#define ADD_HALVES(K) \
    CONVERTS_16 static int64_t add_##K##_by_16(float *restrict to, const uint16_t *table, const int64_t *indices, int64_t n, \
                                               int64_t ahead, int64_t columns) \
    { \
        int64_t k = 0; \
        ADD_HALF_BLOCKS(K, 8) \
        ADD_HALF_BLOCKS(K, 4) \
        ADD_HALF_BLOCKS(K, 2) \
        ADD_HALF_BLOCKS(K, 1) \
        return k; \
    }
ADD_HALVES(f16)
ADD_HALVES(bf16)
#define BY_16(K, ...) (__builtin_cpu_supports("avx512f") ? add_##K##_by_16(__VA_ARGS__) : 0)
#else
#define BY_16(K, ...) 0
#endif
#define ADD_HALF_ROWS(K) \
    static void add_rows_##K(float *restrict to, const uint16_t *table, const int64_t *indices, int64_t n, int64_t more, \
                             int64_t columns) \
    { \
        for (int64_t k = BY_16(K, to, table, indices, n, more < n ? more : n, columns); k < columns; k++) { \
            float sum = to[k]; \
            for (int64_t i = 0; i < n; i++) \
                sum += f32_of_##K(table[indices[i] * columns + k]); \
            to[k] = sum; \
        } \
    }
ADD_HALF_ROWS(f16)
ADD_HALF_ROWS(bf16)
#pragma GCC pop_options
#endif
