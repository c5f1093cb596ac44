/* Padding with what is there: where each position along a padded dimension comes from, and rows copied or added by that.

   Up to three padded dimensions behind up to two that are not; steps in bytes. Memory in which the dimension before the padded
   ones lies closest (channels_last) is walked with that dimension innermost. */
#ifndef DISPATCH_PADDING_H
#define DISPATCH_PADDING_H
#include "../copy/strided.h"
#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t batch[2], padded[3];             /* sizes of the padded side; 1 where there is no such dimension */
    int64_t big_batch[2], big[3];            /* steps of the padded side */
    int64_t small_batch[2], small[3];        /* steps of the other */
    const int64_t* at[3];                    /* for each position of the padded side, the one of the other */
    int64_t middle, width;                   /* of the last dimension: where a run of adjacent positions begins, its length */
} dispatch_padding;

/* A row of adjacent elements: both ends by the table, what is between them at once. */
#define DISPATCH_PAD_ROW(T) \
    static void dispatch_pad_row_##T(const dispatch_padding* p, char* big, const char* small) { \
        const int64_t* at = p->at[2]; \
        const T* from = (const T*)small; \
        T* to = (T*)big; \
        int64_t k; \
        for (k = 0; k < p->middle; k++) to[k] = from[at[k]]; \
        if (p->width > 0) memcpy(to + k, from + at[k], p->width * sizeof(T)); \
        for (k += p->width; k < p->padded[2]; k++) to[k] = from[at[k]]; \
    }
DISPATCH_PAD_ROW(uint8_t) DISPATCH_PAD_ROW(uint16_t) DISPATCH_PAD_ROW(uint32_t) DISPATCH_PAD_ROW(uint64_t)

typedef void (*dispatch_pad_row)(const dispatch_padding* p, char* big, const char* small);

/* NULL: elements are not adjacent, or not aligned, or wider. */
static dispatch_pad_row dispatch_pad_rower(const dispatch_padding* p, const char* big, const char* small) {
    const int64_t size = p->big[2];
    int64_t steps = (int64_t)(uintptr_t)big | (int64_t)(uintptr_t)small;
    for (int i = 0; i < 2; i++)
        steps |= p->big[i] | p->small[i] | p->big_batch[i] | p->small_batch[i];
    if (size <= 0 || size > 8 || p->small[2] != size || steps % size != 0) return NULL;
    return size == 1 ? dispatch_pad_row_uint8_t : size == 2 ? dispatch_pad_row_uint16_t : size == 4 ? dispatch_pad_row_uint32_t
         : size == 8 ? dispatch_pad_row_uint64_t : NULL;
}

/* big[...] = small[at[...]] */
static void dispatch_pad_copy(const dispatch_padding* p, char* big, const char* small, int64_t size, dispatch_run run) {
    const int channels_inside = p->batch[1] > 1 && p->big_batch[1] < p->big[2];
    const dispatch_pad_row row = p->big[2] == size ? dispatch_pad_rower(p, big, small) : NULL;
    int64_t n, c, i, j, k;
    for (n = 0; n < p->batch[0]; n++)
        for (c = 0; c < (channels_inside ? 1 : p->batch[1]); c++)
            for (i = 0; i < p->padded[0]; i++)
                for (j = 0; j < p->padded[1]; j++) {
                    char* to = big + n * p->big_batch[0] + c * p->big_batch[1] + i * p->big[0] + j * p->big[1];
                    const char* from = small + n * p->small_batch[0] + c * p->small_batch[1] + p->at[0][i] * p->small[0]
                                       + p->at[1][j] * p->small[1];
                    if (row != NULL) {
                        row(p, to, from);
                        continue;
                    }
                    if (channels_inside) {
                        for (k = 0; k < p->padded[2]; k++)
                            run(from + p->at[2][k] * p->small[2], p->small_batch[1], to + k * p->big[2], p->big_batch[1],
                                p->batch[1]);
                        continue;
                    }
                    for (k = 0; k < p->middle; k++) run(from + p->at[2][k] * p->small[2], 0, to + k * p->big[2], 0, 1);
                    if (p->width > 0)
                        run(from + p->at[2][k] * p->small[2], p->small[2], to + k * p->big[2], p->big[2], p->width);
                    for (k += p->width; k < p->padded[2]; k++)
                        run(from + p->at[2][k] * p->small[2], 0, to + k * p->big[2], 0, 1);
                }
}

/* small[at[...]] += big[...], by a run that adds */
static void dispatch_pad_add(const dispatch_padding* p, const char* big, char* small, dispatch_run add) {
    const int channels_inside = p->batch[1] > 1 && p->big_batch[1] < p->big[2];
    int64_t n, c, i, j, k;
    for (n = 0; n < p->batch[0]; n++)
        for (c = 0; c < (channels_inside ? 1 : p->batch[1]); c++)
            for (i = 0; i < p->padded[0]; i++)
                for (j = 0; j < p->padded[1]; j++) {
                    const char* from = big + n * p->big_batch[0] + c * p->big_batch[1] + i * p->big[0] + j * p->big[1];
                    char* to = small + n * p->small_batch[0] + c * p->small_batch[1] + p->at[0][i] * p->small[0]
                               + p->at[1][j] * p->small[1];
                    for (k = 0; k < p->padded[2]; k++) {
                        const int64_t adjacent = !channels_inside && k == p->middle && p->width > 0 ? p->width : 1;
                        add(from + k * p->big[2], channels_inside ? p->big_batch[1] : p->big[2],
                            to + p->at[2][k] * p->small[2], channels_inside ? p->small_batch[1] : p->small[2],
                            channels_inside ? p->batch[1] : adjacent);
                        k += adjacent - 1;
                    }
                }
}
#endif
