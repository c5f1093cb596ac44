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
DISPATCH_COPY_RUN(dispatch_u128, 128)
DISPATCH_COPY_RUN(dispatch_u256, 256)

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
    case 128: return dispatch_copy_128;
    case 256: return dispatch_copy_256;
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

   Blocks of the source's rows: a line of its cache by as many rows as fill one of the target's, or 16. Elements of 1 to 8 bytes
   are transposed in registers, 16 bytes of each row: interleaved with those that lie half a tile below, until each element is
   where it belongs. Small elements, and rows that all meet in one place of the cache, are collected near by before they are
   written line by line, unless the target's rows are that near each other. */
enum { DISPATCH_LINE = 64, DISPATCH_ROW = 16, DISPATCH_BLOCK = 16, DISPATCH_MEET = 1024 };

#define DISPATCH_INTERLEAVED_1(f) {f, f + 16, f + 1, f + 17, f + 2, f + 18, f + 3, f + 19, f + 4, f + 20, f + 5, f + 21, f + 6, \
                                   f + 22, f + 7, f + 23}
#define DISPATCH_INTERLEAVED_2(f) {f, f + 8, f + 1, f + 9, f + 2, f + 10, f + 3, f + 11}
#define DISPATCH_INTERLEAVED_4(f) {f, f + 4, f + 1, f + 5}
#define DISPATCH_INTERLEAVED_8(f) {f, f + 2}

/* to[k][i] = from[i][k] for a tile of 16 bytes by as many rows: rows of the target are `a` bytes apart, of the source `b`. */
#define DISPATCH_TILE(T, bytes) \
    typedef T dispatch_row_##bytes __attribute__((vector_size(16))); \
    typedef T dispatch_row_##bytes##_loose __attribute__((vector_size(16), aligned(1), may_alias)); \
    static inline void dispatch_tile_##bytes(char* to, const char* from, int64_t a, int64_t b) { \
        enum { SIDE = DISPATCH_ROW / bytes, HALF = SIDE / 2 }; \
        const dispatch_row_##bytes low = DISPATCH_INTERLEAVED_##bytes(0), high = DISPATCH_INTERLEAVED_##bytes(HALF); \
        dispatch_row_##bytes rows[SIDE], mixed[SIDE]; \
        int i, round; \
        for (i = 0; i < SIDE; i++) rows[i] = *(const dispatch_row_##bytes##_loose*)(from + i * b); \
        for (round = 1; round < SIDE; round *= 2) { \
            for (i = 0; i < HALF; i++) { \
                mixed[2 * i] = __builtin_shuffle(rows[i], rows[i + HALF], low); \
                mixed[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + HALF], high); \
            } \
            for (i = 0; i < SIDE; i++) rows[i] = mixed[i]; \
        } \
        for (i = 0; i < SIDE; i++) *(dispatch_row_##bytes##_loose*)(to + i * a) = rows[i]; \
    } \
    /* `n` rows of the source and `m` of the target, at least a tile of both: the last blocks and tiles lie over those before. */ \
    DISPATCH_VECTOR \
    static void dispatch_transpose_##bytes(char* to, const char* from, int64_t m, int64_t a, int64_t n, int64_t b) { \
        enum { SIDE = DISPATCH_ROW / bytes, HIGH = DISPATCH_LINE / bytes, WIDE = HIGH < DISPATCH_BLOCK ? DISPATCH_BLOCK : HIGH }; \
        char block[HIGH][WIDE * bytes] __attribute__((aligned(DISPATCH_LINE))); \
        const int near = bytes < 4 || (a > WIDE * bytes && (a % DISPATCH_MEET == 0 || b % DISPATCH_MEET == 0)); \
        const int64_t step = near ? WIDE * bytes : a, high = m < HIGH ? m : HIGH, wide = n < WIDE ? n : WIDE; \
        int64_t i, k, row, column; \
        for (i = 0; i < n; i += wide) { \
            if (i + wide > n) i = n - wide; \
            for (k = 0; k < m; k += high) { \
                const char* f; \
                char* t; \
                if (k + high > m) k = m - high; \
                f = from + i * b + k * bytes; \
                t = to + k * a + i * bytes; \
                for (row = 0; row < wide; row += SIDE) { \
                    if (row + SIDE > wide) row = wide - SIDE; \
                    for (column = 0; column < high; column += SIDE) { \
                        if (column + SIDE > high) column = high - SIDE; \
                        dispatch_tile_##bytes((near ? block[0] : t) + column * step + row * bytes, f + row * b + column * bytes, \
                                              step, b); \
                    } \
                } \
                for (row = 0; near && row < high; row++) \
                    if (wide == WIDE) memcpy(t + row * a, block[row], WIDE * bytes); \
                    else memcpy(t + row * a, block[row], wide * bytes); \
            } \
        } \
    }
DISPATCH_TILE(uint8_t, 1)
DISPATCH_TILE(uint16_t, 2)
DISPATCH_TILE(uint32_t, 4)
DISPATCH_TILE(uint64_t, 8)

static void dispatch_plane(char* to, const char* from, int64_t outer, int64_t to_outer, int64_t from_outer, int64_t inner,
                           int64_t to_inner, int64_t from_inner, dispatch_run run) {
    const int64_t bytes = to_inner, side = bytes > 0 ? DISPATCH_ROW / bytes : 0;
    int64_t i, k;
    if (bytes > 0 && bytes <= 8 && from_outer == bytes && run == dispatch_copier(bytes) && outer >= side && inner >= side) {
        (bytes == 1 ? dispatch_transpose_1 : bytes == 2 ? dispatch_transpose_2 : bytes == 4 ? dispatch_transpose_4
                                                                                           : dispatch_transpose_8)(
            to, from, outer, to_outer, inner, from_inner);
        return;
    }
    for (i = 0; i < inner; i += DISPATCH_BLOCK) {
        const int64_t n = inner - i < DISPATCH_BLOCK ? inner - i : DISPATCH_BLOCK;
        char* t = to + i * to_inner;
        const char* f = from + i * from_inner;
        for (k = 0; k < outer; k++) run(f + k * from_outer, from_inner, t + k * to_outer, to_inner, n);
    }
}

/* Bytes that share no memory, without a call where they are few: the last ones lie over those before. */
static inline __attribute__((always_inline)) void dispatch_copy_bytes(char* to, const char* from, int64_t n) {
    int64_t i;
    if (n > 2 * DISPATCH_LINE) memcpy(to, from, n);
    else if (n >= DISPATCH_ROW) {
        for (i = 0; i < n; i += DISPATCH_ROW) {
            const int64_t at = i + DISPATCH_ROW <= n ? i : n - DISPATCH_ROW;
            *(dispatch_row_1_loose*)(to + at) = *(const dispatch_row_1_loose*)(from + at);
        }
    } else if (n >= 8) {
        const uint64_t first = *(const dispatch_u8*)from, last = *(const dispatch_u8*)(from + n - 8);
        *(dispatch_u8*)to = first; *(dispatch_u8*)(to + n - 8) = last;
    } else if (n >= 4) {
        const uint32_t first = *(const dispatch_u4*)from, last = *(const dispatch_u4*)(from + n - 4);
        *(dispatch_u4*)to = first; *(dispatch_u4*)(to + n - 4) = last;
    } else for (i = 0; i < n; i++) to[i] = from[i];
}

/* The two innermost dimensions; where rows would be short, columns, in pieces that stay in the cache. */
static void dispatch_rows(const dispatch_moves* m, char* to, const char* from, dispatch_run run) {
    const int inner = m->ndim - 1, last = inner - 1;
    const int64_t n = m->sizes[inner], rows = m->sizes[last], bytes = m->to[inner];
    int64_t k, i;
    if (bytes == m->from[inner] && bytes > 0 && n <= 64 && run == dispatch_copier(bytes) && dispatch_copier(n * bytes))
        dispatch_copier(n * bytes)(from, m->from[last], to, m->to[last], rows);
    else if (bytes == m->from[inner] && bytes > 0 && run == dispatch_copier(bytes))
        for (k = 0; k < rows; k++) dispatch_copy_bytes(to + k * m->to[last], from + k * m->from[last], n * bytes);
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
