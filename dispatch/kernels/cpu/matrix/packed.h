/* Products by weights of 8 and 4 bits, which become floats on their way into the sums; and sums of products of bytes.

   Without the instructions for it the caller converts and calls BLAS: `has_byte_products` says so. Weights of 4 bits come in blocks
   of PACKED_ROWS rows: for each column 32 bytes, rows 0-31 in the low halves, rows 32-63 in the high ones. */
#ifndef DISPATCH_PACKED_H
#define DISPATCH_PACKED_H
#include "thin.h"

enum { PACKED_ROWS = 64 };

#if HAS_THIN_PRODUCT
static bool has_byte_products(void)
{
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}

#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

/* floats times bytes */
#define MIXED_LANES 16
#define MIXED_SUM __m512
#define MIXED_VECTOR __m512
#define MIXED_ZERO _mm512_setzero_ps()
#define MIXED_A FLOATS_A
#define MIXED_A_SOME FLOATS_A_SOME
#define MIXED_FLOATS(x) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(x))
#define MIXED_B(from) MIXED_FLOATS(_mm_loadu_si128((const __m128i *)(from)))
#define MIXED_B_SOME(from, n) MIXED_FLOATS(_mm_maskz_loadu_epi8((__mmask16)((1u << (n)) - 1), from))
#define MIXED_MULTIPLY FLOATS_MULTIPLY
#define MIXED_TOTALS FLOATS_TOTALS
THIN_PRODUCT(multiply_mixed, MIXED, float, int8_t, float)

/* bytes times bytes, those on the left made positive by adding 128 where they are signed */
static inline __attribute__((always_inline)) void totals_of_four(int32_t *to, const __m512i *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        to[i] = _mm512_reduce_add_epi32(sums[i]);
}
#define BYTES_LANES 64
#define BYTES_SUM __m512i
#define BYTES_VECTOR __m512i
#define BYTES_ZERO _mm512_setzero_si512()
#define BYTES_A(from) _mm512_loadu_si512(from)
#define BYTES_A_SOME(from, n) _mm512_maskz_loadu_epi8((1ull << (n)) - 1, from)
#define BYTES_B BYTES_A
#define BYTES_B_SOME BYTES_A_SOME
#define BYTES_MULTIPLY(sums, x, y) _mm512_dpbusd_epi32(sums, x, y)
#define BYTES_TOTALS totals_of_four
THIN_PRODUCT(multiply_bytes, BYTES, uint8_t, int8_t, int32_t)

/* 128 times the sum of each column, which signed bytes have too much of. */
static void take_columns(int64_t m, int64_t k, int64_t n, const int8_t *b, intptr_t b_column, int32_t *out, intptr_t out_row)
{
    for (int64_t j = 0; j < n; j++) {
        int32_t sum = 0;
        for (int64_t p = 0; p < k; p++)
            sum += b[j * b_column + p];
        for (int64_t i = 0; i < m; i++)
            out[i * out_row + j] -= 128 * sum;
    }
}

/* Up to four rows of a times a block of weights of 4 bits: k columns, in groups of `group` with a scale and a zero for each row,
   PACKED_ROWS scales before as many zeros. */
static inline __attribute__((always_inline)) void block_tile(const int rows, int64_t k, int64_t group, const float *a,
                                                             intptr_t a_row, const uint8_t *b, const float *scales, float *out,
                                                             intptr_t out_row)
{
    __m512 sums[4][4], scale[4], zero[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = _mm512_setzero_ps();
    for (int64_t start = 0; start < k; start += group, scales += 2 * PACKED_ROWS) {
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) {
            scale[v] = _mm512_loadu_ps(scales + 16 * v);
            zero[v] = _mm512_fnmadd_ps(scale[v], _mm512_set1_ps(8), _mm512_loadu_ps(scales + PACKED_ROWS + 16 * v));
        }
        for (int64_t p = start; p < start + group; p++) {
            const __m256i both = _mm256_loadu_si256((const __m256i *)(b + p * 32)), ones = _mm256_set1_epi8(15);
            const __m256i low = _mm256_and_si256(both, ones), high = _mm256_and_si256(_mm256_srli_epi16(both, 4), ones);
            const __m128i part[4] = {_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1),
                                     _mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)};
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++) {
                const __m512 w = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(part[v])), scale[v], zero[v]);
#pragma GCC unroll 4
                for (int i = 0; i < rows; i++)
                    sums[i][v] = _mm512_fmadd_ps(_mm512_set1_ps(a[i * a_row + p]), w, sums[i][v]);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++)
            _mm512_storeu_ps(out + i * out_row + 16 * v, sums[i][v]);
}

static void multiply_block(int64_t m, int64_t k, int64_t group, const float *a, const uint8_t *b, const float *scales, float *out,
                           intptr_t out_row)
{
    int64_t i = 0;
    for (; i + 4 <= m; i += 4)
        block_tile(4, k, group, a + i * k, k, b, scales, out + i * out_row, out_row);
    for (; i < m; i++)
        block_tile(1, k, group, a + i * k, k, b, scales, out + i * out_row, out_row);
}
#pragma GCC pop_options
#else
static bool has_byte_products(void) { return false; }
#define multiply_mixed(m, k, n, a, a_row, b, b_column, out, out_row) ((void)0)
#define multiply_bytes(m, k, n, a, a_row, b, b_column, out, out_row) ((void)0)
#define take_columns(m, k, n, b, b_column, out, out_row) ((void)0)
#define multiply_block(m, k, group, a, b, scales, out, out_row) ((void)0)
#endif
#endif
