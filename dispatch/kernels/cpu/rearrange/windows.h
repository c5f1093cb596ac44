/* im2col: for each element of a window a row, which is the image moved by it, with zeros where the padding is. Plane by plane, so
   that the image stays in a cache, and each row is written once. */
#ifndef DISPATCH_WINDOWS_H
#define DISPATCH_WINDOWS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "copy/strided.h"

typedef struct {
    char *to;
    const char *from;
    dispatch_run run;
    int size;                                    /* bytes of an element */
    int64_t channels, window[2], places[2];
    int64_t dilation[2], padding[2], stride[2], sizes[2];       /* of the image: how high and wide */
    ptrdiff_t to_image, to_row, to_column;       /* steps in bytes */
    ptrdiff_t from_image, from_channel, from_step[2];
} windows_job;

/* The places from `first` to `end` whose element at `start` + place * stride lies inside of the image. */
static void windows_inside(const windows_job *w, int d, int64_t start, int64_t *first, int64_t *end)
{
    const int64_t step = w->stride[d], size = w->sizes[d];
    *first = start >= 0 ? 0 : (-start + step - 1) / step;
    *end = start < size ? (size - start + step - 1) / step : 0;
    *first = *first < w->places[d] ? *first : w->places[d];
    *end = *end < w->places[d] ? *end : w->places[d];
    *end = *end > *first ? *end : *first;
}

static void windows_clear(const windows_job *w, char *to, int64_t n)
{
    static const char zero[16] = {0};
    if (w->to_column == w->size)
        memset(to, 0, (size_t)(n * w->size));
    else
        w->run(zero, 0, to, w->to_column, n);
}

static void windows_move(const windows_job *w, char *to, const char *from, int64_t top, int64_t left)
{
    const ptrdiff_t step = w->from_step[1] * w->stride[1], line = w->places[1] * w->to_column;
    int64_t first, end, from_column, to_column;
    windows_inside(w, 0, top, &first, &end);
    windows_inside(w, 1, left, &from_column, &to_column);
    windows_clear(w, to, first * w->places[1]);
    windows_clear(w, to + end * line, (w->places[0] - end) * w->places[1]);
    for (int64_t y = first; y < end; y++) {
        char *at = to + y * line;
        const char *source = from + (top + y * w->stride[0]) * w->from_step[0]
                             + (left + from_column * w->stride[1]) * w->from_step[1];
        const int64_t n = to_column - from_column;
        windows_clear(w, at, from_column);
        if (n && step == w->size && w->to_column == w->size)
            memcpy(at + from_column * w->size, source, (size_t)(n * w->size));
        else if (n)
            w->run(source, step, at + from_column * w->to_column, w->to_column, n);
        windows_clear(w, at + to_column * w->to_column, w->places[1] - to_column);
    }
}

/* Planes from `first` to `end`, of all images one after the other. */
static void windows_planes(void *context, int64_t part, int64_t first, int64_t end)
{
    const windows_job *w = context;
    (void)part;
    for (int64_t plane = first; plane < end; plane++) {
        const int64_t image = plane / w->channels, channel = plane % w->channels;
        const char *from = w->from + image * w->from_image + channel * w->from_channel;
        char *to = w->to + image * w->to_image + channel * w->window[0] * w->window[1] * w->to_row;
        for (int64_t i = 0; i < w->window[0]; i++)
            for (int64_t j = 0; j < w->window[1]; j++, to += w->to_row)
                windows_move(w, to, from, i * w->dilation[0] - w->padding[0], j * w->dilation[1] - w->padding[1]);
    }
}
#endif
