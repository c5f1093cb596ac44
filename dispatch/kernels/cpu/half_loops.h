/* Rows of HALF_ROW elements for loops over 16-bit floats, which emitted loops include at each LEVEL that has AVX2: loaded as floats
   that stay in registers, rounded once as they are stored. Truths are operands and outputs of such loops too.

   ROW_OF(type, half, ...): where the elements lie without gaps. SOME_OF: m of them, any step apart, or one that stands still. */
#ifndef DISPATCH_HALF_LOOPS_H
#define DISPATCH_HALF_LOOPS_H
#include <immintrin.h>
#include "loops.h"

enum { HALF_ROW = 32 };
#define HALF_SIZE_f32 2
#define HALF_SIZE_b8 1
#define ROW_OF(type, half) PASTE(row_of_##type, half, LEVEL)
#define ROW_TO(type, half) PASTE(row_to_##type, half, LEVEL)
#define SOME_OF(type, half) PASTE(some_of_##type, half, LEVEL)
#define SOME_TO(type, half) PASTE(some_to_##type, half, LEVEL)

#define ROWS_OF_TRUTHS(half) \
    INLINE void ROW_OF(b8, half)(bool *row, const char *at) \
    { \
        for (int i = 0; i < HALF_ROW; i++) \
            row[i] = at[i] != 0; \
    } \
    INLINE void ROW_TO(b8, half)(const bool *row, char *at) { memcpy(at, row, HALF_ROW); }

#define SOME_HALVES(type, half, STILL) \
    INLINE void SOME_OF(type, half)(COMPUTED_##type *row, const char *at, intptr_t step, intptr_t m) \
    { \
        char held[HALF_SIZE_##type * HALF_ROW] = {0}; \
        if (step == 0) { \
            for (int i = 0; i < HALF_ROW; i++) \
                row[i] = STILL; \
            return; \
        } \
        for (intptr_t i = 0; i < m; i++) \
            memcpy(held + i * HALF_SIZE_##type, at + i * step, HALF_SIZE_##type); \
        ROW_OF(type, half)(row, held); \
    } \
    INLINE void SOME_TO(type, half)(const COMPUTED_##type *row, char *at, intptr_t step, intptr_t m) \
    { \
        char held[HALF_SIZE_##type * HALF_ROW]; \
        ROW_TO(type, half)(row, held); \
        for (intptr_t i = 0; i < m; i++) \
            memcpy(at + i * step, held + i * HALF_SIZE_##type, HALF_SIZE_##type); \
    }
#endif

#ifdef __AVX512BW__
INLINE void ROW_OF(f32, f16)(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 16)
        _mm512_storeu_ps(row + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(at + 2 * i))));
}
INLINE void ROW_TO(f32, f16)(const float *row, char *at)
{
    for (int i = 0; i < HALF_ROW; i += 16)
        _mm256_storeu_si256((__m256i *)(at + 2 * i), _mm512_cvtps_ph(_mm512_loadu_ps(row + i), 0));
}
INLINE void ROW_OF(f32, bf16)(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 16) {
        const __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(at + 2 * i)));
        _mm512_storeu_ps(row + i, _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)));
    }
}
/* Rounded to the nearest, to even ones between two, in the high halves of the lanes; what is no number is the quiet one. */
INLINE __m512i bf16_bits_of_16(const float *row)
{
    const __m512 x = _mm512_loadu_ps(row);
    const __m512i u = _mm512_castps_si512(x), up = _mm512_add_epi32(u, _mm512_set1_epi32(0x7fff));
    const __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(0x10000));
    const __m512i even = _mm512_mask_sub_epi32(up, odd, up, _mm512_set1_epi32(-1));
    return _mm512_mask_mov_epi32(even, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), _mm512_set1_epi32(0x7fc00000));
}
INLINE void ROW_TO(f32, bf16)(const float *row, char *at)
{
    static const uint16_t high[32] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                      33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i low = bf16_bits_of_16(row), rest = bf16_bits_of_16(row + 16);
    _mm512_storeu_si512(at, _mm512_permutex2var_epi16(low, _mm512_loadu_si512(high), rest));
}
#else
INLINE void ROW_OF(f32, f16)(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8)
        _mm256_storeu_ps(row + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at + 2 * i))));
}
INLINE void ROW_TO(f32, f16)(const float *row, char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8)
        _mm_storeu_si128((__m128i *)(at + 2 * i), _mm256_cvtps_ph(_mm256_loadu_ps(row + i), 0));
}
INLINE void ROW_OF(f32, bf16)(float *row, const char *at)
{
    for (int i = 0; i < HALF_ROW; i += 8) {
        const __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(at + 2 * i)));
        _mm256_storeu_ps(row + i, _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)));
    }
}
INLINE __m256i bf16_bits_of_8(const float *row)
{
    const __m256 x = _mm256_loadu_ps(row);
    __m256i u = _mm256_castps_si256(x), odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    u = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    return _mm256_blendv_epi8(u, _mm256_set1_epi32(0x7fc0), _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
INLINE void ROW_TO(f32, bf16)(const float *row, char *at)
{
    for (int i = 0; i < HALF_ROW; i += 16) {
        const __m256i both = _mm256_packus_epi32(bf16_bits_of_8(row + i), bf16_bits_of_8(row + i + 8));
        _mm256_storeu_si256((__m256i *)(at + 2 * i), _mm256_permute4x64_epi64(both, 0xd8));
    }
}
#endif
ROWS_OF_TRUTHS(f16)
ROWS_OF_TRUTHS(bf16)
SOME_HALVES(f32, f16, *(const float *)at)
SOME_HALVES(f32, bf16, *(const float *)at)
SOME_HALVES(b8, f16, *at != 0)
SOME_HALVES(b8, bf16, *at != 0)
