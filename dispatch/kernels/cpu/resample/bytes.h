/* Bytes mixed along one dimension by weights in fixed point: sums of 32 bits, rounded and kept in range. */
#ifndef DISPATCH_BYTES_H
#define DISPATCH_BYTES_H
#include "../rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "wrapv")

enum { BYTES_AT_ONCE = 512 };

EACH uint8_t byte_of(int32_t total, int bits)
{
    total >>= bits;
    return (uint8_t)(total < 0 ? 0 : total > 255 ? 255 : total);
}

/* A row: each of n results has `most` taps. */
EACH void mix_row(uint8_t *to, const uint8_t *x, const int64_t *at, const int32_t *w, int64_t n, const int most, int bits)
{
    for (int64_t i = 0; i < n; i++, at += most, w += most) {
        int32_t total = 1 << bits >> 1;
        for (int k = 0; k < most; k++)
            total += w[k] * x[at[k]];
        to[i] = byte_of(total, bits);
    }
}

/* `planes` of (size, inner) to (n, inner). */
WIDEST static void mix_bytes(uint8_t *restrict out, const uint8_t *restrict x, int64_t planes, int64_t size, int64_t inner,
                             const int64_t *index, const int32_t *weight, int64_t n, int most, int bits)
{
    int32_t totals[BYTES_AT_ONCE];
    for (int64_t p = 0; p < planes; p++, x += size * inner, out += n * inner) {
        if (inner == 1) {
            if (most == 2)
                mix_row(out, x, index, weight, n, 2, bits);
            else if (most == 4)
                mix_row(out, x, index, weight, n, 4, bits);
            else
                mix_row(out, x, index, weight, n, most, bits);
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < inner; e += BYTES_AT_ONCE) {
                const int64_t some = inner - e < BYTES_AT_ONCE ? inner - e : BYTES_AT_ONCE;
                for (int64_t f = 0; f < some; f++)
                    totals[f] = 1 << bits >> 1;
                for (int k = 0; k < most; k++) {
                    const uint8_t *from = x + index[i * most + k] * inner + e;
                    const int32_t by = weight[i * most + k];
                    for (int64_t f = 0; f < some; f++)
                        totals[f] += by * from[f];
                }
                for (int64_t f = 0; f < some; f++)
                    out[i * inner + e + f] = byte_of(totals[f], bits);
            }
    }
}
#pragma GCC pop_options
#endif
