/* Sampling on a grid in float or double, a block of places at a time: their positions, the corners around them, the channels.

   Corner k of place i stands at [k * CORNER_BLOCK + i]: its element in a plane, -1 outside, and its weight. Loops over places
   vectorise, with the processor's own floor and rint. Positions that are rounded after every step (16 bits) are in `grid.pyx`. */
#ifndef DISPATCH_CORNERS_H
#define DISPATCH_CORNERS_H
#include "rows.h"

enum { CORNER_BLOCK = 256, CORNERS_MOST = 8, CUBIC_BLOCK = 64 };

typedef struct {
    int dims;
    bool nearest, border, reflection, align;
    int64_t size[3];                 /* along x, y, z */
} grid_space;

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#include <immintrin.h>
#define HAS_GATHERS __builtin_cpu_supports("avx512f")
#pragma GCC push_options
#pragma GCC target("avx512f")
/* Sixteen elements of a plane, 0 where there is none; `n`: how many of them are asked for. */
static inline __attribute__((always_inline)) __m512 gathered(const float *x, const int64_t *at, int64_t n)
{
    const __m512i low = _mm512_maskz_loadu_epi64((__mmask8)((1u << (n < 8 ? n : 8)) - 1), at);
    const __m512i high = n > 8 ? _mm512_maskz_loadu_epi64((__mmask8)((1u << (n - 8)) - 1), at + 8) : _mm512_setzero_si512();
    const __mmask8 here = (__mmask8)(_mm512_cmpge_epi64_mask(low, _mm512_setzero_si512()) & ((1u << (n < 8 ? n : 8)) - 1));
    const __mmask8 there = (__mmask8)(_mm512_cmpge_epi64_mask(high, _mm512_setzero_si512()) & (n > 8 ? (1u << (n - 8)) - 1 : 0));
    const __m256 first = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), here, low, x, 4);
    const __m256 second = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), there, high, x, 4);
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(first)), _mm256_castps_pd(second), 1));
}

static inline __attribute__((always_inline)) __m512 some(const float *x, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
}

/* As the dtype holds them: of 16 bits, or as they are. */
static inline __attribute__((always_inline)) __m512 rounded_to(const int code, __m512 x)
{
    uint16_t halves[16];
    if (code == ST_float16)
        return _mm512_cvtph_ps(_mm512_cvtps_ph(x, 0));
    if (code != ST_bfloat16)
        return x;
    PUT_FLOATS_bf16(x, halves);
    return FLOATS_OF_bf16(halves);
}
static inline __attribute__((always_inline)) void gather_mix_of(const int code, int corners, int64_t n, const int64_t *at,
                                                                const float *weight, int64_t step, float *out, const float *x)
{
    for (int64_t i = 0; i < n; i += 16) {
        const int64_t left = n - i < 16 ? n - i : 16;
        __m512 sum = _mm512_setzero_ps();
        for (int k = 0; k < corners; k++) {
            const __m512 part = _mm512_mul_ps(gathered(x, at + k * step + i, left), some(weight + k * step + i, left));
            sum = rounded_to(code, _mm512_add_ps(sum, rounded_to(code, part)));
        }
        _mm512_mask_storeu_ps(out + i, (__mmask16)((1u << left) - 1), sum);
    }
}
/* `corners` elements of each of n places, with their weights, `step` behind each other; rounded to `code` after every step. */
static void gather_mix(int code, int corners, int64_t n, const int64_t *at, const float *weight, int64_t step, float *out,
                       const float *x)
{
    if (code == ST_float16)
        gather_mix_of(ST_float16, corners, n, at, weight, step, out, x);
    else if (code == ST_bfloat16)
        gather_mix_of(ST_bfloat16, corners, n, at, weight, step, out, x);
    else
        gather_mix_of(ST_float32, corners, n, at, weight, step, out, x);
}

static void gather_cubic(int64_t n, const int64_t *at, const float *wx, const float *wy, float *out, const float *x)
{
    for (int64_t i = 0; i < n; i += 16) {
        const int64_t left = n - i < 16 ? n - i : 16;
        __m512 sum = _mm512_setzero_ps();
        for (int r = 0; r < 4; r++) {
            __m512 line = _mm512_setzero_ps();
            for (int k = 0; k < 4; k++)
                line = _mm512_add_ps(line, _mm512_mul_ps(gathered(x, at + (4 * r + k) * CUBIC_BLOCK + i, left),
                                                         some(wx + k * CUBIC_BLOCK + i, left)));
            sum = _mm512_add_ps(sum, _mm512_mul_ps(line, some(wy + r * CUBIC_BLOCK + i, left)));
        }
        _mm512_mask_storeu_ps(out + i, (__mmask16)((1u << left) - 1), sum);
    }
}
#pragma GCC pop_options
#else
#define HAS_GATHERS false
static void gather_mix(int code, int corners, int64_t n, const int64_t *at, const float *weight, int64_t step, float *out,
                       const float *x)
{
}
static void gather_cubic(int64_t n, const int64_t *at, const float *wx, const float *wy, float *out, const float *x)
{
}
#endif

#define CORNERS(NAME, T, FLOOR, RINT, TRUNC, ABS, FMOD) \
    /* Of n places along dimension d, from -1..1 to elements. */ \
    WIDE static void positions_##NAME(const grid_space *s, int d, int64_t n, const T *grid, T *to) \
    { \
        const T size = (T)s->size[d], last = size - 1, slope = (s->align ? last : size) / 2; \
        const T low = s->align ? (T)0 : (T)-0.5, span = s->align ? last : size, lost = s->dims == 3 ? last : (T)0; \
        const int step = s->dims; \
        if (s->dims == 2) \
            for (int64_t i = 0; i < n; i++) \
                to[i] = (grid[i * step + d] + 1) * slope + low; \
        else if (s->align) \
            for (int64_t i = 0; i < n; i++) \
                to[i] = (grid[i * step + d] + 1) / 2 * last; \
        else \
            for (int64_t i = 0; i < n; i++) \
                to[i] = ((grid[i * step + d] + 1) * size - 1) / 2; \
        if (s->reflection && s->dims == 3)       /* as PyTorch's loops over volumes, far outside too */ \
            for (int64_t i = 0; i < n; i++) \
                to[i] = FMOD(ABS(to[i] - low), 2 * span); \
        else if (s->reflection) \
            for (int64_t i = 0; i < n; i++) { \
                const T distance = ABS(to[i] - low); \
                to[i] = distance - TRUNC(distance / (2 * span)) * (2 * span); \
            } \
        if (s->reflection) \
            for (int64_t i = 0; i < n; i++) \
                to[i] = span == 0 ? (T)0 : (to[i] > span ? 2 * span - to[i] : to[i]) + low; \
        if (s->reflection || s->border) \
            for (int64_t i = 0; i < n; i++) { \
                const T x = to[i] < 0 ? (T)0 : to[i] > last ? last : to[i]; \
                to[i] = x != x ? lost : x; \
            } \
    } \
    /* Elements and weights of n places' corners, of which there are 1, 4 or 8; whether all are inside. */ \
    WIDE static bool corners_##NAME(const grid_space *s, int64_t n, const T *grid, int64_t *at, T *weight) \
    { \
        T low[3][CORNER_BLOCK], far[3][CORNER_BLOCK]; \
        int64_t outside = 0; \
        for (int d = 0; d < s->dims; d++) { \
            positions_##NAME(s, d, n, grid, low[d]); \
            if (s->nearest) \
                for (int64_t i = 0; i < n; i++) \
                    low[d][i] = RINT(low[d][i]); \
            else \
                for (int64_t i = 0; i < n; i++) { \
                    const T x = low[d][i]; \
                    low[d][i] = FLOOR(x); \
                    far[d][i] = x - low[d][i]; \
                } \
        } \
        for (int k = 0; k < (s->nearest ? 1 : 1 << s->dims); k++, at += CORNER_BLOCK, weight += CORNER_BLOCK) { \
            for (int d = s->dims - 1; d >= 0; d--) { \
                const T size = (T)s->size[d], up = (T)(k >> d & 1); \
                const bool first = d == s->dims - 1; \
                const int64_t width = s->size[d]; \
                for (int64_t i = 0; i < n; i++) { \
                    const T x = low[d][i] + up; \
                    const bool inside = x >= 0 && x < size; \
                    const int64_t part = (int32_t)(inside ? x : (T)0), whole = first ? part : at[i] * width + part; \
                    at[i] = !inside || (!first && at[i] < 0) ? -1 : whole; \
                } \
            } \
            for (int64_t i = 0; i < n; i++) \
                outside |= at[i]; \
            if (s->nearest) \
                continue; \
            for (int64_t i = 0; i < n; i++) \
                weight[i] = (k & 1 ? far[0][i] : 1 - far[0][i]) * (k & 2 ? far[1][i] : 1 - far[1][i]); \
            if (s->dims == 3) \
                for (int64_t i = 0; i < n; i++) { \
                    const T w = weight[i] * (k & 4 ? far[2][i] : 1 - far[2][i]); \
                    weight[i] = at[i] < 0 ? (T)0 : w; \
                } \
        } \
        return outside >= 0; \
    } \
    WIDEST static void pick_##NAME(int64_t n, const int64_t *at, bool inside, T *out, const T *x) \
    { \
        if (inside) \
            for (int64_t i = 0; i < n; i++) \
                out[i] = x[at[i]]; \
        else \
            for (int64_t i = 0; i < n; i++) \
                out[i] = at[i] >= 0 ? x[at[i]] : (T)0; \
    } \
    WIDEST static void mix_##NAME(int corners, int64_t n, const int64_t *at, const T *weight, bool inside, T *out, const T *x) \
    { \
        for (int k = 0; k < corners; k += 4, at += 4 * CORNER_BLOCK, weight += 4 * CORNER_BLOCK) { \
            const int64_t *b = at + CORNER_BLOCK, *c = b + CORNER_BLOCK, *d = c + CORNER_BLOCK; \
            const T *u = weight + CORNER_BLOCK, *v = u + CORNER_BLOCK, *w = v + CORNER_BLOCK; \
            for (int64_t i = 0; i < n; i++) { \
                const T sum = k ? out[i] : (T)0; \
                if (inside) \
                    out[i] = sum + x[at[i]] * weight[i] + x[b[i]] * u[i] + x[c[i]] * v[i] + x[d[i]] * w[i]; \
                else \
                    out[i] = sum + (at[i] < 0 ? (T)0 : x[at[i]]) * weight[i] + (b[i] < 0 ? (T)0 : x[b[i]]) * u[i] \
                             + (c[i] < 0 ? (T)0 : x[c[i]]) * v[i] + (d[i] < 0 ? (T)0 : x[d[i]]) * w[i]; \
            } \
        } \
    } \
    /* The 4 x 4 elements around n places: element k of place i, and weights along x and y, stand at [k * CUBIC_BLOCK + i]. */ \
    WIDEST static void cubic_##NAME(int64_t n, const int64_t *at, const T *wx, const T *wy, T *out, const T *x) \
    { \
        T line[CUBIC_BLOCK]; \
        for (int r = 0; r < 4; r++, at += 4 * CUBIC_BLOCK, wy += CUBIC_BLOCK) { \
            for (int k = 0; k < 4; k++) \
                for (int64_t i = 0; i < n; i++) { \
                    const int64_t place = at[k * CUBIC_BLOCK + i]; \
                    line[i] = (k ? line[i] : 0) + (place < 0 ? (T)0 : x[place]) * wx[k * CUBIC_BLOCK + i]; \
                } \
            for (int64_t i = 0; i < n; i++) \
                out[i] = (r ? out[i] : 0) + line[i] * wy[i]; \
        } \
    } \
    /* What came out of the nearest elements, added to them. */ \
    static void drop_##NAME(int64_t n, const int64_t *at, const T *grad, T *to) \
    { \
        for (int64_t i = 0; i < n; i++) \
            if (at[i] >= 0) \
                to[at[i]] += grad[i]; \
    }
CORNERS(f32, float, floorf, rintf, truncf, fabsf, fmodf)
CORNERS(f64, double, floor, rint, trunc, fabs, fmod)
#pragma GCC pop_options
#endif
