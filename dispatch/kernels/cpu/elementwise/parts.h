/* Two rows of numbers, written in turn: the real and imaginary parts of complex ones. */
#ifndef DISPATCH_PARTS_H
#define DISPATCH_PARTS_H
#include "rows.h"

typedef struct {
    const char *real, *imag;
    char *to;
    int size;                /* bytes of a part */
} parts_job;

#pragma GCC push_options
#pragma GCC optimize("O3")
#define INTERLEAVE(NAME, T) \
    WIDE static void NAME(const T *restrict real, const T *restrict imag, T *restrict to, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            to[2 * i] = real[i]; \
            to[2 * i + 1] = imag[i]; \
        } \
    }
INTERLEAVE(interleave_2, uint16_t)
INTERLEAVE(interleave_4, uint32_t)
INTERLEAVE(interleave_8, uint64_t)
#pragma GCC pop_options

static void interleave_parts(void *context, int64_t part, int64_t first, int64_t end)
{
    const parts_job *j = context;
    const void *real = j->real + first * j->size, *imag = j->imag + first * j->size;
    void *to = j->to + 2 * first * j->size;
    (void)part;
    if (j->size == 2)
        interleave_2(real, imag, to, end - first);
    else if (j->size == 4)
        interleave_4(real, imag, to, end - first);
    else
        interleave_8(real, imag, to, end - first);
}
#endif
