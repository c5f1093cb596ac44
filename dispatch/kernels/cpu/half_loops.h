/* Rows of HALF_ROW elements for loops over 16-bit floats, which emitted loops include at the level of AVX2: loaded as floats that
   stay in registers, rounded once as they are stored. Truths are operands and outputs of such loops too.

   ROW_OF(type, half, ...): where the elements lie without gaps. SOME_OF: m of them, any step apart, or one that stands still. */
#ifndef DISPATCH_HALF_LOOPS_H
#define DISPATCH_HALF_LOOPS_H
#include <immintrin.h>
#include "loops.h"

enum { HALF_ROW = 32 };
#define HALF_SIZE_f32 2
#define HALF_SIZE_b8 1
#define BY_ROWS __attribute__((target("avx2,fma,f16c"))) INLINE

BY_ROWS void row_of_f32_f16(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8)
        _mm256_storeu_ps(row + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at + 2 * i))));
}
BY_ROWS void row_to_f32_f16(const float *row, char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8)
        _mm_storeu_si128((__m128i *)(at + 2 * i), _mm256_cvtps_ph(_mm256_loadu_ps(row + i), 0));
}
BY_ROWS void row_of_f32_bf16(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8) {
        const __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(at + 2 * i)));
        _mm256_storeu_ps(row + i, _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)));
    }
}
BY_ROWS __m256i bf16_bits_of_8(const float *row)
{
    const __m256 x = _mm256_loadu_ps(row);
    __m256i u = _mm256_castps_si256(x), odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    u = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    return _mm256_blendv_epi8(u, _mm256_set1_epi32(0x7fc0), _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
BY_ROWS void row_to_f32_bf16(const float *row, char *at)
{
    for (int i = 0; i < HALF_ROW; i += 16) {
        const __m256i both = _mm256_packus_epi32(bf16_bits_of_8(row + i), bf16_bits_of_8(row + i + 8));
        _mm256_storeu_si256((__m256i *)(at + 2 * i), _mm256_permute4x64_epi64(both, 0xd8));
    }
}
BY_ROWS void row_of_b8(bool *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i++)
        row[i] = at[i] != 0;
}
BY_ROWS void row_to_b8(const bool *row, char *at) { memcpy(at, row, HALF_ROW); }
#define row_of_b8_f16 row_of_b8
#define row_of_b8_bf16 row_of_b8
#define row_to_b8_f16 row_to_b8
#define row_to_b8_bf16 row_to_b8

#define SOME_HALVES(NAME, ROW, SIZE, STILL) \
    BY_ROWS void some_of_##NAME(ROW *row, const char *at, intptr_t step, intptr_t m) \
    { \
        char held[SIZE * HALF_ROW] = {0}; \
        if (step == 0) { \
            for (int i = 0; i < HALF_ROW; i++) \
                row[i] = STILL; \
            return; \
        } \
        for (intptr_t i = 0; i < m; i++) \
            memcpy(held + i * SIZE, at + i * step, SIZE); \
        row_of_##NAME(row, held); \
    } \
    BY_ROWS void some_to_##NAME(const ROW *row, char *at, intptr_t step, intptr_t m) \
    { \
        char held[SIZE * HALF_ROW]; \
        row_to_##NAME(row, held); \
        for (intptr_t i = 0; i < m; i++) \
            memcpy(at + i * step, held + i * SIZE, SIZE); \
    }
SOME_HALVES(f32_f16, float, 2, *(const float *)at)
SOME_HALVES(f32_bf16, float, 2, *(const float *)at)
SOME_HALVES(b8_f16, bool, 1, *at != 0)
SOME_HALVES(b8_bf16, bool, 1, *at != 0)
#define ROW_OF(type, half) row_of_##type##_##half
#define ROW_TO(type, half) row_to_##type##_##half
#define SOME_OF(type, half) some_of_##type##_##half
#define SOME_TO(type, half) some_to_##type##_##half
#endif
