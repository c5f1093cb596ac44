/* Bytes mixed along one dimension by weights in fixed point: sums of 32 bits, rounded and kept in range. */
#ifndef DISPATCH_BYTES_H
#define DISPATCH_BYTES_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "wrapv")

enum { BYTES_AT_ONCE = 512 };

EACH uint8_t byte_of(int32_t total, int bits)
{
    total >>= bits;
    return (uint8_t)(total < 0 ? 0 : total > 255 ? 255 : total);
}

/* 16 rows of 16 bytes become its columns. */
typedef uint8_t bytes_16 __attribute__((vector_size(16), aligned(1), may_alias));
EACH void turn_square(const uint8_t *from, int64_t from_row, uint8_t *to, int64_t to_row)
{
    const bytes_16 low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23}, high = low + 8;
    bytes_16 a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        a[i] = *(const bytes_16 *)(from + i * from_row);
#pragma GCC unroll 4
    for (int round = 0; round < 4; round++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            b[2 * i] = __builtin_shuffle(a[i], a[i + 8], low);
            b[2 * i + 1] = __builtin_shuffle(a[i], a[i + 8], high);
        }
        memcpy(a, b, sizeof(a));
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        *(bytes_16 *)(to + i * to_row) = a[i];
}
EACH void turn_bytes(const uint8_t *from, int64_t from_row, uint8_t *to, int64_t to_row, int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r += 16)
        for (int64_t c = 0; c < columns; c += 16) {
            if (r + 16 <= rows && c + 16 <= columns) {
                turn_square(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
                continue;
            }
            for (int64_t i = r; i < rows && i < r + 16; i++)
                for (int64_t k = c; k < columns && k < c + 16; k++)
                    to[k * to_row + i] = from[i * from_row + k];
        }
}

/* Up to BYTES_ROWS rows of (size, inner) to rows of (n, inner), as columns of `room`, so that rows fill a vector. */
enum { BYTES_ROWS = 32 };
EACH void mix_rows(uint8_t *restrict out, const uint8_t *restrict x, int64_t rows, int64_t size, int64_t inner,
                   const int64_t *index, const int32_t *weight, int64_t n, int most, int bits, uint8_t *restrict room)
{
    uint8_t *restrict made = room + size * inner * BYTES_ROWS;
    turn_bytes(x, size * inner, room, BYTES_ROWS, rows, size * inner);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < inner; e++) {
            int32_t totals[BYTES_ROWS];
            for (int f = 0; f < BYTES_ROWS; f++)
                totals[f] = 1 << bits >> 1;
            for (int k = 0; k < most; k++) {
                const int32_t by = weight[i * most + k];
                const uint8_t *from = room + (index[i * most + k] * inner + e) * BYTES_ROWS;
                if (by)
                    for (int f = 0; f < BYTES_ROWS; f++)
                        totals[f] += by * from[f];
            }
            for (int f = 0; f < BYTES_ROWS; f++)
                made[(i * inner + e) * BYTES_ROWS + f] = byte_of(totals[f], bits);
        }
    turn_bytes(made, BYTES_ROWS, out, n * inner, n * inner, rows);
}

/* `planes` of (size, inner) to (n, inner). False: there was no memory. */
WIDEST static bool mix_bytes(uint8_t *restrict out, const uint8_t *restrict x, int64_t planes, int64_t size, int64_t inner,
                             const int64_t *index, const int32_t *weight, int64_t n, int most, int bits)
{
    int32_t totals[BYTES_AT_ONCE];
    if (inner < BYTES_ROWS) {
        uint8_t *room = calloc((size_t)(size + n) * inner, BYTES_ROWS);
        for (int64_t p = 0; p < planes && room; p += BYTES_ROWS)
            mix_rows(out + p * n * inner, x + p * size * inner, planes - p < BYTES_ROWS ? planes - p : BYTES_ROWS, size, inner,
                     index, weight, n, most, bits, room);
        free(room);
        return room != NULL;
    }
    for (int64_t p = 0; p < planes; p++, x += size * inner, out += n * inner)
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < inner; e += BYTES_AT_ONCE) {
                const int64_t some = inner - e < BYTES_AT_ONCE ? inner - e : BYTES_AT_ONCE;
                for (int64_t f = 0; f < some; f++)
                    totals[f] = 1 << bits >> 1;
                for (int k = 0; k < most; k++) {
                    const uint8_t *from = x + index[i * most + k] * inner + e;
                    const int32_t by = weight[i * most + k];
                    for (int64_t f = 0; f < some && by; f++)
                        totals[f] += by * from[f];
                }
                for (int64_t f = 0; f < some; f++)
                    out[i * inner + e + f] = byte_of(totals[f], bits);
            }
    return true;
}
#pragma GCC pop_options
#endif
