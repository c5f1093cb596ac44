/* Blocks of 16 normal numbers out of 16 uniform ones in [0, 1), by Box and Muller: the first eight
   give radii, the others angles.

   Where the processor multiplies and adds in one step PyTorch computes a block of floats in
   registers of eight, with the logarithm, sine and cosine of Cephes for single precision (Moshier);
   the order of the roundings below is what gives its very numbers. Elsewhere it is libm's. */
#ifndef DISPATCH_NORMAL_H
#define DISPATCH_NORMAL_H
#include <math.h>
#include <stdint.h>

static void normal_blocks_double(double* data, int64_t blocks, double mean, double std) {
    for (; blocks > 0; blocks--, data += 16)
        for (int i = 0; i < 8; i++) {
            double radius = sqrt(-2.0 * log(1.0 - data[i]));
            double angle = 2.0 * M_PI * data[i + 8];
            data[i] = fma(radius * cos(angle), std, mean);
            data[i + 8] = fma(radius * sin(angle), std, mean);
        }
}

static void normal_blocks_plain(float* data, int64_t blocks, float mean, float std) {
    for (; blocks > 0; blocks--, data += 16)
        for (int i = 0; i < 8; i++) {
            float radius = sqrtf(-2.0f * logf(1.0f - data[i]));
            float angle = (float)(2.0 * M_PI * data[i + 8]);
            data[i] = fmaf(radius * cosf(angle), std, mean);
            data[i + 8] = fmaf(radius * sinf(angle), std, mean);
        }
}

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define DISPATCH_FMA __attribute__((target("avx2,fma")))

/* ((c[0] x + c[1]) x + ...) + c[n - 1] */
DISPATCH_FMA static inline __m256 normal_polynomial(__m256 x, const float* c, int n) {
    __m256 y = _mm256_set1_ps(c[0]);
    for (int i = 1; i < n; i++)
        y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(c[i]));
    return y;
}

/* Of numbers in (0, 1]: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and a polynomial in m - 1. */
DISPATCH_FMA static inline __m256 normal_log(__m256 x) {
    static const float C[] = {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                              -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                              2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
    const __m256 one = _mm256_set1_ps(1.0f);
    __m256i bits = _mm256_castps_si256(x);
    __m256 e = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(126)));
    __m256 m = _mm256_castsi256_ps(_mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)),
                                                   _mm256_set1_epi32(0x3f000000)));
    __m256 low = _mm256_cmp_ps(m, _mm256_set1_ps(0.707106781186547524f), _CMP_LT_OS);
    __m256 t = _mm256_add_ps(_mm256_sub_ps(m, one), _mm256_and_ps(m, low));
    __m256 t2 = _mm256_mul_ps(t, t), y;
    e = _mm256_sub_ps(e, _mm256_and_ps(one, low));
    y = _mm256_mul_ps(normal_polynomial(t, C, 9), t);
    y = _mm256_fmadd_ps(y, t2, _mm256_mul_ps(e, _mm256_set1_ps(-2.12194440e-4f)));
    y = _mm256_fnmadd_ps(t2, _mm256_set1_ps(0.5f), y);
    return _mm256_fmadd_ps(e, _mm256_set1_ps(0.693359375f), _mm256_add_ps(t, y));
}

/* Of angles in [0, 2 pi): the octant, what is left in three steps, and two polynomials. */
DISPATCH_FMA static inline void normal_sincos(__m256 x, __m256* sine, __m256* cosine) {
    static const float C[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
    static const float S[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    const __m256i two = _mm256_set1_epi32(2), four = _mm256_set1_epi32(4);
    __m256i octant = _mm256_cvttps_epi32(_mm256_mul_ps(x, _mm256_set1_ps(1.27323954473516f)));
    __m256 y, z, c, s, near;
    octant = _mm256_and_si256(_mm256_add_epi32(octant, _mm256_set1_epi32(1)), _mm256_set1_epi32(~1));
    y = _mm256_cvtepi32_ps(octant);
    x = _mm256_fmadd_ps(y, _mm256_set1_ps(-0.78515625f), x);
    x = _mm256_fmadd_ps(y, _mm256_set1_ps(-2.4187564849853515625e-4f), x);
    x = _mm256_fmadd_ps(y, _mm256_set1_ps(-3.77489497744594108e-8f), x);
    z = _mm256_mul_ps(x, x);
    c = _mm256_mul_ps(normal_polynomial(z, C, 3), z);
    c = _mm256_fmsub_ps(c, z, _mm256_mul_ps(z, _mm256_set1_ps(0.5f)));
    c = _mm256_add_ps(c, _mm256_set1_ps(1.0f));
    s = _mm256_fmadd_ps(_mm256_mul_ps(normal_polynomial(z, S, 3), z), x, x);
    near = _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(octant, two), _mm256_setzero_si256()));
    *sine = _mm256_xor_ps(_mm256_blendv_ps(c, s, near),
                          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_and_si256(octant, four), 29)));
    octant = _mm256_andnot_si256(_mm256_sub_epi32(octant, two), four);
    *cosine = _mm256_xor_ps(_mm256_blendv_ps(s, c, near), _mm256_castsi256_ps(_mm256_slli_epi32(octant, 29)));
}

DISPATCH_FMA static void normal_blocks_wide(float* data, int64_t blocks, float mean, float std) {
    const __m256 means = _mm256_set1_ps(mean), stds = _mm256_set1_ps(std);
    for (; blocks > 0; blocks--, data += 16) {
        __m256 s, c, radius = normal_log(_mm256_sub_ps(_mm256_set1_ps(1.0f), _mm256_loadu_ps(data)));
        radius = _mm256_sqrt_ps(_mm256_mul_ps(_mm256_set1_ps(-2.0f), radius));
        normal_sincos(_mm256_mul_ps(_mm256_set1_ps((float)(2.0 * M_PI)), _mm256_loadu_ps(data + 8)), &s, &c);
        _mm256_storeu_ps(data, _mm256_fmadd_ps(_mm256_mul_ps(radius, c), stds, means));
        _mm256_storeu_ps(data + 8, _mm256_fmadd_ps(_mm256_mul_ps(radius, s), stds, means));
    }
}

static void normal_blocks_float(float* data, int64_t blocks, float mean, float std) {
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        normal_blocks_wide(data, blocks, mean, std);
    else
        normal_blocks_plain(data, blocks, mean, std);
}
#else
static void normal_blocks_float(float* data, int64_t blocks, float mean, float std) {
    normal_blocks_plain(data, blocks, mean, std);
}
#endif
#endif
