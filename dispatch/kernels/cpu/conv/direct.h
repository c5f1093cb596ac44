/* Tiles of a convolution of float32, from planes that were padded and split so that each tap is a shift (AVX-512).

   A tile is DIRECT_ROWS channels out at up to three vectors of neighbouring positions. Sums are float32 over the whole depth. */
#ifndef DISPATCH_DIRECT_H
#define DISPATCH_DIRECT_H
#include <stdbool.h>
#include <stdint.h>

enum { DIRECT_ROWS = 8, DIRECT_LANES = 16, DIRECT_WIDTH = 3 * DIRECT_LANES };

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
