/* Sequences of numbers, and index pairs of triangles, into contiguous memory. */
#ifndef DISPATCH_SEQUENCES_H
#define DISPATCH_SEQUENCES_H
#include "../copy/elements.h"

#define DISPATCH_WHOLE_RANGE(S, code, bytes, V) \
    DISPATCH_VECTOR \
    static void dispatch_whole_range_##S(char* to, int64_t start, int64_t step, int64_t i, int64_t n) { \
        for (; i < n; i++) dispatch_store_##S(to + i * bytes, (V)((uint64_t)start + (uint64_t)step * (uint64_t)i)); \
    }
DISPATCH_INTEGERS(DISPATCH_WHOLE_RANGE)

/* Those from the i-th up to the n-th; i is a multiple of 8. */
static void dispatch_whole_range(char* to, int code, int64_t start, int64_t step, int64_t i, int64_t n) {
#define DISPATCH_WHOLE_RANGE_CASE(S, number, bytes, V) case number: dispatch_whole_range_##S(to, start, step, i, n); break;
    switch (code) { DISPATCH_INTEGERS(DISPATCH_WHOLE_RANGE_CASE) }
}

/* Each value from its number; in float32, as PyTorch's vectorised loop has it, the first of 8 is rounded by itself. */
DISPATCH_VECTOR
static void dispatch_float_range(char* to, int code, double start, double step, int64_t i, int64_t n) {
    int64_t k;
    if (code == 6)
        for (; i + 8 <= n; i += 8) {
            const double first = (float)(start + (double)i * step);
            for (k = 0; k < 8; k++) ((float*)to)[i + k] = (float)(first + (double)k * step);
        }
    if (code == 7)
        for (; i + 8 <= n; i += 8) {
            const double at = (double)i;
            for (k = 0; k < 8; k++) ((double*)to)[i + k] = start + (at + (double)k) * step;
        }
    for (; i < n; i++) {
        const double v = start + (double)i * step;
        if (code == 6) dispatch_store_f32(to + i * 4, (float)v);
        else if (code == 7) dispatch_store_f64(to + i * 8, v);
        else if (code == 5) dispatch_store_f16(to + i * 2, (float)v);
        else dispatch_store_bf16(to + i * 2, (float)v);
    }
}

/* Numbers at equal distances: the first half counted from the start, the rest from the end. Eight at once from one number, which
   vectorises: integers of 64 bits are converted one by one. */
#define DISPATCH_LINSPACE(S, V) \
    DISPATCH_VECTOR \
    static void dispatch_linspace_##S(V* to, V first, V last, int64_t n) { \
        const V step = n > 1 ? (last - first) / (V)(n - 1) : 0; \
        int64_t i = 0, k; \
        for (; i + 8 <= n / 2; i += 8) { \
            const double at = (double)i; \
            for (k = 0; k < 8; k++) to[i + k] = first + step * (V)(at + (double)k); \
        } \
        for (; i < n / 2; i++) to[i] = first + step * (V)i; \
        for (; n > 1 && i + 8 <= n; i += 8) { \
            const double at = (double)(n - 1 - i); \
            for (k = 0; k < 8; k++) to[i + k] = last - step * (V)(at - (double)k); \
        } \
        for (; i < n; i++) to[i] = n == 1 ? first : last - step * (V)(n - 1 - i); \
    }
DISPATCH_LINSPACE(f32, float)
DISPATCH_LINSPACE(f64, double)

/* Rows and columns on one side of a diagonal: `count` of them each, which the caller has worked out. */
#define DISPATCH_TRIANGLE(S, V) \
    static void dispatch_triangle_##S(V* rows, int64_t count, int64_t row, int64_t col, int64_t offset, int lower) { \
        V* columns = rows + count; \
        int64_t i, j, k = 0; \
        for (i = lower && offset < 0 ? -offset : 0; i < row && k < count; i++) { \
            const int64_t edge = lower ? i + offset + 1 : i + offset; \
            const int64_t inside = edge < 0 ? 0 : edge > col ? col : edge; \
            const int64_t end = lower ? inside : col; \
            for (j = lower ? 0 : inside; j < end && k < count; j++, k++) { rows[k] = (V)i; columns[k] = (V)j; } \
        } \
    }
DISPATCH_TRIANGLE(i16, int16_t)
DISPATCH_TRIANGLE(i32, int32_t)
DISPATCH_TRIANGLE(i64, int64_t)
#endif
