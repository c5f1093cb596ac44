/* Rows added up: the widest registers there are, and the lines of the next rows on their way. */
#ifndef DISPATCH_SUMS_H
#define DISPATCH_SUMS_H
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

/* Rows of a table, in their order: a few vectors at a time stay in registers until all rows were added. `indices` goes on for
   `more` after them: those rows are the next to be wanted. */
enum { SUM_VECTORS = 8 };
#define ADD_ROWS(K, T) \
    typedef T sum_##K __attribute__((vector_size(64), aligned(sizeof(T)), may_alias)); \
    WIDEST static void add_rows_##K(T *restrict to, const T *table, const int64_t *indices, int64_t n, int64_t more, \
                                    int64_t columns) \
    { \
        enum { LANES = 64 / sizeof(T), AT_ONCE = SUM_VECTORS * LANES }; \
        const int64_t ahead = more < n ? more : n; \
        int64_t k = 0; \
        for (; k + AT_ONCE <= columns; k += AT_ONCE) { \
            sum_##K sums[SUM_VECTORS]; \
            for (int v = 0; v < SUM_VECTORS; v++) \
                sums[v] = *(const sum_##K *)(to + k + v * LANES); \
            for (int64_t i = 0; i < n; i++) { \
                const T *row = table + indices[i] * columns + k; \
                for (int v = 0; v < SUM_VECTORS; v++) \
                    sums[v] += *(const sum_##K *)(row + v * LANES); \
            } \
            for (int v = 0; v < SUM_VECTORS; v++) \
                *(sum_##K *)(to + k + v * LANES) = sums[v]; \
            for (int64_t i = 0; i < ahead; i++) \
                for (int v = 0; v < SUM_VECTORS; v++) \
                    __builtin_prefetch(table + indices[n + i] * columns + k + v * LANES); \
        } \
        for (int64_t i = 0; i < n && k < columns; i++) { \
            const T *row = table + indices[i] * columns; \
            for (int64_t j = k; j < columns; j++) \
                to[j] += row[j]; \
        } \
    }
ADD_ROWS(f32, float)
ADD_ROWS(f64, double)

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
