/* Loops over elements and slices that indices name: read, written, added up or reduced where they lie.

   The dense side has one place after the other, `step` bytes apart. No Python, no allocation. */
#ifndef DISPATCH_INDEX_LOOPS_H
#define DISPATCH_INDEX_LOOPS_H
#include "../copy/strided.h"
#include "../rows.h"

/* One element for each place: `scale` bytes an index, and `along` for each that went before. Indices that are not below `size`
   count as 0; whether there was one is the result. Places that somebody has made and checked are bytes: DISPATCH_PLACES. */
typedef struct { int64_t step, scale, along; uint64_t size; } dispatch_steps;
typedef int (*dispatch_spread)(char* indexed, char* dense, const int64_t* at, int64_t n, const dispatch_steps* by);

#define DISPATCH_PLACES(step) (const dispatch_steps){step, 1, 0, UINT64_MAX}
#define DISPATCH_FOR_PLACES(STEP, SCALE, ALONG, BODY) \
    for (i = 0; i < n; i++) { \
        uint64_t x = ((const dispatch_u8*)at)[i]; \
        char* place; \
        if (__builtin_expect(x >= size, 0)) { x = 0; bad = 1; } \
        place = indexed + i * (ALONG) + (int64_t)x * (SCALE); \
        BODY; \
        dense += STEP; \
    }
#define DISPATCH_FOR_CHECKED(STEP, BODY) \
    _Pragma("GCC unroll 4") \
    for (i = 0; i < n; i++, dense += STEP) { \
        char* place = indexed + at[i]; \
        BODY; \
    }
/* Rows without gaps, of which elements are near, are the most common ones. */
#define DISPATCH_AT_PLACES(name, bytes, BODY) \
    static int dispatch_##name(char* indexed, char* dense, const int64_t* at, int64_t n, const dispatch_steps* by) { \
        const int64_t step = by->step, scale = by->scale, along = by->along; \
        const uint64_t size = by->size; \
        int64_t i; \
        int bad = 0; \
        if (size == UINT64_MAX && step == bytes && scale == 1 && along == 0) DISPATCH_FOR_CHECKED(bytes, BODY) \
        else if (step == bytes && scale == bytes && along == 0) DISPATCH_FOR_PLACES(bytes, bytes, 0, BODY) \
        else DISPATCH_FOR_PLACES(step, scale, along, BODY) \
        return bad; \
    }

#define DISPATCH_SPREAD(T, bytes) \
    DISPATCH_AT_PLACES(read_##bytes, bytes, *(T*)dense = *(const T*)place) \
    DISPATCH_AT_PLACES(write_##bytes, bytes, *(T*)place = *(const T*)dense)
DISPATCH_SPREAD(dispatch_u1, 1)
DISPATCH_SPREAD(dispatch_u2, 2)
DISPATCH_SPREAD(dispatch_u4, 4)
DISPATCH_SPREAD(dispatch_u8, 8)
DISPATCH_SPREAD(dispatch_u16, 16)

static dispatch_spread dispatch_reader(int bytes) {
    return bytes == 1 ? dispatch_read_1 : bytes == 2 ? dispatch_read_2 : bytes == 4 ? dispatch_read_4
         : bytes == 8 ? dispatch_read_8 : dispatch_read_16;
}
static dispatch_spread dispatch_writer(int bytes) {
    return bytes == 1 ? dispatch_write_1 : bytes == 2 ? dispatch_write_2 : bytes == 4 ? dispatch_write_4
         : bytes == 8 ? dispatch_write_8 : dispatch_write_16;
}

/* ---- reductions: w, which is there, with v, which arrives; each result is rounded to the dtype */

#define DISPATCH_REDUCE(S, name, STEP) \
    DISPATCH_VECTOR \
    static void dispatch_##name##_run_##S(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        const int64_t bytes = dispatch_bytes_##S; \
        int64_t i; \
        if (a == bytes && b == bytes) \
            for (i = 0; i < n; i++) { \
                dispatch_v_##S w = dispatch_load_##S(to + i * bytes); \
                const dispatch_v_##S v = dispatch_load_##S(from + i * bytes); \
                STEP; \
                dispatch_store_##S(to + i * bytes, w); \
            } \
        else for (i = 0; i < n; i++) { \
            dispatch_v_##S w = dispatch_load_##S(to + i * a); \
            const dispatch_v_##S v = dispatch_load_##S(from + i * b); \
            STEP; \
            dispatch_store_##S(to + i * a, w); \
        } \
    } \
    DISPATCH_AT_PLACES(name##_##S, dispatch_bytes_##S, dispatch_v_##S w = dispatch_load_##S(place); \
                       const dispatch_v_##S v = dispatch_load_##S(dense); STEP; dispatch_store_##S(place, w))
#define DISPATCH_REDUCE_INTEGER(S, code, bytes, V) \
    DISPATCH_REDUCE(S, add, w = (V)((uint64_t)w + (uint64_t)v)) DISPATCH_REDUCE(S, mul, w = (V)((uint64_t)w * (uint64_t)v)) \
    DISPATCH_REDUCE(S, max, w = v > w ? v : w) DISPATCH_REDUCE(S, min, w = v < w ? v : w)
#define DISPATCH_REDUCE_FLOAT(S, code, bytes, V) \
    DISPATCH_REDUCE(S, add, w += v) DISPATCH_REDUCE(S, mul, w *= v) \
    DISPATCH_REDUCE(S, max, w = (v > w) | (v != v) ? v : w) DISPATCH_REDUCE(S, min, w = (v < w) | (v != v) ? v : w)
#define DISPATCH_REDUCE_COMPLEX(S, code, bytes, V) \
    DISPATCH_REDUCE(S, add, (w.re += v.re, w.im += v.im)) \
    DISPATCH_REDUCE(S, mul, (w = (V){w.re * v.re - w.im * v.im, w.re * v.im + w.im * v.re}))
DISPATCH_INTEGERS(DISPATCH_REDUCE_INTEGER)
DISPATCH_FLOATS(DISPATCH_REDUCE_FLOAT)
DISPATCH_COMPLEX(DISPATCH_REDUCE_COMPLEX)
DISPATCH_REDUCE(b1, add, w |= v)
DISPATCH_REDUCE(b1, mul, w &= v)
DISPATCH_REDUCE(b1, max, w |= v)
DISPATCH_REDUCE(b1, min, w &= v)

enum { DISPATCH_ADD, DISPATCH_MUL, DISPATCH_MAX, DISPATCH_MIN };

/* Rows of float16 without gaps are converted in vectors: how many of n elements were. */
#ifdef CONVERTS_16
CONVERTS_16 static intptr_t dispatch_add_vectors(const char* from, char* to, intptr_t n) {
    intptr_t i = 0;
    for (; i + 16 <= n; i += 16)
        PUT_FLOATS_f16(_mm512_add_ps(FLOATS_OF_f16(to + 2 * i), FLOATS_OF_f16(from + 2 * i)), to + 2 * i);
    return i;
}
#endif
static void dispatch_add_halves(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) {
    enum { AT_ONCE = 512, FEW = 8, FLOAT16 = 5 };
    float x[AT_ONCE], sums[AT_ONCE];
    intptr_t done = 0, i;
    if (a != 2 || b != 2) { dispatch_add_run_f16(from, b, to, a, n); return; }
#ifdef CONVERTS_16
    if (__builtin_cpu_supports("avx512f")) done = dispatch_add_vectors(from, to, n);
#endif
    if (n - done < FEW) { dispatch_add_run_f16(from + 2 * done, b, to + 2 * done, a, n - done); return; }
    for (; done < n; done += AT_ONCE) {
        const intptr_t m = n - done < AT_ONCE ? n - done : AT_ONCE;
        ROW_KINDS[FLOAT16].read(from + 2 * done, 2, m, x);
        ROW_KINDS[FLOAT16].read(to + 2 * done, 2, m, sums);
        for (i = 0; i < m; i++) sums[i] += x[i];
        ROW_KINDS[FLOAT16].write(sums, to + 2 * done, 2, m);
    }
}

/* False: there is none for the dtype. */
static int dispatch_any_reducer(int op, int code, dispatch_run* run, dispatch_spread* spread) {
#define DISPATCH_REDUCER_ROW(S, number, bytes, V) \
    case number: \
        *run = op == DISPATCH_ADD ? dispatch_add_run_##S : op == DISPATCH_MUL ? dispatch_mul_run_##S \
             : op == DISPATCH_MAX ? dispatch_max_run_##S : dispatch_min_run_##S; \
        *spread = op == DISPATCH_ADD ? dispatch_add_##S : op == DISPATCH_MUL ? dispatch_mul_##S \
                : op == DISPATCH_MAX ? dispatch_max_##S : dispatch_min_##S; \
        return 1;
#define DISPATCH_REDUCER_COMPLEX(S, number, bytes, V) \
    case number: \
        if (op > DISPATCH_MUL) return 0; \
        *run = op == DISPATCH_ADD ? dispatch_add_run_##S : dispatch_mul_run_##S; \
        *spread = op == DISPATCH_ADD ? dispatch_add_##S : dispatch_mul_##S; \
        return 1;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_REDUCER_ROW)
    DISPATCH_FLOATS(DISPATCH_REDUCER_ROW)
    DISPATCH_BOOL(DISPATCH_REDUCER_ROW)
    DISPATCH_COMPLEX(DISPATCH_REDUCER_COMPLEX)
    }
    return 0;
}

static int dispatch_reducer(int op, int code, dispatch_run* run, dispatch_spread* spread) {
    const int found = dispatch_any_reducer(op, code, run, spread);
    if (found && *run == dispatch_add_run_f16) *run = dispatch_add_halves;
    return found;
}

/* float32 added to a float of 16 bits, rounded after each step. */
#define DISPATCH_ADD_WIDE(S) \
    static void dispatch_wide_run_##S(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) \
            dispatch_store_##S(to + i * a, dispatch_load_##S(to + i * a) + dispatch_load_f32(from + i * b)); \
    } \
    DISPATCH_AT_PLACES(wide_##S, dispatch_bytes_##S, dispatch_store_##S(place, dispatch_load_##S(place) + dispatch_load_f32(dense)))
DISPATCH_ADD_WIDE(f16)
DISPATCH_ADD_WIDE(bf16)

static void dispatch_wide_adder(int code, dispatch_run* run, dispatch_spread* spread) {
    *run = code == 5 ? dispatch_wide_run_f16 : dispatch_wide_run_bf16;
    *spread = code == 5 ? dispatch_wide_f16 : dispatch_wide_bf16;
}

/* ---- slices */

typedef struct {
    int64_t n;
    const int64_t* at;
    const int64_t* dense;        /* likewise of the dense side; NULL: `step` apart */
    int64_t step;
    dispatch_moves outer;        /* `to` and `from` as the run takes them */
    dispatch_moves inner;        /* simplified: each place's slice */
    int reads;                   /* the dense side is the target */
    int copied;                  /* bytes of an element that is copied; 0: something else is done */
} dispatch_slices;

static void dispatch_slice(const dispatch_moves* m, char* to, const char* from, dispatch_run run) {
    int64_t at[64];
    int d, inner = m->ndim - 1;
    if (m->ndim == 0) { run(from, 0, to, 0, 1); return; }
    for (d = 0; d < inner; d++) at[d] = 0;
    for (;;) {
        run(from, m->from[inner], to, m->to[inner], m->sizes[inner]);
        for (d = inner - 1; d >= 0; d--) {
            to += m->to[d]; from += m->from[d];
            if (++at[d] < m->sizes[d]) break;
            to -= m->to[d] * m->sizes[d]; from -= m->from[d] * m->sizes[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

/* Dimensions that are not indexed, in `outer`, are split: those that lie closer than the places do are each place's slice. What is
   filled with one number has places on the indexed side only. */
static void dispatch_split(dispatch_slices* s) {
    dispatch_moves* o = &s->outer;
    const int is_filled = !s->dense && !s->reads && s->step == 0;
    int64_t apart = dispatch_abs(s->step), k;
    int d, e = 0;
    for (k = 0; is_filled && k < s->n; k++) apart = s->at[k] >= apart ? s->at[k] + 1 : apart;
    dispatch_simplify(o);
    s->inner.ndim = 0;
    for (d = 0; d < o->ndim; d++) {
        const int64_t near = dispatch_abs(s->reads || is_filled ? o->to[d] : o->from[d]);
        if (s->dense || near < apart || s->n == 1 || (s->step == 0 && !is_filled)) {
            const int k = s->inner.ndim++;
            s->inner.sizes[k] = o->sizes[d]; s->inner.to[k] = o->to[d]; s->inner.from[k] = o->from[d];
        } else {
            o->sizes[e] = o->sizes[d]; o->to[e] = o->to[d]; o->from[e] = o->from[d];
            e++;
        }
    }
    o->ndim = e;
}

static void dispatch_run_slices(const dispatch_slices* s, char* indexed, char* dense, dispatch_run run, dispatch_spread spread) {
    const dispatch_moves* o = &s->outer;
    const dispatch_steps by = DISPATCH_PLACES(s->step);
    const int64_t bytes = s->copied;
    const int copies = bytes && s->inner.ndim == 1 && s->inner.to[0] == bytes && s->inner.from[0] == bytes;
    int64_t at[64], k;
    int d;
    for (d = 0; d < o->ndim; d++) at[d] = 0;
    for (;;) {
        if (s->inner.ndim == 0 && !s->dense) spread(indexed, dense, s->at, s->n, &by);
        else
            for (k = 0; k < s->n; k++) {
                char* a = indexed + s->at[k];
                char* b = dense + (s->dense ? s->dense[k] : k * s->step);
                if (copies) dispatch_copy_bytes(s->reads ? b : a, s->reads ? a : b, s->inner.sizes[0] * bytes);
                else if (s->reads) dispatch_slice(&s->inner, b, a, run);
                else dispatch_slice(&s->inner, a, b, run);
            }
        for (d = o->ndim - 1; d >= 0; d--) {
            const int64_t a = s->reads ? o->from[d] : o->to[d], b = s->reads ? o->to[d] : o->from[d];
            indexed += a; dense += b;
            if (++at[d] < o->sizes[d]) break;
            indexed -= a * o->sizes[d]; dense -= b * o->sizes[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

/* ---- indices into places */

/* The first of `n` numbers that is not in [low, size); n: none. */
DISPATCH_VECTOR
static int64_t dispatch_find_outside(const int64_t* index, int64_t n, int64_t low, int64_t size) {
    int64_t i, signs = 0;
    for (i = 0; i < n; i++) signs |= (index[i] - low) | (size - 1 - index[i]);
    if (signs >= 0) return n;
    for (i = 0; i < n; i++)
        if (index[i] < low || index[i] >= size) return i;
    return n;
}

/* places += index * step; negative indices count from the end. */
static void dispatch_add_places(int64_t* places, const int64_t* index, int64_t n, int64_t size, int64_t step) {
    int64_t i;
    for (i = 0; i < n; i++) places[i] += (index[i] < 0 ? index[i] + size : index[i]) * step;
}

/* Elements counted as in one dimension, in place, into places of a tensor of any strides. */
DISPATCH_VECTOR
static void dispatch_flat_places(int64_t* places, int64_t n, int64_t numel, int ndim, const int64_t* sizes, const int64_t* steps) {
    int64_t i, joined = ndim ? steps[ndim - 1] : 0;
    int d;
    for (d = ndim - 1; d > 0; d--)
        if (steps[d - 1] != steps[d] * sizes[d]) joined = 0;
    if (joined) {
        for (i = 0; i < n; i++) places[i] = (places[i] < 0 ? places[i] + numel : places[i]) * joined;
        return;
    }
    for (i = 0; i < n; i++) {
        int64_t rest = places[i] < 0 ? places[i] + numel : places[i], place = 0;
        for (d = ndim - 1; d >= 0; d--) {
            place += rest % sizes[d] * steps[d];
            rest /= sizes[d];
        }
        places[i] = place;
    }
}

enum { DISPATCH_CHUNK = 512 };

/* Elements that numbers name, counted as in one dimension. How many were read: fewer than n where a number is out of range. */
static int64_t dispatch_take(char* to, int64_t bytes, char* from, const int64_t* index, int64_t n, int64_t numel, int ndim,
                             const int64_t* sizes, const int64_t* steps, dispatch_spread read) {
    const dispatch_steps by = DISPATCH_PLACES(bytes);
    int64_t places[DISPATCH_CHUNK], i;
    for (i = 0; i < n; i += DISPATCH_CHUNK) {
        const int64_t m = n - i < DISPATCH_CHUNK ? n - i : DISPATCH_CHUNK;
        int64_t good;
        memcpy(places, index + i, m * 8);
        good = dispatch_find_outside(places, m, -numel, numel);
        if (good < m) return i + good;
        dispatch_flat_places(places, m, numel, ndim, sizes, steps);
        read(from, to + i * bytes, places, m, &by);
    }
    return n;
}

/* ---- along one dimension: an index for each element */

typedef struct {
    int ndim, inner;             /* dimensions of the index; the one along which rows are walked */
    int wide;                    /* indices of 8 bytes, else of 4 */
    int64_t sizes[64];
    int64_t index[64];           /* steps of the index, of the indexed side (0 along the dimension that is indexed), of the other */
    int64_t indexed[64];
    int64_t dense[64];
    int64_t size, step;          /* of the indexed side along that dimension */
} dispatch_along;

static inline int64_t dispatch_index_at(const char* p, int wide) {
    return wide ? (int64_t)*(const dispatch_u8*)p : (int64_t)(int32_t)*(const dispatch_u4*)p;
}

/* The first of `n` indices that is out of range goes to `wrong`: whether there is one. */
DISPATCH_VECTOR
static int dispatch_find_wrong(const char* index, int64_t n, int64_t by, int wide, int64_t size, int64_t* wrong) {
    int64_t signs = 0, i;
    if (wide)
        for (i = 0; i < n; i++) {
            const int64_t x = *(const dispatch_u8*)(index + i * by);
            signs |= x | (size - 1 - x);
        }
    else
        for (i = 0; i < n; i++) {
            const int64_t x = (int32_t)*(const dispatch_u4*)(index + i * by);
            signs |= x | (size - 1 - x);
        }
    if (signs < 0)
        for (i = 0; i < n; i++) {
            const int64_t x = dispatch_index_at(index + i * by, wide);
            if (x < 0 || x >= size) { *wrong = x; return 1; }
        }
    return 0;
}

/* One row after the other; `spread`, if any, gets each chunk of indices, as they lie or copied. With `wrong`, the first index of
   a chunk that is out of range goes there, and 1 is returned; else, and if another thread put it right meanwhile, it counts as
   0. */
static int dispatch_walk_along(const dispatch_along* w, const char* index, char* indexed, char* dense, dispatch_spread spread,
                               int64_t* wrong) {
    const int e = w->inner;
    const int64_t by = w->index[e], along = w->indexed[e];
    const dispatch_steps steps = {w->dense[e], w->step, along, (uint64_t)w->size};
    int64_t at[64], copied[DISPATCH_CHUNK], i, k;
    int d;
    for (d = 0; d < w->ndim; d++) {
        if (w->sizes[d] == 0) return 0;
        at[d] = 0;
    }
    for (;;) {
        for (i = 0; i < w->sizes[e]; i += DISPATCH_CHUNK) {
            const int64_t n = w->sizes[e] - i < DISPATCH_CHUNK ? w->sizes[e] - i : DISPATCH_CHUNK;
            const char* p = index + i * by;
            const int64_t* indices = (const int64_t*)p;
            if (spread && !(w->wide && by == 8)) {
                for (k = 0; k < n; k++) copied[k] = dispatch_index_at(p + k * by, w->wide);
                indices = copied;
            }
            if (spread ? spread(indexed + i * along, dense + i * steps.step, indices, n, &steps) : wrong != NULL)
                if (wrong && dispatch_find_wrong(p, n, by, w->wide, w->size, wrong)) return 1;
        }
        for (d = w->ndim - 1; d >= 0; d--) {
            if (d == e) continue;
            index += w->index[d]; indexed += w->indexed[d]; dense += w->dense[d];
            if (++at[d] < w->sizes[d]) break;
            index -= w->index[d] * w->sizes[d]; indexed -= w->indexed[d] * w->sizes[d]; dense -= w->dense[d] * w->sizes[d];
            at[d] = 0;
        }
        if (d < 0) return 0;
    }
}

/* ---- masks */

/* How many of `n` bytes are not 0. */
DISPATCH_VECTOR
static int64_t dispatch_count_true(const char* mask, int64_t n) {
    int64_t total = 0, i = 0;
    while (i < n) {
        const int64_t end = n - i < 255 ? n : i + 255;
        uint8_t part = 0;
        for (; i < end; i++) part += mask[i] != 0;
        total += part;
    }
    return total;
}

/* Places of the true elements of a contiguous mask of the sizes given, at most `room`; how many. */
static int64_t dispatch_true_places(int64_t* places, int64_t room, const char* mask, int ndim, const int64_t* sizes,
                                    const int64_t* steps) {
    int64_t at[64], base = 0, found = 0, i;
    int d;
    if (ndim == 0) {
        if (*mask && room) places[found++] = 0;
        return found;
    }
    for (d = 0; d < ndim; d++) {
        if (sizes[d] == 0) return 0;
        at[d] = 0;
    }
    for (;;) {
        const int64_t n = sizes[ndim - 1], step = steps[ndim - 1];
        if (found + n <= room)
            for (i = 0; i < n; i++) {
                places[found] = base + i * step;
                found += mask[i] != 0;
            }
        else
            for (i = 0; i < n; i++)
                if (mask[i]) {
                    if (found == room) return found;
                    places[found++] = base + i * step;
                }
        mask += n;
        for (d = ndim - 2; d >= 0; d--) {
            base += steps[d];
            if (++at[d] < sizes[d]) break;
            base -= steps[d] * sizes[d];
            at[d] = 0;
        }
        if (d < 0) return found;
    }
}

/* One row: a value where the mask is true. */
typedef void (*dispatch_mask_run)(char* to, const char* mask, int64_t n, int64_t a, int64_t b, const char* value);
#define DISPATCH_MASK_FILL(T, bytes) \
    DISPATCH_VECTOR \
    static void dispatch_mask_fill_##bytes(char* to, const char* mask, int64_t n, int64_t a, int64_t b, const char* value) { \
        const T v = *(const T*)value; \
        int64_t i; \
        if (a == bytes && b == 1) for (i = 0; i < n; i++) ((T*)to)[i] = mask[i] ? v : ((T*)to)[i]; \
        else for (i = 0; i < n; i++) if (mask[i * b]) *(T*)(to + i * a) = v; \
    }
DISPATCH_MASK_FILL(dispatch_u1, 1)
DISPATCH_MASK_FILL(dispatch_u2, 2)
DISPATCH_MASK_FILL(dispatch_u4, 4)
DISPATCH_MASK_FILL(dispatch_u8, 8)
DISPATCH_MASK_FILL(dispatch_u16, 16)

/* `m` is simplified in place: the target is `to`, the mask `from`. */
static void dispatch_fill_where(dispatch_moves* m, char* to, const char* mask, int bytes, const char* value) {
    const dispatch_mask_run run = bytes == 1 ? dispatch_mask_fill_1 : bytes == 2 ? dispatch_mask_fill_2
                                : bytes == 4 ? dispatch_mask_fill_4 : bytes == 8 ? dispatch_mask_fill_8 : dispatch_mask_fill_16;
    int64_t at[64];
    int d, inner;
    dispatch_simplify(m);
    inner = m->ndim - 1;
    if (inner < 0) { run(to, mask, 1, 0, 0, value); return; }
    for (d = 0; d < inner; d++) at[d] = 0;
    for (;;) {
        run(to, mask, m->sizes[inner], m->to[inner], m->from[inner], value);
        for (d = inner - 1; d >= 0; d--) {
            to += m->to[d]; mask += m->from[d];
            if (++at[d] < m->sizes[d]) break;
            to -= m->to[d] * m->sizes[d]; mask -= m->from[d] * m->sizes[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

/* Coordinates of the true elements of a contiguous mask, at most `room`, each dimension's in a column of that length; how many. */
static int64_t dispatch_true_coordinates(int64_t* to, int64_t room, const char* mask, int ndim, const int64_t* sizes) {
    int64_t at[64], found = 0, i;
    int d;
    for (d = 0; d < ndim; d++) {
        if (sizes[d] == 0) return 0;
        at[d] = 0;
    }
    for (;;) {
        const int64_t n = sizes[ndim - 1], before = found;
        int64_t* last = to + (ndim - 1) * room;
        if (found + n <= room)
            for (i = 0; i < n; i++) {
                last[found] = i;
                found += mask[i] != 0;
            }
        else
            for (i = 0; i < n && found < room; i++)
                if (mask[i]) last[found++] = i;
        for (d = 0; d < ndim - 1; d++)
            for (i = before; i < found; i++) to[d * room + i] = at[d];
        mask += n;
        for (d = ndim - 2; d >= 0; d--) {
            if (++at[d] < sizes[d]) break;
            at[d] = 0;
        }
        if (d < 0) return found;
    }
}

/* ---- places in sorted values */

/* How many of the sorted values come before each value (`right`: or equal it); `order`, if any, sorts them. All contiguous. Steps
   are chosen, not branched to: which half a value is in cannot be guessed. The middle is PyTorch's, so that values which are not
   sorted give its answers, too. */
typedef void (*dispatch_search)(int64_t* to, const char* sorted, const int64_t* order, int64_t size, const char* values, int64_t n,
                                int right);
#define DISPATCH_SEARCH(S, code, bytes, V) \
    static void dispatch_search_##S(int64_t* to, const char* sorted, const int64_t* order, int64_t size, const char* values, \
                                    int64_t n, int right) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            const V v = dispatch_load_##S(values + i * bytes); \
            int64_t low = 0, left = size; \
            while (left > 0) { \
                const int64_t half = left / 2, mid = low + half; \
                const V w = dispatch_load_##S(sorted + (order ? order[mid] : mid) * bytes); \
                const int64_t before = right ? !(w > v) : !(w >= v); \
                low += (half + 1) & -before; \
                left = half - (before & ~left); \
            } \
            to[i] = low; \
        } \
    }
DISPATCH_INTEGERS(DISPATCH_SEARCH)
DISPATCH_FLOATS(DISPATCH_SEARCH)
DISPATCH_WIDE_UNSIGNED(DISPATCH_SEARCH)

/* NULL: no loop for the dtype. */
static dispatch_search dispatch_searcher(int code) {
#define DISPATCH_SEARCH_CASE(S, number, bytes, V) case number: return dispatch_search_##S;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_SEARCH_CASE)
    DISPATCH_FLOATS(DISPATCH_SEARCH_CASE)
    DISPATCH_WIDE_UNSIGNED(DISPATCH_SEARCH_CASE)
    }
    return NULL;
}
#endif
