"""Bodies of interpolation and of its gradients: nearest, linear and cubic, with and without smoothing.

Called by the structured kernels with outputs of the right size. For each spatial dimension a table
gives the input elements and weights of each output element (`taps`). Linear and cubic results take
all dimensions at once; smoothed ones and bytes go one dimension after the other, width first, bytes
in fixed point and rounded after each, as in PyTorch's kernels of Pillow's making. Gradients add up
along the same tables. Channels may be first or last.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, DTYPES_FULL_FLOATING, MF_contiguous, ST_float32, ST_float64, ST_uint8, is_in
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.dense cimport (
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, format_of, image_of, pinned, target,
)
from dispatch.kernels.cpu.pixels cimport (
    add_scaled_f32, add_scaled_f64, gather_four_f32, gather_four_f64, gather_many_f32, gather_many_f64, gather_two_f32,
    gather_two_f64, mix_four_f32, mix_four_f64, mix_two_f32, mix_two_f64, scale_f32, scale_f64,
)
from dispatch.kernels.cpu.resample.taps cimport (
    CUBIC, EXACT, LINEAR, NEAREST, SMOOTH_CUBIC, SMOOTH_LANCZOS, SMOOTH_LINEAR, Taps, free_taps, make_nearest, make_taps,
    merge_taps, real, round_weights,
)

cdef extern from "vectorised.h":
    pass

cdef enum:
    MOST_BITS = 22               # of a weight in fixed point; less where one would not fit int16
    MOST_ROWS = 4
    SHORT_ROW = 16               # channels below which a call for them does not pay

ctypedef fused word:             # an element that is only moved
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef struct Job:
    Taps taps[3]
    Image a, b                   # input and output; of a gradient the other way round
    bint last                    # channels last
    int mode
    void* lines                  # room for a line of the output for each tap, where they are kept


cdef uint64_t allowed(int dims, int mode, bint backward) noexcept:
    """Dtypes for which PyTorch has a kernel."""
    cdef uint64_t found = DTYPES_FLOATING
    if mode >= SMOOTH_LINEAR:
        found = DTYPES_FULL_FLOATING
    if not backward and (dims == 2 or mode <= EXACT):
        found |= <uint64_t>1 << ST_uint8
    return found


cdef inline double as_scale(object given) except? -1:
    return -1 if given is None else given


cdef int begin(Job* j, Tensor small, Tensor large, int dims, int mode, bint align_corners, tuple scales,
               bint in_double, bint backward) except -1:
    """`small`: what is interpolated; `large`: the result, by size alone."""
    cdef int i
    memset(j, 0, sizeof(Job))
    j.mode = mode
    j.a, j.b = image_of(small, dims), image_of(large, dims)
    for i in range(3 - dims, 3):
        if mode <= EXACT:
            make_nearest(&j.taps[i], j.a.size[i], j.b.size[i], mode, backward or dims == 2, as_scale(scales[i]), in_double)
        else:
            make_taps(&j.taps[i], j.a.size[i], j.b.size[i], mode, align_corners, as_scale(scales[i]), in_double)
    return 0


cdef void end(Job* j) noexcept:
    cdef int i
    for i in range(3):
        free_taps(&j.taps[i])
    free(j.lines)


cdef int gather_rows(Job* j, int64_t d, int64_t h, int64_t* offsets, real* weights) noexcept nogil:
    """Where in a plane the rows that row (d, h) is made of begin, and their weights; how many."""
    cdef int i, k, n = 0, deep = max(j.taps[0].most, 1), high = max(j.taps[1].most, 1)
    cdef real w, v
    cdef int64_t at
    for i in range(deep):
        at, w = 0, 1
        if j.taps[0].most:
            at, w = j.taps[0].index[d * deep + i], (<real*>j.taps[0].weight)[d * deep + i]
        for k in range(high):
            offsets[n], v = at * j.a.size[1], 1
            if j.taps[1].most:
                offsets[n] += j.taps[1].index[h * high + k]
                v = (<real*>j.taps[1].weight)[h * high + k]
            offsets[n] *= j.a.size[2]
            weights[n] = w * v
            n += 1
    return n


# ---- all dimensions at once --------------------------------------------------------------------

cdef inline void mix_line(real* out, const real* x, const int64_t* rows, const real* w, int n, Taps* t) noexcept nogil:
    """One row of the output, of `n` rows of a plane."""
    cdef int64_t i
    cdef int k, r
    cdef int64_t* at = t.index
    cdef real* v = <real*>t.weight
    cdef real total, part
    cdef const real* first
    for i in range(t.n):
        total = 0
        for r in range(n):
            first = x + rows[r]
            part = 0
            for k in range(t.most):
                part += v[k] * first[at[k]]
            total += w[r] * part
        out[i] = total
        at += t.most
        v += t.most


cdef inline void mix_two(real* to, const real* a, const real* b, real u, real v, int64_t n) noexcept nogil:
    if real is float:
        mix_two_f32(to, a, b, u, v, n)
    else:
        mix_two_f64(to, a, b, u, v, n)


cdef inline void mix_four(real* to, const real* a, const real* b, const real* c, const real* d, const real* w,
                          int64_t n) noexcept nogil:
    if real is float:
        mix_four_f32(to, a, b, c, d, w, n)
    else:
        mix_four_f64(to, a, b, c, d, w, n)


cdef inline void gather_line(real* to, const real* x, Taps* t) noexcept nogil:
    if real is float:
        if t.most == 2:
            gather_two_f32(to, x, t.index, <float*>t.weight, t.n)
        else:
            gather_four_f32(to, x, t.index, <float*>t.weight, t.n)
    elif t.most == 2:
        gather_two_f64(to, x, t.index, <double*>t.weight, t.n)
    else:
        gather_four_f64(to, x, t.index, <double*>t.weight, t.n)


cdef int ready(Job* j, real* lines, int64_t* held, const real* x, int64_t row, int64_t first) noexcept nogil:
    """Which line holds a row of the input at the output's width; a new one takes the place of what is before `first`."""
    cdef int k, oldest = 0
    for k in range(j.taps[1].most):
        if held[k] == row:
            return k
        if held[k] < first:
            oldest = k
    held[oldest] = row
    gather_line(lines + oldest * j.taps[2].n, x + row, &j.taps[2])
    return oldest


cdef void mix_planes(Job* j, real* out, const real* x) noexcept nogil:
    """Two dimensions, channels first: each row of the input is brought to the output's width once."""
    cdef int64_t p, h, width = j.b.size[2]
    cdef int64_t held[4]
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef real* line[4]
    cdef real* lines = <real*>j.lines
    cdef int k, most = j.taps[1].most
    for p in range(j.b.n * j.b.c):
        memset(held, 0xFF, sizeof(held))                 # -1: nothing
        for h in range(j.b.size[1]):
            gather_rows(j, 0, h, rows, weights)
            for k in range(most):
                line[k] = lines + ready(j, lines, held, x, rows[k], rows[0]) * width
            if most == 2:
                mix_two(out, line[0], line[1], weights[0], weights[1], width)
            else:
                mix_four(out, line[0], line[1], line[2], line[3], weights, width)
            out += width
        x += j.a.plane


cdef void mix_first(Job* j, real* out, const real* x) noexcept nogil:
    """Channels first."""
    cdef int64_t p, d, h
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef real* to
    cdef int n
    for d in range(j.b.size[0]):
        for h in range(j.b.size[1]):
            n = gather_rows(j, d, h, rows, weights)
            to = out + (d * j.b.size[1] + h) * j.b.size[2]
            for p in range(j.b.n * j.b.c):
                mix_line(to + p * j.b.plane, x + p * j.a.plane, rows, weights, n, &j.taps[2])


cdef inline void add_scaled(real* to, const real* x, real weight, int64_t n, bint first) noexcept nogil:
    if real is float:
        if first:
            scale_f32(to, x, weight, n)
        else:
            add_scaled_f32(to, x, weight, n)
    elif first:
        scale_f64(to, x, weight, n)
    else:
        add_scaled_f64(to, x, weight, n)


cdef inline void mix_rows(real* out, const real* x, int64_t c, const int64_t* rows, const real* w, int n,
                          const int64_t* at, const real* v, int most) noexcept nogil:
    """Many channels of one place."""
    cdef int k, r
    cdef real weights[4]
    if n == 2 and most == 2:
        weights[0], weights[1], weights[2], weights[3] = w[0] * v[0], w[0] * v[1], w[1] * v[0], w[1] * v[1]
        mix_four(out, x + (rows[0] + at[0]) * c, x + (rows[0] + at[1]) * c, x + (rows[1] + at[0]) * c,
                 x + (rows[1] + at[1]) * c, weights, c)
        return
    for r in range(n):
        for k in range(most):
            add_scaled(out, x + (rows[r] + at[k]) * c, w[r] * v[k], c, r == 0 and k == 0)


cdef inline void mix_pixel(real* out, const real* x, int64_t c, const int64_t* rows, const real* w, int n,
                           const int64_t* at, const real* v, int most) noexcept nogil:
    """All channels of one place."""
    cdef int64_t i
    cdef int k, r
    cdef real weight
    cdef const real* source
    if c >= SHORT_ROW:
        mix_rows(out, x, c, rows, w, n, at, v, most)
        return
    for r in range(n):
        for k in range(most):
            weight = w[r] * v[k]
            source = x + (rows[r] + at[k]) * c
            if r == 0 and k == 0:
                for i in range(c):
                    out[i] = weight * source[i]
            else:
                for i in range(c):
                    out[i] += weight * source[i]


cdef void mix_last(Job* j, real* out, const real* x) noexcept nogil:
    """Channels last."""
    cdef int64_t n, d, h, w, c = j.b.c
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef Taps* t = &j.taps[2]
    cdef int count
    for d in range(j.b.size[0]):
        for h in range(j.b.size[1]):
            count = gather_rows(j, d, h, rows, weights)
            for n in range(j.b.n):
                for w in range(j.b.size[2]):
                    mix_pixel(out + (n * j.b.plane + (d * j.b.size[1] + h) * j.b.size[2] + w) * c,
                              x + n * j.a.plane * c, c, rows, weights, count, t.index + w * t.most,
                              <real*>t.weight + w * t.most, t.most)


cdef void mix(Job* j, real* out, const real* x) noexcept nogil:
    if j.last:
        mix_last(j, out, x)
    elif j.lines != NULL:
        mix_planes(j, out, x)
    else:
        mix_first(j, out, x)


# ---- one dimension after the other -------------------------------------------------------------

cdef void mix_columns(real* out, const real* x, int64_t planes, int64_t size, int64_t inner, Taps* t) noexcept nogil:
    """Along the middle one of three dimensions; the innermost has `inner` elements."""
    cdef int64_t p, i, e
    cdef int k
    cdef real w
    cdef real* to
    cdef const real* source
    if inner == 1:
        for p in range(planes):
            if real is float:
                gather_many_f32(out, x, t.index, <float*>t.weight, t.most, t.n)
            else:
                gather_many_f64(out, x, t.index, <double*>t.weight, t.most, t.n)
            out += t.n
            x += size
        return
    for p in range(planes):
        for i in range(t.n):
            to = out + (p * t.n + i) * inner
            for e in range(inner):
                to[e] = 0
            for k in range(t.most):
                w = (<real*>t.weight)[i * t.most + k]
                source = x + (p * size + t.index[i * t.most + k]) * inner
                if w != 0 and inner >= SHORT_ROW:
                    add_scaled(to, source, w, inner, False)
                elif w != 0:
                    for e in range(inner):
                        to[e] += w * source[e]


cdef void spread_columns(real* out, const real* g, int64_t planes, int64_t size, int64_t inner, Taps* t) noexcept nogil:
    """The gradient of `mix_columns`: `out` of `size`, to be added to; `g` of t.n."""
    cdef int64_t p, i, e
    cdef int k
    cdef real w
    cdef real* to
    cdef const real* source
    for p in range(planes):
        for i in range(t.n):
            source = g + (p * t.n + i) * inner
            for k in range(t.most):
                w = (<real*>t.weight)[i * t.most + k]
                to = out + (p * size + t.index[i * t.most + k]) * inner
                if w != 0:
                    for e in range(inner):
                        to[e] += w * source[e]


cdef int mix_in_turn(Job* j, real* out, const real* x, Tensor spare) except -1:
    cdef real* half = out
    cdef int64_t planes = j.a.n * j.a.c, work = planes * (j.a.plane + j.b.plane)
    if j.a.size[1] != j.b.size[1] and j.a.size[2] != j.b.size[2]:
        half = <real*>data_of(spare, sizeof(real))
    if j.a.size[2] != j.b.size[2]:
        with nogil:
            mix_columns(half, x, planes * j.a.size[1], j.a.size[2], 1, &j.taps[2])
        x = half
    if j.a.size[1] != j.b.size[1]:
        with nogil:
            mix_columns(out, x, planes, j.a.size[1], j.b.size[2], &j.taps[1])
    elif j.a.size[2] == j.b.size[2]:
        memcpy(out, x, planes * j.b.plane * sizeof(real))
    return 0


# ---- bytes -------------------------------------------------------------------------------------

cdef int in_fixed_point(Taps* t) noexcept:
    """Weights (double) as int32, in place; returns their bits behind the point."""
    cdef int64_t i
    cdef int bits = 0
    cdef double largest = 0
    cdef double* w = <double*>t.weight
    merge_taps(t)
    for i in range(t.n * t.most):
        largest = max(largest, w[i])
    while bits < MOST_BITS and <int64_t>(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    for i in range(t.n * t.most):
        (<int32_t*>t.weight)[i] = <int32_t>(w[i] * (1 << bits) + (0.5 if w[i] >= 0 else -0.5))
    return bits


cdef void mix_bytes(uint8_t* out, const uint8_t* x, int64_t planes, int64_t size, int64_t inner, Taps* t, int bits) noexcept nogil:
    cdef int64_t p, i, e
    cdef int k
    cdef int32_t total
    cdef const int32_t* w
    cdef const int64_t* at
    for p in range(planes):
        for i in range(t.n):
            w, at = <int32_t*>t.weight + i * t.most, t.index + i * t.most
            for e in range(inner):
                total = 1 << bits >> 1
                for k in range(t.most):
                    total += w[k] * <int32_t>x[(p * size + at[k]) * inner + e]
                total >>= bits
                out[(p * t.n + i) * inner + e] = <uint8_t>max(min(total, 255), 0)


cdef int mix_bytes_in_turn(Job* j, uint8_t* out, const uint8_t* x, Tensor spare) except -1:
    cdef uint8_t* half = out
    cdef int bits
    cdef int64_t planes = j.a.n * j.a.c
    if j.a.size[1] != j.b.size[1] and j.a.size[2] != j.b.size[2]:
        half = <uint8_t*>data_of(spare, 1)
    if j.a.size[2] != j.b.size[2]:
        bits = in_fixed_point(&j.taps[2])
        with nogil:
            mix_bytes(half, x, planes * j.a.size[1], j.a.size[2], 1, &j.taps[2], bits)
        x = half
    if j.a.size[1] != j.b.size[1]:
        bits = in_fixed_point(&j.taps[1])
        with nogil:
            mix_bytes(out, x, planes, j.a.size[1], j.b.size[2], &j.taps[1], bits)
    elif j.a.size[2] == j.b.size[2]:
        memcpy(out, x, planes * j.b.plane)
    return 0


# ---- nearest -----------------------------------------------------------------------------------

cdef inline int64_t nearest_row(Job* j, int64_t d, int64_t h) noexcept nogil:
    """Where in a plane the row begins that (d, h) is made of."""
    cdef int64_t at = j.taps[0].index[d] * j.a.size[1] if j.taps[0].most else 0
    return (at + (j.taps[1].index[h] if j.taps[1].most else 0)) * j.a.size[2]


cdef void pick_first(Job* j, word* out, const word* x) noexcept nogil:
    cdef int64_t p, d, h, i, row, before, width = j.b.size[2]
    cdef const int64_t* at = j.taps[2].index
    cdef const word* source
    for p in range(j.b.n * j.b.c):
        before = -1
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                row = nearest_row(j, d, h)
                if row == before:
                    memcpy(out, out - width, width * sizeof(word))
                else:
                    source = x + p * j.a.plane + row
                    for i in range(width):
                        out[i] = source[at[i]]
                before = row
                out += width


cdef void pick_last(Job* j, char* out, const char* x, size_t pixel) noexcept nogil:
    """`pixel`: bytes of all channels of one place."""
    cdef int64_t n, d, h, i, row
    for n in range(j.b.n):
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                row = n * j.a.plane + nearest_row(j, d, h)
                for i in range(j.b.size[2]):
                    memcpy(out, x + (row + j.taps[2].index[i]) * pixel, pixel)
                    out += pixel


cdef void pick(Job* j, char* out, const char* x, int itemsize) noexcept nogil:
    if j.last:
        pick_last(j, out, x, itemsize * j.b.c)
    elif itemsize == 1:
        pick_first[uint8_t](j, <uint8_t*>out, <uint8_t*>x)
    elif itemsize == 2:
        pick_first[uint16_t](j, <uint16_t*>out, <uint16_t*>x)
    elif itemsize == 4:
        pick_first[uint32_t](j, <uint32_t*>out, <uint32_t*>x)
    else:
        pick_first[uint64_t](j, <uint64_t*>out, <uint64_t*>x)


cdef int run_nearest(Job* j, Tensor out, Tensor self) except -1:
    cdef int memory_format = format_of(out), itemsize = dtypes.itemsize_table()[out.c_dtype]
    cdef Tensor x = dense(self, self.c_dtype, memory_format), y = target(out, out.c_dtype, memory_format)
    cdef char* source = data_of(x, itemsize)
    cdef char* to = data_of(y, itemsize)
    cdef object kept = pinned(out.c_numel, x, y)
    j.last = memory_format != MF_contiguous
    if out.c_numel >= LONG_RUN:
        with nogil:
            pick(j, to, source, itemsize)
    else:
        pick(j, to, source, itemsize)
    return finish(out, y)


# ---- forward -----------------------------------------------------------------------------------

cdef int run_in_turn(Job* j, Tensor out, Tensor self, int code) except -1:
    cdef int64_t sizes[4]
    cdef Tensor x = dense(self, code, MF_contiguous), y = target(out, code, MF_contiguous)
    cdef int itemsize = dtypes.itemsize_table()[code]
    cdef char* source = data_of(x, itemsize)
    cdef char* to = data_of(y, itemsize)
    cdef object kept = pinned(LONG_RUN, x, y)
    sizes[0], sizes[1], sizes[2], sizes[3] = j.a.n, j.a.c, j.a.size[1], j.b.size[2]
    cdef Tensor spare = new_empty(code, 0, -1, 4, sizes, NULL)
    if code == ST_uint8:
        mix_bytes_in_turn(j, <uint8_t*>to, <uint8_t*>source, spare)
    elif code == ST_float32:
        mix_in_turn[float](j, <float*>to, <float*>source, spare)
    else:
        mix_in_turn[double](j, <double*>to, <double*>source, spare)
    return finish(out, y)


cdef void mix_typed(Job* j, int code, void* to, void* source) noexcept nogil:
    if code == ST_float32:
        mix[float](j, <float*>to, <float*>source)
    else:
        mix[double](j, <double*>to, <double*>source)


cdef int run_mixed(Job* j, Tensor out, Tensor self, int code) except -1:
    cdef int memory_format = format_of(out), itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x = dense(self, code, memory_format), y = target(out, code, memory_format)
    cdef char* source = data_of(x, itemsize)
    cdef char* to = data_of(y, itemsize)
    cdef object kept = pinned(out.c_numel, x, y)
    cdef int i
    j.last = memory_format != MF_contiguous
    if j.mode == CUBIC and code != self.c_dtype:         # here PyTorch keeps weights in the dtype
        for i in range(3):
            round_weights(&j.taps[i], self.c_dtype)
    if (j.mode == LINEAR or j.mode == CUBIC) and not j.last and j.taps[0].most == 0 and j.taps[1].most:
        j.lines = malloc(j.taps[1].most * j.b.size[2] * itemsize)
        if j.lines == NULL:
            raise MemoryError
    if out.c_numel >= LONG_RUN:
        with nogil:
            mix_typed(j, code, to, source)
    else:
        mix_typed(j, code, to, source)
    return finish(out, y)


cdef bint same_sizes(Tensor a, Tensor b) noexcept:
    return memcmp(a.c_sizes, b.c_sizes, a.c_ndim * sizeof(int64_t)) == 0


cdef int run(Tensor out, Tensor self, int dims, int mode, bint align_corners, object d, object h, object w) except -1:
    cdef int code = self.c_dtype if self.c_dtype == ST_uint8 else computed_in(self.c_dtype)
    cdef bint in_double = code != ST_float32 and (mode > EXACT or code == ST_float64 and format_of(out) == MF_contiguous)
    cdef Job j
    if mode >= SMOOTH_LINEAR and same_sizes(out, self):  # of any dtype
        return copy_values(out, self)
    check_kernel(self.c_dtype, allowed(dims, mode, False))
    if out.c_numel == 0:
        return 0
    try:
        begin(&j, self, out, dims, mode, align_corners, (d, h, w), in_double, False)
        if mode <= EXACT:
            return run_nearest(&j, out, self)
        if mode >= SMOOTH_LINEAR or code == ST_uint8:
            return run_in_turn(&j, out, self, code)
        return run_mixed(&j, out, self, code)
    finally:
        end(&j)


# ---- the way back ------------------------------------------------------------------------------

cdef void spread_first(Job* j, real* out, const real* g) noexcept nogil:
    """Channels first: each element of g to where it came from."""
    cdef int64_t p, d, h, i
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef Taps* t = &j.taps[2]
    cdef real part
    cdef real* to
    cdef const real* source
    cdef int n, r, k
    for p in range(j.b.n * j.b.c):
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                n = gather_rows(j, d, h, rows, weights)
                source = g + p * j.b.plane + (d * j.b.size[1] + h) * j.b.size[2]
                for r in range(n):
                    to = out + p * j.a.plane + rows[r]
                    for i in range(t.n):
                        part = weights[r] * source[i]
                        for k in range(t.most):
                            to[t.index[i * t.most + k]] += part * (<real*>t.weight)[i * t.most + k]


cdef void spread_last(Job* j, real* out, const real* g) noexcept nogil:
    cdef int64_t n, d, h, i, e, c = j.b.c
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef Taps* t = &j.taps[2]
    cdef real w
    cdef real* to
    cdef int count, r, k
    for n in range(j.b.n):
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                count = gather_rows(j, d, h, rows, weights)
                for i in range(t.n):
                    for r in range(count):
                        for k in range(t.most):
                            w = weights[r] * (<real*>t.weight)[i * t.most + k]
                            to = out + (n * j.a.plane + rows[r] + t.index[i * t.most + k]) * c
                            for e in range(c):
                                to[e] += w * g[e]
                    g += c


cdef void spread_nearest(Job* j, real* out, const real* g) noexcept nogil:
    cdef int64_t lead = j.b.n if j.last else j.b.n * j.b.c, c = j.b.c if j.last else 1
    cdef int64_t p, d, h, i, e, row
    cdef real* to
    for p in range(lead):
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                row = p * j.a.plane + nearest_row(j, d, h)
                for i in range(j.b.size[2]):
                    to = out + (row + j.taps[2].index[i]) * c
                    for e in range(c):
                        to[e] += g[e]
                    g += c


cdef int spread_in_turn(Job* j, real* out, const real* g, Tensor spare) except -1:
    cdef int64_t planes = j.a.n * j.a.c
    cdef real* half = <real*>data_of(spare, sizeof(real))
    memset(half, 0, spare.c_numel * sizeof(real))
    with nogil:
        spread_columns(half, g, planes, j.a.size[1], j.b.size[2], &j.taps[1])
        spread_columns(out, half, planes * j.a.size[1], j.a.size[2], 1, &j.taps[2])
    return 0


cdef void spread(Job* j, real* out, const real* g) noexcept nogil:
    if j.mode <= EXACT:
        spread_nearest(j, out, g)
    elif j.last:
        spread_last(j, out, g)
    else:
        spread_first(j, out, g)


cdef void spread_typed(Job* j, int code, void* to, void* source) noexcept nogil:
    if code == ST_float32:
        spread[float](j, <float*>to, <float*>source)
    else:
        spread[double](j, <double*>to, <double*>source)


cdef int run_spread(Job* j, Tensor grad_input, Tensor grad_output, int code) except -1:
    cdef int memory_format = MF_contiguous if j.mode >= SMOOTH_LINEAR else format_of(grad_input)
    cdef int itemsize = dtypes.itemsize_table()[code]
    cdef Tensor g = dense(grad_output, code, memory_format), y = target(grad_input, code, memory_format)
    cdef char* source = data_of(g, itemsize)
    cdef char* to = data_of(y, itemsize)
    cdef object kept = pinned(LONG_RUN, g, y)
    cdef int64_t sizes[4]
    cdef Tensor spare
    j.last = memory_format != MF_contiguous
    memset(to, 0, y.c_numel * itemsize)
    if j.mode >= SMOOTH_LINEAR:
        sizes[0], sizes[1], sizes[2], sizes[3] = j.a.n, j.a.c, j.a.size[1], j.b.size[2]
        spare = new_empty(code, 0, -1, 4, sizes, NULL)
        if code == ST_float32:
            spread_in_turn[float](j, <float*>to, <float*>source, spare)
        else:
            spread_in_turn[double](j, <double*>to, <double*>source, spare)
    elif grad_output.c_numel >= LONG_RUN:
        with nogil:
            spread_typed(j, code, to, source)
    else:
        spread_typed(j, code, to, source)
    return finish(grad_input, y)


cdef int run_backward(Tensor grad_input, Tensor grad_output, int dims, int mode, bint align_corners, object d, object h,
                      object w) except -1:
    cdef int code = computed_in(grad_output.c_dtype)
    cdef Job j
    if mode == CUBIC and same_sizes(grad_input, grad_output):
        return copy_values(grad_input, grad_output)
    check_kernel(grad_output.c_dtype, allowed(dims, mode, True))
    if grad_input.c_numel == 0:
        return 0
    try:
        begin(&j, grad_input, grad_output, dims, mode, align_corners, (d, h, w), mode > EXACT and code == ST_float64, True)
        return run_spread(&j, grad_input, grad_output, code)
    finally:
        end(&j)


# ---- operators ---------------------------------------------------------------------------------
cdef int nearest1d(Tensor out, Tensor self, IntArray output_size, object scales) except -1:
    return run(out, self, 1, NEAREST, False, None, None, scales)


cdef int nearest2d(Tensor out, Tensor self, IntArray output_size, object scales_h, object scales_w) except -1:
    return run(out, self, 2, NEAREST, False, None, scales_h, scales_w)


cdef int nearest3d(Tensor out, Tensor self, IntArray output_size, object scales_d, object scales_h, object scales_w) except -1:
    return run(out, self, 3, NEAREST, False, scales_d, scales_h, scales_w)


cdef int nearest_exact1d(Tensor out, Tensor self, IntArray output_size, object scales) except -1:
    return run(out, self, 1, EXACT, False, None, None, scales)


cdef int nearest_exact2d(Tensor out, Tensor self, IntArray output_size, object scales_h, object scales_w) except -1:
    return run(out, self, 2, EXACT, False, None, scales_h, scales_w)


cdef int nearest_exact3d(Tensor out, Tensor self, IntArray output_size, object scales_d, object scales_h,
                         object scales_w) except -1:
    return run(out, self, 3, EXACT, False, scales_d, scales_h, scales_w)


cdef int linear1d(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales) except -1:
    return run(out, self, 1, LINEAR, align_corners, None, None, scales)


cdef int linear2d(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                  object scales_w) except -1:
    return run(out, self, 2, LINEAR, align_corners, None, scales_h, scales_w)


cdef int linear3d(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_d, object scales_h,
                  object scales_w) except -1:
    return run(out, self, 3, LINEAR, align_corners, scales_d, scales_h, scales_w)


cdef int bicubic2d(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                   object scales_w) except -1:
    return run(out, self, 2, CUBIC, align_corners, None, scales_h, scales_w)


cdef int bilinear2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                       object scales_w) except -1:
    return run(out, self, 2, SMOOTH_LINEAR, align_corners, None, scales_h, scales_w)


cdef int bicubic2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                      object scales_w) except -1:
    return run(out, self, 2, SMOOTH_CUBIC, align_corners, None, scales_h, scales_w)


cdef int lanczos2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                      object scales_w) except -1:
    return run(out, self, 2, SMOOTH_LANCZOS, align_corners, None, scales_h, scales_w)


cdef int nearest1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales) except -1:
    return run_backward(grad_input, grad_output, 1, NEAREST, False, None, None, scales)


cdef int nearest2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, NEAREST, False, None, scales_h, scales_w)


cdef int nearest3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_d, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 3, NEAREST, False, scales_d, scales_h, scales_w)


cdef int nearest_exact1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                                  object scales) except -1:
    return run_backward(grad_input, grad_output, 1, EXACT, False, None, None, scales)


cdef int nearest_exact2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                                  object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, EXACT, False, None, scales_h, scales_w)


cdef int nearest_exact3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                                  object scales_d, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 3, EXACT, False, scales_d, scales_h, scales_w)


cdef int linear1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales) except -1:
    return run_backward(grad_input, grad_output, 1, LINEAR, align_corners, None, None, scales)


cdef int linear2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, LINEAR, align_corners, None, scales_h, scales_w)


cdef int linear3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_d, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 3, LINEAR, align_corners, scales_d, scales_h, scales_w)


cdef int bicubic2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                            bint align_corners, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, CUBIC, align_corners, None, scales_h, scales_w)


cdef int bilinear2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                                bint align_corners, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, SMOOTH_LINEAR, align_corners, None, scales_h, scales_w)


cdef int bicubic2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                               bint align_corners, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, SMOOTH_CUBIC, align_corners, None, scales_h, scales_w)


cdef int lanczos2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size, IntArray input_size,
                               bint align_corners, object scales_h, object scales_w) except -1:
    return run_backward(grad_input, grad_output, 2, SMOOTH_LANCZOS, align_corners, None, scales_h, scales_w)
