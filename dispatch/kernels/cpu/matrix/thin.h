/* Products of few rows by columns that lie without gaps (a linear layer of a small batch): BLAS copies the whole right operand
   first, which takes longer than the arithmetic.

   Both operands are read along the inner dimension where they are: four rows by four columns at a time, a vector of sums for each
   pair, added up at the end. THIN_PRODUCT is given how an element's vectors are read and multiplied. */
#ifndef DISPATCH_THIN_H
#define DISPATCH_THIN_H
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#include <immintrin.h>
#define HAS_THIN_PRODUCT 1
#else
#define HAS_THIN_PRODUCT 0
#endif

enum { THIN_ROWS = 16, THIN_DEPTH = 32 };     /* at most so many rows, at least so long ones */

#if HAS_THIN_PRODUCT
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq")

/* The sums of four vectors. */
static inline __attribute__((always_inline)) __m128 sums_of_four(const __m512 *x)
{
    __m256 half[4], both;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        half[i] = _mm256_add_ps(_mm512_castps512_ps256(x[i]), _mm512_extractf32x8_ps(x[i], 1));
    both = _mm256_hadd_ps(_mm256_hadd_ps(half[0], half[1]), _mm256_hadd_ps(half[2], half[3]));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

/* NAME(m, k, n, a, a_row, b, b_column, out, out_row): out (m, n) = a (m, k) times b (k, n), the elements of a's rows and of b's
   columns side by side; steps in elements. KIND_LANES elements, of A and of B, are a KIND_VECTOR. KIND_A and KIND_B read so many,
   KIND_A_SOME and KIND_B_SOME the first n with zeros behind; KIND_MULTIPLY adds to a KIND_SUM, and KIND_TOTALS adds up four. */
#define THIN_PRODUCT(NAME, KIND, A, B, OUT) \
    static inline __attribute__((always_inline)) void NAME##_tile(const int rows, const int columns, int64_t k, const A *a, \
                                                                  intptr_t a_row, const B *b, intptr_t b_column, OUT *out, \
                                                                  intptr_t out_row) \
    { \
        KIND##_SUM sums[4][4]; \
        KIND##_VECTOR x, y[4]; \
        OUT all[4]; \
        int64_t p = 0; \
        _Pragma("GCC unroll 4") \
        for (int i = 0; i < 4; i++) \
            sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = KIND##_ZERO; \
        for (; p + KIND##_LANES <= k; p += KIND##_LANES) { \
            _Pragma("GCC unroll 4") \
            for (int j = 0; j < columns; j++) \
                y[j] = KIND##_B(b + j * b_column + p); \
            _Pragma("GCC unroll 4") \
            for (int i = 0; i < rows; i++) { \
                x = KIND##_A(a + i * a_row + p); \
                _Pragma("GCC unroll 4") \
                for (int j = 0; j < columns; j++) \
                    sums[i][j] = KIND##_MULTIPLY(sums[i][j], x, y[j]); \
            } \
        } \
        if (p < k) { \
            _Pragma("GCC unroll 4") \
            for (int j = 0; j < columns; j++) \
                y[j] = KIND##_B_SOME(b + j * b_column + p, k - p); \
            _Pragma("GCC unroll 4") \
            for (int i = 0; i < rows; i++) { \
                x = KIND##_A_SOME(a + i * a_row + p, k - p); \
                _Pragma("GCC unroll 4") \
                for (int j = 0; j < columns; j++) \
                    sums[i][j] = KIND##_MULTIPLY(sums[i][j], x, y[j]); \
            } \
        } \
        _Pragma("GCC unroll 4") \
        for (int i = 0; i < rows; i++) { \
            KIND##_TOTALS(all, sums[i]); \
            for (int j = 0; j < columns; j++) \
                out[i * out_row + j] = all[j]; \
        } \
    } \
    static inline void NAME(int64_t m, int64_t k, int64_t n, const A *a, intptr_t a_row, const B *b, intptr_t b_column, \
                            OUT *out, intptr_t out_row) \
    { \
        for (int64_t j = 0; j < n; j += 4) { \
            const bool full = j + 4 <= n; \
            int64_t i = 0; \
            for (; i + 4 <= m && full; i += 4) \
                NAME##_tile(4, 4, k, a + i * a_row, a_row, b + j * b_column, b_column, out + i * out_row + j, out_row); \
            for (; i < m && full; i++) \
                NAME##_tile(1, 4, k, a + i * a_row, a_row, b + j * b_column, b_column, out + i * out_row + j, out_row); \
            for (; i < m; i++) \
                for (int64_t c = j; c < n; c++) \
                    NAME##_tile(1, 1, k, a + i * a_row, a_row, b + c * b_column, b_column, out + i * out_row + c, out_row); \
        } \
    }

#define FLOATS_LANES 16
#define FLOATS_SUM __m512
#define FLOATS_VECTOR __m512
#define FLOATS_ZERO _mm512_setzero_ps()
#define FLOATS_A(from) _mm512_loadu_ps(from)
#define FLOATS_A_SOME(from, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), from)
#define FLOATS_B FLOATS_A
#define FLOATS_B_SOME FLOATS_A_SOME
#define FLOATS_MULTIPLY(sums, x, y) _mm512_fmadd_ps(x, y, sums)
#define FLOATS_TOTALS(to, sums) _mm_storeu_ps(to, sums_of_four(sums))
THIN_PRODUCT(thin_floats, FLOATS, float, float, float)
#pragma GCC pop_options

static inline bool is_thin(int64_t m, int64_t k, intptr_t a_column, intptr_t b_row)
{
    return m >= 2 && m <= THIN_ROWS && k >= THIN_DEPTH && a_column == 1 && b_row == 1 && __builtin_cpu_supports("avx512dq");
}
/* The product of floats, if it is a thin one; false: it is not made. */
static inline bool thin_product(int64_t m, int64_t k, int64_t n, const float *a, intptr_t a_row, intptr_t a_column, const float *b,
                                intptr_t b_row, intptr_t b_column, float *out, intptr_t out_row)
{
    if (!is_thin(m, k, a_column, b_row))
        return false;
    thin_floats(m, k, n, a, a_row, b, b_column, out, out_row);
    return true;
}
#else
static inline bool is_thin(int64_t m, int64_t k, intptr_t a_column, intptr_t b_row)
{
    (void)m, (void)k, (void)a_column, (void)b_row;
    return false;
}
static inline bool thin_product(int64_t m, int64_t k, int64_t n, const float *a, intptr_t a_row, intptr_t a_column, const float *b,
                                intptr_t b_row, intptr_t b_column, float *out, intptr_t out_row)
{
    (void)m, (void)k, (void)n, (void)a, (void)a_row, (void)a_column, (void)b, (void)b_row, (void)b_column, (void)out, (void)out_row;
    return false;
}
#endif
#endif
