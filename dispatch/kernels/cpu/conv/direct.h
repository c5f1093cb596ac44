/* Tiles of a convolution of float32, from planes that were padded so that each tap is a shift (AVX-512).

   A tile is DIRECT_ROWS channels out at up to three vectors of neighbouring positions, or a `wide` one: WIDE_ROWS channels out,
   which are the vectors, at some positions of a row. Sums are float32 over the whole depth. */
#ifndef DISPATCH_DIRECT_H
#define DISPATCH_DIRECT_H
#include <stdbool.h>
#include <stdint.h>

enum { DIRECT_ROWS = 8, DIRECT_LANES = 16, DIRECT_WIDTH = 3 * DIRECT_LANES, WIDE_ROWS = 32, WIDE_LEAST = 7, WIDE_MOST = 14 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
static bool has_direct(void)
{
    return __builtin_cpu_supports("avx512f");
}
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#pragma GCC target("avx512f,prefer-vector-width=512")
#include <immintrin.h>

/* A weight of each of DIRECT_ROWS rows, side by side. */
static inline void direct_column(float *to, const float *w, int64_t row)
{
    const __m512i at = _mm512_set_epi64(7 * row, 6 * row, 5 * row, 4 * row, 3 * row, 2 * row, row, 0);
    _mm256_storeu_ps(to, _mm512_i64gather_ps(at, w, 4));
}

/* Sixteen vectors, as rows of a square, become its columns. */
static inline __attribute__((always_inline)) void direct_turn(__m512 rows[16])
{
    __m512 pairs[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        const __m512d a = _mm512_castps_pd(pairs[i / 4 * 4 + i / 2 % 2]), b = _mm512_castps_pd(pairs[i / 4 * 4 + i / 2 % 2 + 2]);
        rows[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        rows[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512 a = _mm512_shuffle_f32x4(rows[i], rows[4 + i], 0x88);
        const __m512 b = _mm512_shuffle_f32x4(rows[8 + i], rows[12 + i], 0x88);
        const __m512 c = _mm512_shuffle_f32x4(rows[i], rows[4 + i], 0xdd);
        const __m512 d = _mm512_shuffle_f32x4(rows[8 + i], rows[12 + i], 0xdd);
        rows[i] = _mm512_shuffle_f32x4(a, b, 0x88);
        rows[4 + i] = _mm512_shuffle_f32x4(c, d, 0x88);
        rows[8 + i] = _mm512_shuffle_f32x4(a, b, 0xdd);
        rows[12 + i] = _mm512_shuffle_f32x4(c, d, 0xdd);
    }
}

/* `count` weights of each of WIDE_ROWS rows, `step` (1 or -1) apart, side by side. */
static void wide_columns(float *to, const float *w, int64_t row, int64_t count, int64_t step)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i each = _mm512_mullo_epi32(_mm512_set1_epi32(row), lanes);
    for (int64_t k = 0; step < 0 && k < count; k++)
        for (int h = 0; h < WIDE_ROWS; h += 16)
            _mm512_storeu_ps(to + k * WIDE_ROWS + h, _mm512_i32gather_ps(each, w + h * row - k, 4));
    for (int64_t k = 0; step > 0 && k < count; k += 16)
        for (int h = 0; h < WIDE_ROWS; h += 16) {
            const __mmask16 here = count - k < 16 ? (1 << (count - k)) - 1 : 0xffff;
            __m512 square[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                square[i] = _mm512_maskz_loadu_ps(here, w + (h + i) * row + k);
            direct_turn(square);
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                if (here >> i & 1)
                    _mm512_storeu_ps(to + (k + i) * WIDE_ROWS + h, square[i]);
        }
}

/* `n` positions, s elements apart, of WIDE_ROWS channels. */
static inline __attribute__((always_inline)) void wide_sums(const int n, const int s, const float *w, const float *x,
                                                             int64_t channels, int64_t plane, const int64_t *shifts,
                                                             int64_t taps, float *y, int64_t channel)
{
    __m512 sums[2][16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        sums[0][i] = sums[1][i] = _mm512_setzero_ps();
    for (; channels > 0; channels--, x += plane)
        for (int64_t t = 0; t < taps; t++, w += WIDE_ROWS) {
            const float *from = x + shifts[t];
            const __m512 a = _mm512_loadu_ps(w), b = _mm512_loadu_ps(w + 16);
#pragma GCC unroll 16
            for (int i = 0; i < n; i++) {
                const __m512 seen = _mm512_set1_ps(from[i * s]);
                sums[0][i] = _mm512_fmadd_ps(a, seen, sums[0][i]);
                sums[1][i] = _mm512_fmadd_ps(b, seen, sums[1][i]);
            }
        }
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        direct_turn(sums[h]);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            _mm512_mask_storeu_ps(y + (16 * h + i) * channel, (1 << n) - 1, sums[h][i]);
    }
}

#define WIDE_CASE(n) \
    case n: \
        if (s == 1) \
            wide_sums(n, 1, w, x, channels, plane, shifts, taps, y, channel); \
        else \
            wide_sums(n, 2, w, x, channels, plane, shifts, taps, y, channel); \
        return;

/* WIDE_LEAST to WIDE_MOST positions of a row, s (1 or 2) elements apart in x, for WIDE_ROWS channels, `channel` apart in y. */
static void wide_tile(int64_t n, int64_t s, const float *w, const float *x, int64_t channels, int64_t plane,
                      const int64_t *shifts, int64_t taps, float *y, int64_t channel)
{
    switch (n) {
    WIDE_CASE(7)
    WIDE_CASE(8)
    WIDE_CASE(9)
    WIDE_CASE(10)
    WIDE_CASE(11)
    WIDE_CASE(12)
    WIDE_CASE(13)
    WIDE_CASE(14)
    }
}
#else
static bool has_direct(void)
{
    return false;
}
static inline void direct_column(float *to, const float *w, int64_t row)
{
    for (int i = 0; i < DIRECT_ROWS; i++)
        to[i] = w[i * row];
}
static void wide_columns(float *to, const float *w, int64_t row, int64_t count, int64_t step)
{
}
static void wide_tile(int64_t n, int64_t s, const float *w, const float *x, int64_t channels, int64_t plane,
                      const int64_t *shifts, int64_t taps, float *y, int64_t channel)
{
}
#endif

typedef float direct_vector __attribute__((vector_size(4 * DIRECT_LANES), aligned(4), may_alias));

static inline __attribute__((always_inline)) void direct_sums(const int vectors, const float *w, const float *x, int64_t channels,
                                                               int64_t plane, const int64_t *shifts, int64_t taps, float *to)
{
    direct_vector sums[DIRECT_ROWS][3];
#pragma GCC unroll 8
    for (int i = 0; i < DIRECT_ROWS; i++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            sums[i][v] = (direct_vector){0};
    for (; channels > 0; channels--, x += plane)
        for (int64_t t = 0; t < taps; t++, w += DIRECT_ROWS) {
            const float *from = x + shifts[t];
            direct_vector seen[3];
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++)
                seen[v] = *(const direct_vector *)(from + v * DIRECT_LANES);
#pragma GCC unroll 8
            for (int i = 0; i < DIRECT_ROWS; i++)
#pragma GCC unroll 3
                for (int v = 0; v < vectors; v++)
                    sums[i][v] += w[i] * seen[v];
        }
#pragma GCC unroll 8
    for (int i = 0; i < DIRECT_ROWS; i++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            *(direct_vector *)(to + i * DIRECT_WIDTH + v * DIRECT_LANES) = sums[i][v];
}

/* to (DIRECT_ROWS, DIRECT_WIDTH): `count` positions at least, of which some vectors are read and written to their ends. `w` has
   DIRECT_ROWS weights for each channel and tap. */
static void direct_tile(const float *w, const float *x, int64_t channels, int64_t plane, const int64_t *shifts, int64_t taps,
                        int64_t count, float *to)
{
    if (count > 2 * DIRECT_LANES)
        direct_sums(3, w, x, channels, plane, shifts, taps, to);
    else if (count > DIRECT_LANES)
        direct_sums(2, w, x, channels, plane, shifts, taps, to);
    else
        direct_sums(1, w, x, channels, plane, shifts, taps, to);
}

/* `channels` by `taps` such columns. */
static void direct_columns(float *to, const float *w, int64_t row, int64_t channels, int64_t channel, int64_t taps, int64_t step)
{
    for (; channels > 0; channels--, w += channel)
        for (int64_t t = 0; t < taps; t++, to += DIRECT_ROWS)
            direct_column(to, w + t * step, row);
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#pragma GCC pop_options
#endif
#endif
