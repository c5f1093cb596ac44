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
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, format_of, image_of, lead_of, lines_of, pinned, take_lead, target,
)
from dispatch.kernels.cpu.pixels cimport (
    add_scaled_f32, add_scaled_f64, gather_four_f32, gather_four_f64, gather_many_f32, gather_many_f64, gather_two_f32,
    gather_two_f64, mix_four_f32, mix_four_f64, mix_two_f32, mix_two_f64, scale_f32, scale_f64,
)
from dispatch.kernels.cpu.resample.taps cimport (
    CUBIC, EXACT, LINEAR, NEAREST, SMOOTH_CUBIC, SMOOTH_LANCZOS, SMOOTH_LINEAR, Taps, free_taps, in_fixed_point, make_nearest,
    make_taps, real, round_weights,
)
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "resample/bytes.h" nogil:
    bint mix_bytes(uint8_t* out, const uint8_t* x, int64_t planes, int64_t size, int64_t inner, const int64_t* index,
                   const int32_t* weight, int64_t n, int most, int bits)

cdef extern from "vectorised.h":
    pass

cdef enum:
    MOST_ROWS = 4
    WORK = 4                     # elements that are mixed take as long as so many that are copied
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
    int64_t line, stop           # of results whose channels are last: the rows to make, of all images
    int mode
    void* lines                  # room for lines of the output's width, where channels are first; each thread's are `rows`
    int64_t rows
    int bits[3]                  # of bytes: those behind the point of the weights
    int64_t inner                # of bytes and gradients: elements of a place, which are its channels where those are last
    bint* failed                 # for want of memory


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
    j.rows = j.a.size[1] if mode >= SMOOTH_LINEAR or mode > EXACT and small.c_dtype == ST_uint8 else MOST_ROWS
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


cdef inline real weight_of(const Taps* t, int64_t i, real like) noexcept nogil:
    return 1 if t.weight == NULL else (<real*>t.weight)[i]


cdef int gather_rows(Job* j, int64_t d, int64_t h, int64_t* offsets, real* weights) noexcept nogil:
    """Where in a plane the rows that row (d, h) is made of begin, and their weights; how many."""
    cdef int i, k, n = 0, deep = max(j.taps[0].most, 1), high = max(j.taps[1].most, 1)
    cdef real w, v
    cdef int64_t at
    for i in range(deep):
        at, w = 0, 1
        if j.taps[0].most:
            at, w = j.taps[0].index[d * deep + i], weight_of(&j.taps[0], d * deep + i, w)
        for k in range(high):
            offsets[n], v = at * j.a.size[1], 1
            if j.taps[1].most:
                offsets[n] += j.taps[1].index[h * high + k]
                v = weight_of(&j.taps[1], h * high + k, v)
            offsets[n] *= j.a.size[2]
            weights[n] = w * v
            n += 1
    return n


cdef inline int64_t image_of_line(const Job* j, int64_t r) noexcept nogil:
    """The place where the image begins that row r of the results is made of."""
    return r // (j.b.size[0] * j.b.size[1]) * j.a.plane


# ---- planes on several threads -------------------------------------------------------------------

ctypedef void (*share_fn)(Job* j, int itemsize, char* to, char* source) noexcept nogil

cdef struct Shares:
    Job* j
    share_fn fn
    bint back                    # `to` has the sizes of a
    int itemsize
    char* to
    char* source


cdef void take_share(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Shares* s = <Shares*>context
    cdef Job j = s.j[0]
    cdef int64_t a = 0, b = 0
    if j.last and not s.back:
        j.line, j.stop = first, end
    else:
        a, b = take_lead(&j.a, j.last, first, end - first), take_lead(&j.b, j.last, first, end - first)
    j.lines = <char*>j.lines + part * j.rows * j.b.size[2] * s.itemsize
    s.fn(&j, s.itemsize, s.to + (a if s.back else b) * s.itemsize, s.source + (b if s.back else a) * s.itemsize)


cdef int share_out(Job* j, share_fn fn, int itemsize, char* to, char* source, int64_t work, bint back=False) except -1:
    """Runs `fn` over all planes, or rows of all channels. Each thread has lines for the rows that it mixes."""
    cdef Shares s
    cdef int64_t lead = lines_of(&j.b) if j.last and not back else lead_of(&j.b, j.last)
    cdef int64_t parts = parts_for(lead, work * itemsize)
    s.j, s.fn, s.back, s.itemsize, s.to, s.source = j, fn, back, itemsize, to, source
    j.lines = malloc(parts * j.rows * j.b.size[2] * itemsize)
    if j.lines == NULL:
        raise MemoryError
    if work < LONG_RUN:
        in_spans(take_share, &s, lead, parts)
    else:
        with nogil:
            in_spans(take_share, &s, lead, parts)
    return 0


# ---- all dimensions at once --------------------------------------------------------------------

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


cdef inline int slot_of(const int64_t* held, const int64_t* rows, int n, int64_t row) noexcept nogil:
    """Which of n lines holds a row of the input; else one that holds none of `rows`, as its complement."""
    cdef int k, r
    for k in range(n):
        if held[k] == row:
            return k
    for k in range(n):
        r = 0
        while r < n and held[k] != rows[r]:
            r += 1
        if r == n:
            return ~k
    return ~0


cdef void mix_first(Job* j, real* out, const real* x) noexcept nogil:
    """Channels first: each row of the input is brought to the output's width once, in a line that is kept while it is needed."""
    cdef int64_t p, d, h, width = j.b.size[2]
    cdef int64_t held[MOST_ROWS]
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef real* line[MOST_ROWS]
    cdef real* lines = <real*>j.lines
    cdef int k, n, slot
    for p in range(j.b.n * j.b.c):
        memset(held, 0xFF, sizeof(held))                 # -1: nothing
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                n = gather_rows(j, d, h, rows, weights)
                if n == 1:                               # a line is all that there is
                    gather_line(out, x, &j.taps[2])
                else:
                    for k in range(n):
                        slot = slot_of(held, rows, n, rows[k])
                        if slot < 0:
                            slot = ~slot
                            held[slot] = rows[k]
                            gather_line(lines + slot * width, x + rows[k], &j.taps[2])
                        line[k] = lines + slot * width
                    if n == 2:
                        mix_two(out, line[0], line[1], weights[0], weights[1], width)
                    else:
                        mix_four(out, line[0], line[1], line[2], line[3], weights, width)
                out += width
        x += j.a.plane


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
    cdef int64_t r, w, c = j.b.c
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef Taps* t = &j.taps[2]
    cdef int count
    out += j.line * j.b.size[2] * c
    for r in range(j.line, j.stop):
        count = gather_rows(j, r // j.b.size[1] % j.b.size[0], r % j.b.size[1], rows, weights)
        for w in range(j.b.size[2]):
            mix_pixel(out, x + image_of_line(j, r) * c, c, rows, weights, count, t.index + w * t.most,
                      <real*>t.weight + w * t.most, t.most)
            out += c


cdef void mix(Job* j, real* out, const real* x) noexcept nogil:
    if j.last:
        mix_last(j, out, x)
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
        if real is float:
            gather_many_f32(out, x, t.index, <float*>t.weight, t.most, t.n, planes, size)
        else:
            gather_many_f64(out, x, t.index, <double*>t.weight, t.most, t.n, planes, size)
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


# ---- along one dimension -----------------------------------------------------------------------

cdef void mix_along(Job* j, int d, int itemsize, void* out, const void* x, int64_t planes, int64_t inner) noexcept nogil:
    cdef int64_t size = j.a.size[d]
    if itemsize == 1:
        if not mix_bytes(<uint8_t*>out, <uint8_t*>x, planes, size, inner, j.taps[d].index, <int32_t*>j.taps[d].weight,
                         j.taps[d].n, j.taps[d].most, j.bits[d]):
            j.failed[0] = True
    elif itemsize == 4:
        mix_columns(<float*>out, <float*>x, planes, size, inner, &j.taps[d])
    else:
        mix_columns(<double*>out, <double*>x, planes, size, inner, &j.taps[d])


cdef void mix_in_turn(Job* j, int itemsize, char* to, char* source) noexcept nogil:
    """The width first, then the height: each plane with a thread's room between them."""
    cdef bint wide = j.a.size[2] != j.b.size[2], high = j.a.size[1] != j.b.size[1]
    cdef int64_t p
    cdef char* x
    for p in range(j.a.n * j.a.c):
        x = source + p * j.a.plane * itemsize
        if wide:
            mix_along(j, 2, itemsize, j.lines if high else to, x, j.a.size[1], j.inner)
            x = <char*>j.lines
        if high:
            mix_along(j, 1, itemsize, to, x, 1, j.b.size[2] * j.inner)
        elif not wide:
            memcpy(to, x, j.b.plane * itemsize)
        to += j.b.plane * itemsize


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
    cdef int64_t r, i, row, before = -1
    cdef size_t line = j.b.size[2] * pixel
    out += j.line * line
    for r in range(j.line, j.stop):
        row = image_of_line(j, r) + nearest_row(j, r // j.b.size[1] % j.b.size[0], r % j.b.size[1])
        if row == before:
            memcpy(out, out - line, line)
        else:
            for i in range(j.b.size[2]):
                memcpy(out + i * pixel, x + (row + j.taps[2].index[i]) * pixel, pixel)
        before = row
        out += line


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


cdef void pick_share(Job* j, int itemsize, char* to, char* source) noexcept nogil:
    pick(j, to, source, itemsize)


cdef int run_nearest(Job* j, Tensor out, Tensor self) except -1:
    cdef int memory_format = format_of(out), itemsize = dtypes.itemsize_table()[out.c_dtype]
    cdef Tensor x = dense(self, self.c_dtype, memory_format), y = target(out, out.c_dtype, memory_format)
    cdef char* source = data_of(x, itemsize)
    cdef char* to = data_of(y, itemsize)
    cdef object kept = pinned(out.c_numel, x, y)
    j.last = memory_format != MF_contiguous
    share_out(j, pick_share, itemsize, to, source, out.c_numel)
    return finish(out, y)


# ---- forward -----------------------------------------------------------------------------------

cdef void fold_channels(Job* j) noexcept:
    """All channels are a single one of larger places."""
    j.inner = j.a.c
    j.a.plane *= j.inner
    j.b.plane *= j.inner
    j.a.c = j.b.c = 1
    j.rows *= j.inner


cdef int run_in_turn(Job* j, Tensor out, Tensor self, int code) except -1:
    cdef int memory_format = format_of(out) if code == ST_uint8 else MF_contiguous
    cdef Tensor x = dense(self, code, memory_format), y = target(out, code, memory_format)
    cdef int d, itemsize = dtypes.itemsize_table()[code]
    cdef object kept = pinned(LONG_RUN, x, y)
    cdef bint failed = False
    for d in range(1, 3):
        if code == ST_uint8 and j.a.size[d] != j.b.size[d]:
            j.bits[d] = in_fixed_point(&j.taps[d])
    j.inner, j.failed = 1, &failed
    if memory_format != MF_contiguous:
        fold_channels(j)
    share_out(j, mix_in_turn, itemsize, data_of(y, itemsize), data_of(x, itemsize), WORK * max(self.c_numel, out.c_numel))
    if failed:
        raise MemoryError
    return finish(out, y)


cdef void mix_share(Job* j, int itemsize, char* to, char* source) noexcept nogil:
    if itemsize == 4:
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
    share_out(j, mix_share, itemsize, to, source, WORK * out.c_numel)
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

cdef inline void spread_line(real* to, const real* line, const Taps* t) noexcept nogil:
    """A line of the output's width, to where along a row of the input it came from."""
    cdef int64_t i
    cdef int k
    cdef const int64_t* at = t.index
    cdef const real* w = <real*>t.weight
    if t.most == 1:
        for i in range(t.n):
            to[at[i]] += line[i]
    elif t.most == 2:
        for i in range(t.n):
            to[at[2 * i]] += line[i] * w[2 * i]
            to[at[2 * i + 1]] += line[i] * w[2 * i + 1]
    else:
        for i in range(t.n):
            for k in range(t.most):
                to[at[i * t.most + k]] += line[i] * w[i * t.most + k]


cdef inline void spread_places(real* to, const real* line, const Taps* t, int64_t inner) noexcept nogil:
    """The same of places of `inner` elements."""
    cdef int64_t i, e
    cdef int k
    cdef real w = 0
    cdef real* place
    for i in range(t.n):
        for k in range(t.most):
            w = weight_of(t, i * t.most + k, w)
            place = to + t.index[i * t.most + k] * inner
            if inner >= SHORT_ROW:
                add_scaled(place, line, w, inner, False)
            else:
                for e in range(inner):
                    place[e] += w * line[e]
        line += inner


cdef inline void spread_row(Job* j, real* to, const real* line) noexcept nogil:
    if j.inner == 1:
        spread_line(to, line, &j.taps[2])
    else:
        spread_places(to, line, &j.taps[2], j.inner)


cdef void spread_rows(Job* j, real* out, const real* g) noexcept nogil:
    """What a row of the input gets is added up at the output's width, then spread along it once."""
    cdef int64_t p, d, h, width = j.b.size[2] * j.inner
    cdef int64_t held[MOST_ROWS]
    cdef int64_t rows[MOST_ROWS]
    cdef real weights[MOST_ROWS]
    cdef real* lines = <real*>j.lines
    cdef int k, slot, n = 0
    for p in range(j.b.n * j.b.c):
        memset(held, 0xFF, sizeof(held))                 # -1: nothing
        for d in range(j.b.size[0]):
            for h in range(j.b.size[1]):
                n = gather_rows(j, d, h, rows, weights)
                for k in range(n):
                    slot = slot_of(held, rows, n, rows[k])
                    if slot < 0:
                        if held[~slot] >= 0:
                            spread_row(j, out + held[~slot] * j.inner, lines + ~slot * width)
                        held[~slot] = rows[k]
                        add_scaled(lines + ~slot * width, g, weights[k], width, True)
                    else:
                        add_scaled(lines + slot * width, g, weights[k], width, False)
                g += width
        for k in range(n):
            if held[k] >= 0:
                spread_row(j, out + held[k] * j.inner, lines + k * width)
        out += j.a.plane


cdef void spread_in_turn(Job* j, real* out, const real* g) noexcept nogil:
    cdef int64_t p
    cdef real* half = <real*>j.lines
    for p in range(j.a.n * j.a.c):
        memset(half, 0, j.a.size[1] * j.b.size[2] * sizeof(real))
        spread_columns(half, g, 1, j.a.size[1], j.b.size[2], &j.taps[1])
        spread_columns(out, half, j.a.size[1], j.a.size[2], 1, &j.taps[2])
        out += j.a.plane
        g += j.b.plane


cdef void spread(Job* j, real* out, const real* g) noexcept nogil:
    if j.mode >= SMOOTH_LINEAR:
        spread_in_turn(j, out, g)
    else:
        spread_rows(j, out, g)


cdef void spread_share(Job* j, int itemsize, char* to, char* source) noexcept nogil:
    if itemsize == 4:
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
    j.inner = 1
    if memory_format != MF_contiguous:
        fold_channels(j)
    memset(to, 0, y.c_numel * itemsize)
    share_out(j, spread_share, itemsize, to, source, max(grad_input.c_numel, grad_output.c_numel), True)
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
