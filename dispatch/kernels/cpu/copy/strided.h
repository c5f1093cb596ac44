/* Loops that move elements from one strided place to another: copies, casts, fills. No Python, no allocation.

   A `run` does one row; `dispatch_move` simplifies the geometry and calls it for all rows, in blocks where one side's memory order
   is not the other's. Steps are in bytes and may be 0 (a source that is broadcast) or negative. */
#ifndef DISPATCH_STRIDED_H
#define DISPATCH_STRIDED_H
#include "elements.h"

typedef void (*dispatch_run)(const char* from, intptr_t from_step, char* to, intptr_t to_step, intptr_t n);    /* as cast_loop */

typedef struct {
    int ndim;
    int64_t sizes[64];
    int64_t to[64];          /* steps */
    int64_t from[64];
} dispatch_moves;

/* ---- one row, elements as they are */

#define DISPATCH_COPY_RUN(T, bytes) \
    DISPATCH_VECTOR \
    static void dispatch_copy_##bytes(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        int64_t i; \
        if (b == 0) { \
            const T v = *(const T*)from; \
            if (a == bytes) for (i = 0; i < n; i++) ((T*)to)[i] = v; \
            else for (i = 0; i < n; i++) *(T*)(to + i * a) = v; \
        } \
        else if (a == bytes && b == bytes) memmove(to, from, n * bytes); \
        else if (a == bytes && b == -bytes) for (i = 0; i < n; i++) ((T*)to)[i] = *((const T*)from - i); \
        else if (a == bytes) for (i = 0; i < n; i++) ((T*)to)[i] = *(const T*)(from + i * b); \
        else for (i = 0; i < n; i++) *(T*)(to + i * a) = *(const T*)(from + i * b); \
    }
DISPATCH_COPY_RUN(dispatch_u1, 1)
DISPATCH_COPY_RUN(dispatch_u2, 2)
DISPATCH_COPY_RUN(dispatch_u4, 4)
DISPATCH_COPY_RUN(dispatch_u8, 8)
DISPATCH_COPY_RUN(dispatch_u16, 16)
DISPATCH_COPY_RUN(dispatch_u32, 32)
DISPATCH_COPY_RUN(dispatch_u64, 64)

/* Of elements, or of short rows without gaps; NULL: there is none of these bytes. */
static dispatch_run dispatch_copier(int64_t bytes) {
    switch (bytes) {
    case 1: return dispatch_copy_1;
    case 2: return dispatch_copy_2;
    case 4: return dispatch_copy_4;
    case 8: return dispatch_copy_8;
    case 16: return dispatch_copy_16;
    case 32: return dispatch_copy_32;
    case 64: return dispatch_copy_64;
    default: return NULL;
    }
}

/* ---- geometry */

static inline int64_t dispatch_abs(int64_t x) { return x < 0 ? -x : x; }

/* Dimensions of size 1 out; the largest step of the target outside; runs of dimensions joined. */
static void dispatch_simplify(dispatch_moves* m) {
    int d, e = 0;
    for (d = 0; d < m->ndim; d++)
        if (m->sizes[d] != 1) {
            int64_t size = m->sizes[d], to = m->to[d], from = m->from[d];
            int k = e++;
            while (k > 0 && (dispatch_abs(m->to[k - 1]) < dispatch_abs(to)
                             || (dispatch_abs(m->to[k - 1]) == dispatch_abs(to)
                                 && dispatch_abs(m->from[k - 1]) < dispatch_abs(from)))) {
                m->sizes[k] = m->sizes[k - 1]; m->to[k] = m->to[k - 1]; m->from[k] = m->from[k - 1];
                k--;
            }
            m->sizes[k] = size; m->to[k] = to; m->from[k] = from;
        }
    m->ndim = e;
    if (e < 2) return;
    e = 0;
    for (d = 1; d < m->ndim; d++) {
        if (m->to[e] == m->to[d] * m->sizes[d] && m->from[e] == m->from[d] * m->sizes[d]) {
            m->sizes[d] *= m->sizes[e];
            m->sizes[e] = m->sizes[d]; m->to[e] = m->to[d]; m->from[e] = m->from[d];
        } else {
            e++;
            m->sizes[e] = m->sizes[d]; m->to[e] = m->to[d]; m->from[e] = m->from[d];
        }
    }
    m->ndim = e + 1;
}

/* The dimension along which the source lies closest, if that is not the innermost and blocks pay; else -1. */
static int dispatch_other_order(const dispatch_moves* m) {
    int d, best = m->ndim - 1;
    for (d = 0; d < m->ndim; d++)
        if (m->from[d] && (!m->from[best] || dispatch_abs(m->from[d]) < dispatch_abs(m->from[best]))) best = d;
    if (best == m->ndim - 1 || m->from[m->ndim - 1] == 0 || m->sizes[best] < 4 || m->sizes[m->ndim - 1] < 4) return -1;
    return dispatch_abs(m->from[m->ndim - 1]) >= 64 ? best : -1;
}

/* ---- two dimensions whose memory orders differ

   Rows of the source are read 16 side by side, so that lines of the cache that were read from are used up; elements of 4 and 8
   bytes are transposed in registers. */
enum { DISPATCH_BLOCK = 16 };

typedef uint32_t dispatch_4x4 __attribute__((vector_size(16)));
typedef uint32_t dispatch_4x4_loose __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t dispatch_2x8 __attribute__((vector_size(16)));
typedef uint64_t dispatch_2x8_loose __attribute__((vector_size(16), aligned(1), may_alias));

/* to[k][i] = from[i][k] for 4 by 4 elements of 4 bytes: rows of the target are `a` bytes apart, of the source `b` */
static inline void dispatch_tile_4(char* to, const char* from, int64_t a, int64_t b) {
    const dispatch_4x4 r0 = *(const dispatch_4x4_loose*)from, r1 = *(const dispatch_4x4_loose*)(from + b);
    const dispatch_4x4 r2 = *(const dispatch_4x4_loose*)(from + 2 * b), r3 = *(const dispatch_4x4_loose*)(from + 3 * b);
    const dispatch_4x4 low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, left = {0, 1, 4, 5}, right = {2, 3, 6, 7};
    const dispatch_4x4 w = __builtin_shuffle(r0, r1, low), x = __builtin_shuffle(r0, r1, high);
    const dispatch_4x4 y = __builtin_shuffle(r2, r3, low), z = __builtin_shuffle(r2, r3, high);
    *(dispatch_4x4_loose*)to = __builtin_shuffle(w, y, left);
    *(dispatch_4x4_loose*)(to + a) = __builtin_shuffle(w, y, right);
    *(dispatch_4x4_loose*)(to + 2 * a) = __builtin_shuffle(x, z, left);
    *(dispatch_4x4_loose*)(to + 3 * a) = __builtin_shuffle(x, z, right);
}

/* The same for 2 by 2 elements of 8 bytes. */
static inline void dispatch_tile_8(char* to, const char* from, int64_t a, int64_t b) {
    const dispatch_2x8 r0 = *(const dispatch_2x8_loose*)from, r1 = *(const dispatch_2x8_loose*)(from + b);
    const dispatch_2x8 left = {0, 2}, right = {1, 3};
    *(dispatch_2x8_loose*)to = __builtin_shuffle(r0, r1, left);
    *(dispatch_2x8_loose*)(to + a) = __builtin_shuffle(r0, r1, right);
}

/* `n` rows of the source (a multiple of 4), `m` of the target. */
static void dispatch_tiles(char* to, const char* from, int64_t m, int64_t a, int64_t n, int64_t b, int bytes) {
    const int64_t side = bytes == 4 ? 4 : 2;
    int64_t i, k;
    for (k = 0; k + side <= m; k += side)
        for (i = 0; i < n; i += side) {
            char* t = to + k * a + i * bytes;
            const char* f = from + i * b + k * bytes;
            if (bytes == 4) dispatch_tile_4(t, f, a, b);
            else dispatch_tile_8(t, f, a, b);
        }
    for (; k < m; k++)
        (bytes == 4 ? dispatch_copy_4 : dispatch_copy_8)(from + k * bytes, b, to + k * a, bytes, n);
}

static void dispatch_plane(char* to, const char* from, int64_t outer, int64_t to_outer, int64_t from_outer, int64_t inner,
                           int64_t to_inner, int64_t from_inner, dispatch_run run) {
    const int bytes = run == dispatch_copy_4 ? 4 : run == dispatch_copy_8 ? 8 : 0;
    const int tiled = bytes && to_inner == bytes && from_outer == bytes;
    int64_t i, k;
    for (i = 0; i < inner; i += DISPATCH_BLOCK) {
        const int64_t n = inner - i < DISPATCH_BLOCK ? inner - i : DISPATCH_BLOCK;
        char* t = to + i * to_inner;
        const char* f = from + i * from_inner;
        if (tiled && n % 4 == 0) dispatch_tiles(t, f, outer, to_outer, n, from_inner, bytes);
        else for (k = 0; k < outer; k++) run(f + k * from_outer, from_inner, t + k * to_outer, to_inner, n);
    }
}

/* The two innermost dimensions; where rows would be short, columns, in pieces that stay in the cache. */
static void dispatch_rows(const dispatch_moves* m, char* to, const char* from, dispatch_run run) {
    const int inner = m->ndim - 1, last = inner - 1;
    const int64_t n = m->sizes[inner], rows = m->sizes[last], bytes = m->to[inner];
    int64_t k, i;
    if (bytes == m->from[inner] && bytes > 0 && n <= 64 && run == dispatch_copier(bytes) && dispatch_copier(n * bytes))
        dispatch_copier(n * bytes)(from, m->from[last], to, m->to[last], rows);
    else if (n < 8 && rows > n)
        for (k = 0; k < rows; k += 1024)
            for (i = 0; i < n; i++)
                run(from + k * m->from[last] + i * m->from[inner], m->from[last],
                    to + k * m->to[last] + i * m->to[inner], m->to[last], rows - k < 1024 ? rows - k : 1024);
    else
        for (k = 0; k < rows; k++)
            run(from + k * m->from[last], m->from[inner], to + k * m->to[last], m->to[inner], n);
}

/* All elements. `m` is simplified in place; the caller has made sure that every one lies in memory. */
static void dispatch_move(dispatch_moves* m, char* to, const char* from, dispatch_run run) {
    int64_t at[64];
    int d, inner, plane, last;
    for (d = 0; d < m->ndim; d++)
        if (m->sizes[d] == 0) return;
    dispatch_simplify(m);
    if (m->ndim == 0) { run(from, 0, to, 0, 1); return; }
    inner = m->ndim - 1;
    if (inner == 0) { run(from, m->from[0], to, m->to[0], m->sizes[0]); return; }
    plane = dispatch_other_order(m);
    last = inner - 1;
    if (plane >= 0 && plane != last) {          /* the two dimensions of the blocks innermost */
        const int64_t size = m->sizes[plane], a = m->to[plane], b = m->from[plane];
        for (d = plane; d < last; d++) { m->sizes[d] = m->sizes[d + 1]; m->to[d] = m->to[d + 1]; m->from[d] = m->from[d + 1]; }
        m->sizes[last] = size; m->to[last] = a; m->from[last] = b;
    }
    for (d = 0; d < last; d++) at[d] = 0;
    for (;;) {
        if (plane >= 0)
            dispatch_plane(to, from, m->sizes[last], m->to[last], m->from[last], m->sizes[inner], m->to[inner], m->from[inner],
                           run);
        else dispatch_rows(m, to, from, run);
        for (d = last - 1; d >= 0; d--) {
            to += m->to[d]; from += m->from[d];
            if (++at[d] < m->sizes[d]) break;
            to -= m->to[d] * m->sizes[d]; from -= m->from[d] * m->sizes[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}
#endif
