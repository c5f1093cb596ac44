/* Products of matrices of bfloat16 in float32, by the instruction that adds two products at once (AVX512_BF16).

   Both operands are copied into panels that lie as the inner loop reads them: pairs along the inner dimension, MR rows of the
   left one and NR columns of the right one beside each other. An inner dimension that is odd, and panels that are not full, get
   zeros. Few rows by columns that lie without gaps are multiplied where they are (`thin.h`). Sums are float32 over the
   whole inner dimension; who calls rounds them. Where the processor has tiles, large products are theirs (`tiles.h`). */
#ifndef DISPATCH_BFLOAT_H
#define DISPATCH_BFLOAT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "thin.h"

#define HAS_BFLOAT_PRODUCT HAS_THIN_PRODUCT

typedef struct {
    const uint16_t *data;
    intptr_t row, column;            /* steps in elements */
} bfloat_matrix;

/* Gets blocks of sums while they are in a cache: m rows from i on, `row` apart, and n columns from j on. */
typedef void (*bfloat_taker)(void *context, float *sums, intptr_t row, int64_t i, int64_t m, int64_t j, int64_t n);

#if HAS_BFLOAT_PRODUCT
enum { MR = 12, NR = 32, DEPTH = 512, ROWS_AT_ONCE = 8 * MR, COLUMNS_AT_ONCE = 16 * NR };

#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")

/* Four pairs of four rows, `across` elements apart, as four rows of pairs, `width` apart. */
static inline __attribute__((always_inline)) void turn_pairs(const uint16_t *from, intptr_t across, uint32_t *to, const int width)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)from), b = _mm_loadu_si128((const __m128i *)(from + across));
    const __m128i c = _mm_loadu_si128((const __m128i *)(from + 2 * across));
    const __m128i d = _mm_loadu_si128((const __m128i *)(from + 3 * across));
    const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    const __m128i more_ab = _mm_unpackhi_epi32(a, b), more_cd = _mm_unpackhi_epi32(c, d);
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + width), _mm_unpackhi_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + 2 * width), _mm_unpacklo_epi64(more_ab, more_cd));
    _mm_storeu_si128((__m128i *)(to + 3 * width), _mm_unpackhi_epi64(more_ab, more_cd));
}

/* A panel of fewer columns than NR, which lie side by side, with zeros behind them. */
static __attribute__((noinline)) void pack_some_columns(const uint16_t *from, intptr_t along, int64_t n, int64_t depth,
                                                        uint32_t *to)
{
    const __mmask32 some = (1u << n) - 1;
    for (int64_t p = 0; p < depth; p += 2, from += 2 * along, to += NR) {
        const __m512i low = _mm512_maskz_loadu_epi16(some, from);
        const __m512i high = p + 1 < depth ? _mm512_maskz_loadu_epi16(some, from + along) : _mm512_setzero_si512();
        const __m512i first = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(low));
        const __m512i second = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(high));
        const __m512i third = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(low, 1));
        const __m512i fourth = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(high, 1));
        _mm512_storeu_si512(to, _mm512_or_si512(first, _mm512_slli_epi32(second, 16)));
        _mm512_storeu_si512(to + 16, _mm512_or_si512(third, _mm512_slli_epi32(fourth, 16)));
    }
}

/* The same of columns that lie one behind the other, four by four pairs; how many pairs of each were. */
static __attribute__((noinline)) int64_t turn_some_columns(const uint16_t *from, intptr_t across, int64_t n, int64_t depth,
                                                           uint32_t *to)
{
    int64_t done = 0;
    for (; done + 4 <= depth / 2; done += 4, to += 4 * NR) {
        int64_t j = 0;
        for (; j + 4 <= n; j += 4)
            turn_pairs(from + j * across + 2 * done, across, to + j, NR);
        for (; j < n; j++)
            for (int q = 0; q < 4; q++)
                memcpy(to + q * NR + j, from + j * across + 2 * (done + q), 4);
    }
    return done;
}

/* Panels of `width` rows (or columns), `across` elements apart: for each pair along the inner dimension, all of them. */
static inline __attribute__((always_inline)) void pack_pairs(const uint16_t *x, intptr_t across, intptr_t along, int64_t n,
                                                             int64_t depth, const int width, uint32_t *to)
{
    const int64_t pairs = (depth + 1) / 2;
    for (int64_t start = 0; start < n; start += width, to += pairs * width) {
        const int64_t used = n - start < width ? n - start : width;
        const uint16_t *from = x + start * across;
        if (across == 1 && width == NR && used < NR) {
            pack_some_columns(from, along, used, depth, to);
            continue;
        }
        if (used < width || depth % 2)
            memset(to, 0, (size_t)(pairs * width) * 4);
        if (across == 1 && width == NR && used == NR) {      /* two rows of a right operand, element by element */
            __m512i low, high, i = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                                    5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
            for (int64_t p = 0; p < pairs; p++, from += 2 * along) {
                low = _mm512_loadu_si512(from);
                high = 2 * p + 1 < depth ? _mm512_loadu_si512(from + along) : _mm512_setzero_si512();
                _mm512_storeu_si512(to + p * NR, _mm512_permutex2var_epi16(low, i, high));
                _mm512_storeu_si512(to + p * NR + 16,
                                    _mm512_permutex2var_epi16(low, _mm512_add_epi16(i, _mm512_set1_epi16(16)), high));
            }
            continue;
        }
        int64_t done = along == 1 && width == NR && used < NR ? turn_some_columns(from, across, used, depth, to) : 0;
        if (along == 1 && used == width)                     /* four pairs of four rows at a time */
            for (; done + 4 <= depth / 2; done += 4)
                for (int j = 0; j < width; j += 4)
                    turn_pairs(from + j * across + 2 * done, across, to + done * width + j, width);
        for (int64_t p = done; p < depth / 2; p++)
            for (int64_t j = 0; j < used; j++) {
                const uint16_t *pair = from + j * across + 2 * p * along;
                uint32_t both;
                if (along == 1)
                    memcpy(&both, pair, 4);
                else
                    both = pair[0] | (uint32_t)pair[along] << 16;
                to[p * width + j] = both;
            }
        for (int64_t j = 0; depth % 2 && j < used; j++)
            to[(pairs - 1) * width + j] = from[j * across + (depth - 1) * along];
    }
}

#include "tiles.h"

/* One tile of sums: `rows` of MR rows by two vectors, or by one. */
static inline __attribute__((always_inline)) void tile(const uint32_t *a, const uint32_t *b, int64_t pairs, __m512 sums[MR][2],
                                                       const int rows, const bool both)
{
    for (int64_t p = 0; p < pairs; p++, a += MR, b += NR) {
        const __m512bh left = (__m512bh)_mm512_loadu_si512(b);
        const __m512bh right = both ? (__m512bh)_mm512_loadu_si512(b + 16) : left;
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            const __m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i]);
            sums[i][0] = _mm512_dpbf16_ps(sums[i][0], x, left);
            if (both)
                sums[i][1] = _mm512_dpbf16_ps(sums[i][1], x, right);
        }
    }
}

static inline __attribute__((always_inline)) void add_some(const uint32_t *a, const uint32_t *b, int64_t pairs, float *out,
                                                           intptr_t row, int64_t m, int64_t n, bool first, const int rows,
                                                           const bool both)
{
    __m512 sums[MR][2];
    const __mmask16 left = n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1);
    const __mmask16 right = n >= 32 ? 0xffff : n > 16 ? (__mmask16)((1u << (n - 16)) - 1) : 0;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        sums[i][0] = sums[i][1] = _mm512_setzero_ps();
    tile(a, b, pairs, sums, rows, both);
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        if (i < m) {
            float *to = out + i * row;
            if (!first) {
                sums[i][0] = _mm512_add_ps(sums[i][0], _mm512_maskz_loadu_ps(left, to));
                sums[i][1] = _mm512_add_ps(sums[i][1], _mm512_maskz_loadu_ps(right, to + 16));
            }
            _mm512_mask_storeu_ps(to, left, sums[i][0]);
            _mm512_mask_storeu_ps(to + 16, right, sums[i][1]);
        }
}

/* A tile at the lower or right edge computes no more rows and vectors than it has. */
static void add_tile(const uint32_t *a, const uint32_t *b, int64_t pairs, float *out, intptr_t row, int64_t m, int64_t n,
                     bool first)
{
    if (m > 8 && n > 16)
        add_some(a, b, pairs, out, row, m, n, first, MR, true);
    else if (m > 8)
        add_some(a, b, pairs, out, row, m, n, first, MR, false);
    else if (m > 4)
        add_some(a, b, pairs, out, row, m, n, first, 8, true);
    else
        add_some(a, b, pairs, out, row, m, n, first, 4, true);
}

#define BFLOATS_LANES 32
#define BFLOATS_SUM __m512
#define BFLOATS_VECTOR __m512bh
#define BFLOATS_ZERO _mm512_setzero_ps()
#define BFLOATS_A(from) (__m512bh)_mm512_loadu_si512(from)
#define BFLOATS_A_SOME(from, n) (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((1u << (n)) - 1), from)
#define BFLOATS_B BFLOATS_A
#define BFLOATS_B_SOME BFLOATS_A_SOME
#define BFLOATS_MULTIPLY(sums, x, y) _mm512_dpbf16_ps(sums, x, y)
#define BFLOATS_TOTALS(to, sums) _mm_storeu_ps(to, sums_of_four(sums))
THIN_PRODUCT(thin_bfloats, BFLOATS, uint16_t, uint16_t, float)

/* Whether so many multiplications pay for the copies. */
static bool has_bfloat_product(int64_t work)
{
    return work >= 1 << 15 && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

/* Whether a product's blocks can be handed over: the inner dimension is walked at once. */
static bool has_bfloat_blocks(int64_t m, int64_t k) { return m > THIN_ROWS && k <= 2 * DEPTH; }

/* out (m, n), rows `row` apart, = a (m, k) times b (k, n); or, where that can be, `take` gets it in blocks, and `out` is not read.
   False: there was no memory for the panels. */
static bool bfloat_product(int64_t m, int64_t k, int64_t n, bfloat_matrix a, bfloat_matrix b, float *out, intptr_t row,
                           bfloat_taker take, void *context)
{
    const int64_t depth_most = take ? 2 * DEPTH : DEPTH, depth = k < depth_most ? k : depth_most, pairs_most = (depth + 1) / 2;
    const int64_t at_once = depth > DEPTH ? COLUMNS_AT_ONCE / 2 : COLUMNS_AT_ONCE;
    const int64_t columns = n < at_once ? (n + NR - 1) / NR * NR : at_once;
    uint32_t *panels, *of_a;
    if (has_tiles())
        return tile_product(m, k, n, a, b, out, row, take, context);
    if (!take && m <= THIN_ROWS && a.column == 1 && b.row == 1) {
        thin_bfloats(m, k, n, a.data, a.row, b.data, b.column, out, row);
        return true;
    }
    panels = aligned_alloc(64, (size_t)((pairs_most * (columns + ROWS_AT_ONCE) + (take ? ROWS_AT_ONCE * columns : 0)) * 4 + 63)
                               / 64 * 64);
    if (!panels)
        return false;
    of_a = panels + pairs_most * columns;
    for (int64_t j = 0; j < n; j += columns) {
        const int64_t width = n - j < columns ? n - j : columns;
        for (int64_t p = 0; p < k; p += depth) {
            const int64_t deep = k - p < depth ? k - p : depth, pairs = (deep + 1) / 2;
            pack_pairs(b.data + p * b.row + j * b.column, b.column, b.row, width, deep, NR, panels);
            for (int64_t i = 0; i < m; i += ROWS_AT_ONCE) {
                const int64_t height = m - i < ROWS_AT_ONCE ? m - i : ROWS_AT_ONCE;
                float *to = take ? (float *)(of_a + pairs_most * ROWS_AT_ONCE) : out + i * row + j;
                const intptr_t down = take ? columns : row;
                pack_pairs(a.data + i * a.row + p * a.column, a.row, a.column, height, deep, MR, of_a);
                for (int64_t y = 0; y < width; y += NR)
                    for (int64_t x = 0; x < height; x += MR)
                        add_tile(of_a + x * pairs, panels + y * pairs, pairs, to + x * down + y, down, height - x, width - y,
                                 p == 0);
                if (take)
                    take(context, to, down, i, height, j, width);
            }
        }
    }
    free(panels);
    return true;
}
#pragma GCC pop_options
#else
static bool has_bfloat_product(int64_t work) { return false; }
static bool has_bfloat_blocks(int64_t m, int64_t k) { return false; }
static bool bfloat_product(int64_t m, int64_t k, int64_t n, bfloat_matrix a, bfloat_matrix b, float *out, intptr_t row,
                           bfloat_taker take, void *context)
{
    return false;
}
#endif
#endif
