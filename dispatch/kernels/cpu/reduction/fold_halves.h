/* Sums of 16-bit floats, widened as they are loaded, which costs less than a row of them in float32. Steps of the rules of
   `fold.h`, which includes this behind its sums of floats; nobody else does. */
#ifndef DISPATCH_FOLD_HALVES_H
#define DISPATCH_FOLD_HALVES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORS_OF_F16(x) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x)))
CONVERTS static int64_t sum_vectors_f16(const uint16_t *x, int64_t n, vec_f64 *sums)
{
    int64_t i = 0;
    __m256d low = _mm256_setzero_pd(), high = low;
    __m256 rest = _mm256_setzero_ps(), more = rest;
    for (; i + 64 <= n; i += 64, x += 64) {
        __m256 p = VECTORS_OF_F16(x) + VECTORS_OF_F16(x + 8) + (VECTORS_OF_F16(x + 16) + VECTORS_OF_F16(x + 24));
        __m256 q = VECTORS_OF_F16(x + 32) + VECTORS_OF_F16(x + 40) + (VECTORS_OF_F16(x + 48) + VECTORS_OF_F16(x + 56));
        p += q;
        low += _mm256_cvtps_pd(_mm256_castps256_ps128(p));
        high += _mm256_cvtps_pd(_mm256_extractf128_ps(p, 1));
    }
    for (; i + 16 <= n; i += 16, x += 16)
        rest += VECTORS_OF_F16(x), more += VECTORS_OF_F16(x + 8);
    if (i + 8 <= n)
        rest += VECTORS_OF_F16(x), i += 8;
    rest += more;
    low += _mm256_cvtps_pd(_mm256_castps256_ps128(rest));
    high += _mm256_cvtps_pd(_mm256_extractf128_ps(rest, 1));
    *sums += (vec_f64)(low + high);
    return i;
}
/* Of eight rows, as many columns as there are whole vectors of; how many these are. */
CONVERTS static int64_t sum_eight_rows_f16(const char *x, intptr_t step, int64_t n, double *to)
{
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        const char *at = x + 2 * j;
        __m256 p = VECTORS_OF_F16(at) + VECTORS_OF_F16(at + step) + (VECTORS_OF_F16(at + 2 * step) + VECTORS_OF_F16(at + 3 * step));
        at += 4 * step;
        __m256 q = VECTORS_OF_F16(at) + VECTORS_OF_F16(at + step) + (VECTORS_OF_F16(at + 2 * step) + VECTORS_OF_F16(at + 3 * step));
        p += q;
        *(vec_f64 *)(to + j) += (vec_f64)_mm256_cvtps_pd(_mm256_castps256_ps128(p));
        *(vec_f64 *)(to + j + 4) += (vec_f64)_mm256_cvtps_pd(_mm256_extractf128_ps(p, 1));
    }
    return j;
}
#define HAS_F16C() __builtin_cpu_supports("f16c")
#else
#define sum_vectors_f16(x, n, sums) 0
#define sum_eight_rows_f16(x, step, n, to) 0
#define HAS_F16C() 0
#endif
static void sum_row_f16(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    const uint16_t *x = given;
    vec_f64 sums = {0};
    double total;
    int64_t i = HAS_F16C() ? sum_vectors_f16(x, n, &sums) : 0;
    (void)c;
    total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; i < n; i++)
        total += f32_of_f16(x[i]);
    s->slot[0][at] += total;
}
static void sum_cols_f16(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c)
{
    (void)c;
    while (rows > 0) {
        const bool eight = rows >= 8 && HAS_F16C();
        const int64_t taken = eight ? 8 : 1;
        const int64_t j = eight ? sum_eight_rows_f16(x, step, n, s->slot[0]) : 0;
        for (int64_t r = 0; r < taken; r++)
            for (int64_t k = j; k < n; k++)
                s->slot[0][k] += f32_of_f16(((const uint16_t *)(x + r * step))[k]);
        x += taken * step;
        rows -= taken;
    }
}

/* Two elements are a lane of 32 bits: the upper one is its float already, the lower one after a shift. */
typedef uint32_t bits_f32 __attribute__((vector_size(32), aligned(2), may_alias));
#define PAIRS_OF_BF16(x) ((vec_f32)((x) << 16) + (vec_f32)((x) & 0xffff0000u))
WIDE static void sum_row_bf16(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    const uint16_t *x = given;
    vec_f64 sums = {0};
    double total;
    int64_t i = 0;
    (void)c;
    for (; i + 64 <= n; i += 64) {
        const bits_f32 *v = (const bits_f32 *)(x + i);
        vec_f32 p = (PAIRS_OF_BF16(v[0]) + PAIRS_OF_BF16(v[1])) + (PAIRS_OF_BF16(v[2]) + PAIRS_OF_BF16(v[3]));
        widen_f32(&sums, &p);
    }
    vec_f32 rest = {0};
    for (; i + 16 <= n; i += 16)
        rest += PAIRS_OF_BF16(*(const bits_f32 *)(x + i));
    widen_f32(&sums, &rest);
    total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; i < n; i++)
        total += f32_of_bf16(x[i]);
    s->slot[0][at] += total;
}
typedef uint16_t num_bf16;
typedef double sum_bf16;
#define FLOAT_OF(K, x) f32_of_##K(x)
SUM_COLS(sum, bf16, FLOAT_OF)
#endif
