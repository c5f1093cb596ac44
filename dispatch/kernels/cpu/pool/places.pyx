"""Bodies of adaptive and fractional pools, of unpooling, and of all gradients that go by an index.

Called by the structured kernels with outputs of the right size. For each dimension a table says
where the window of each output element begins and ends; images and volumes are walked alike.
"""
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, MF_channels_last, MF_contiguous, ST_float32, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.dense cimport (
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, format_of, image_of, lead_of, lines_of, pinned, take_lead,
    target,
)
from dispatch.kernels.cpu.pixels cimport add_scaled_f32, add_scaled_f64
from dispatch.kernels.cpu.threads cimport in_spans, parts_for
from dispatch.kernels.meta cimport rules

cdef extern from "pool/neighbours.h" nogil:
    ctypedef void (*average_window)(void* to, const void* x, int64_t deep, int64_t plane, int64_t high, int64_t line,
                                    int64_t wide, int64_t n, int64_t count) noexcept nogil
    average_window average_window_of(int code)
    int64_t largest_window_f32(float* most, int64_t* best, const float* x, int64_t n, const int64_t* count, const int64_t* step,
                               int64_t at)
    int64_t largest_window_f64(double* most, int64_t* best, const double* x, int64_t n, const int64_t* count, const int64_t* step,
                               int64_t at)
    void largest_place_f32(float* most, int64_t* best, const float* x, const int64_t* count, const int64_t* step, int64_t at)
    void largest_place_f64(double* most, int64_t* best, const double* x, const int64_t* count, const int64_t* step, int64_t at)
    void largest_pixel_f32(float* most, int64_t* best, const float* x, int64_t n, int64_t at)
    void largest_pixel_f64(double* most, int64_t* best, const double* x, int64_t n, int64_t at)

cdef extern from "vectorised.h":
    pass

cdef enum:
    WORK = 4                     # bytes of a window's elements take as long as so many that are copied

ctypedef fused real:
    float
    double

cdef struct Bins:
    Image a, b                   # input and output; of a gradient the other way round
    bint last                    # channels last
    int64_t line, stop           # of results whose channels are last: the rows to make, of all images
    int64_t* first[3]            # of each output element along a dimension; one block of memory
    int64_t* end[3]
    char* room                   # of a gradient whose channels are first: lines of its own for each thread


cdef int make_bins(Bins* q, Tensor small, Tensor large, int dims, int memory_format) except -1:
    """Room for the table; `large` is cut into the bins that `small` has."""
    q.a, q.b = image_of(large, dims), image_of(small, dims)
    q.last = memory_format != MF_contiguous
    q.first[0] = <int64_t*>malloc(2 * bins_of(q) * sizeof(int64_t))
    if q.first[0] == NULL:
        raise MemoryError
    place_table(q, q.first[0])
    return 0


cdef inline int64_t bins_of(const Bins* q) noexcept nogil:
    """Along all dimensions."""
    return q.b.size[0] + q.b.size[1] + q.b.size[2]


cdef void place_table(Bins* q, int64_t* table) noexcept nogil:
    cdef int i
    for i in range(3):
        q.first[i] = q.first[i - 1] + q.b.size[i - 1] if i else table
        q.end[i] = q.first[i] + bins_of(q)


cdef void cut_evenly(Bins* q) noexcept:
    cdef int i
    cdef int64_t k, size, count
    for i in range(3):
        size, count = q.a.size[i], q.b.size[i]
        for k in range(count):
            q.first[i][k] = k * size // count
            q.end[i][k] = ((k + 1) * size + count - 1) // count


# ---- averages ----------------------------------------------------------------------------------

cdef void average_first(Bins* q, real* out, const real* x) noexcept nogil:
    cdef int64_t p, d, h, w, i, j, k
    cdef real total, line
    cdef const real* row
    for p in range(q.b.n * q.b.c):
        for d in range(q.b.size[0]):
            for h in range(q.b.size[1]):
                for w in range(q.b.size[2]):
                    total = 0
                    for i in range(q.first[0][d], q.end[0][d]):
                        for j in range(q.first[1][h], q.end[1][h]):
                            row = x + (i * q.a.size[1] + j) * q.a.size[2]
                            line = 0
                            for k in range(q.first[2][w], q.end[2][w]):
                                line += row[k]
                            total += line
                    out[0] = total / elements(q, d, h, w)
                    out += 1
        x += q.a.plane


cdef inline int64_t elements(Bins* q, int64_t d, int64_t h, int64_t w) noexcept nogil:
    return ((q.end[0][d] - q.first[0][d]) * (q.end[1][h] - q.first[1][h])
            * (q.end[2][w] - q.first[2][w]))


cdef void average_last(Bins* q, int code, int itemsize, char* out, const char* x) noexcept nogil:
    """In the dtype that elements are stored in."""
    cdef int64_t r, d, h, w, at, c = q.b.c, line = q.a.size[2] * c, plane = q.a.size[1] * line
    cdef average_window window = average_window_of(code)
    out += q.line * q.b.size[2] * c * itemsize
    for r in range(q.line, q.stop):
        h, d = r % q.b.size[1], r // q.b.size[1] % q.b.size[0]
        for w in range(q.b.size[2]):
            at = image_of_line(q, r) * c + q.first[0][d] * plane + q.first[1][h] * line + q.first[2][w] * c
            window(out, x + at * itemsize, q.end[0][d] - q.first[0][d], plane, q.end[1][h] - q.first[1][h], line,
                   q.end[2][w] - q.first[2][w], c, elements(q, d, h, w))
            out += c * itemsize


cdef inline int64_t image_of_line(const Bins* q, int64_t r) noexcept nogil:
    """The place where the image begins that row r of the results is made of."""
    return r // (q.b.size[0] * q.b.size[1]) * q.a.plane


cdef inline void add_scaled(real* to, const real* x, real weight, int64_t n) noexcept nogil:
    if real is float:
        add_scaled_f32(to, x, weight, n)
    else:
        add_scaled_f64(to, x, weight, n)


cdef void spread_first(Bins* q, real* out, const real* g) noexcept nogil:
    """The gradient: each bin's share to each of its elements. A row of bins is laid out along the width once."""
    cdef int64_t p, d, h, w, i, j, k, n = q.b.size[2]
    cdef const int64_t* first = q.first[2]
    cdef const int64_t* end = q.end[2]
    cdef real* line = <real*>q.room
    cdef real* part = line + q.a.size[2]
    cdef real* wide = part + n
    cdef real by
    for w in range(n):
        wide[w] = end[w] - first[w]
    for p in range(q.b.n * q.b.c):
        for d in range(q.b.size[0]):
            for h in range(q.b.size[1]):
                by = (q.end[0][d] - q.first[0][d]) * (q.end[1][h] - q.first[1][h])
                memset(line, 0, q.a.size[2] * sizeof(real))
                for w in range(n):
                    part[w] = g[w] / (wide[w] * by)
                if q.a.size[2] == 2 * n:
                    for w in range(n):
                        line[2 * w] = line[2 * w + 1] = part[w]
                else:
                    for w in range(n):
                        for k in range(first[w], end[w]):
                            line[k] += part[w]
                for i in range(q.first[0][d], q.end[0][d]):
                    for j in range(q.first[1][h], q.end[1][h]):
                        add_scaled(out + (i * q.a.size[1] + j) * q.a.size[2], line, <real>1, q.a.size[2])
                g += n
        out += q.a.plane


cdef void spread_last(Bins* q, real* out, const real* g) noexcept nogil:
    cdef int64_t n, d, h, w, i, j, k, c = q.b.c
    cdef real by
    for n in range(q.b.n):
        for d in range(q.b.size[0]):
            for h in range(q.b.size[1]):
                for w in range(q.b.size[2]):
                    by = <real>1 / <real>elements(q, d, h, w)
                    for i in range(q.first[0][d], q.end[0][d]):
                        for j in range(q.first[1][h], q.end[1][h]):
                            for k in range(q.first[2][w], q.end[2][w]):
                                add_scaled(out + ((i * q.a.size[1] + j) * q.a.size[2] + k) * c, g, by, c)
                    g += c
        out += q.a.plane * c


cdef void average(Bins* q, real* out, const real* x, bint backward) noexcept nogil:
    if backward and q.last:
        spread_last(q, out, x)
    elif backward:
        spread_first(q, out, x)
    else:
        average_first(q, out, x)


cdef int check_gradient(Tensor grad_input, Tensor grad_output, int dims) except -1:
    """The shape functions check no more than PyTorch's Meta kernels; loops need channels that agree."""
    cdef Image a, b
    if grad_input.c_ndim != grad_output.c_ndim or not dims < grad_input.c_ndim <= dims + 2:
        raise refused(f"expected grad_output to have the dimensions of an input of {list(grad_input.shape)}, got "
                      f"{list(grad_output.shape)}")
    a, b = image_of(grad_input, dims), image_of(grad_output, dims)
    if a.c != b.c or grad_input.c_dtype != grad_output.c_dtype:
        raise refused(f"grad_output of {list(grad_output.shape)} and {dtypes.get_dtype(grad_output.c_dtype)!r} does not fit "
                      f"an input of {list(grad_input.shape)} and {dtypes.get_dtype(grad_input.c_dtype)!r}")
    return 0


cdef struct Work:                # a loop, and what it runs over
    Bins q
    int code                     # of what is computed in, or of 16-bit floats as they are stored
    bint backward                # `to` has the input's sizes
    int64_t* indices             # of maxima
    char* to
    char* source
    char* samples                # of a fractional pool, else NULL: `dims` for each plane, and its windows' sizes
    int dims
    const int64_t* kernel


cdef inline int64_t line_bytes(const Bins* q) noexcept nogil:
    """A line's results and its windows, or a table of a thread's own."""
    return (q.a.size[2] + 2 * bins_of(q)) * 8


cdef void take_planes(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Work* work = <Work*>context
    cdef Bins q = work.q
    cdef int64_t a = 0, b = 0
    if q.last and not work.backward:
        q.line, q.stop = first, end
    else:
        a, b = take_lead(&q.a, q.last, first, end - first), take_lead(&q.b, q.last, first, end - first)
    cdef int item = dtypes.itemsize_table()[work.code]
    cdef char* to = work.to + (a if work.backward else b) * item
    cdef char* source = work.source + (b if work.backward else a) * item
    q.room += part * line_bytes(&q)
    if work.samples != NULL:
        place_table(&q, <int64_t*>q.room)
    if work.samples != NULL and work.code == ST_float32:
        fractional[float](&q, work, <float*>to, work.indices + b, <float*>source, <float*>work.samples + first * work.dims)
    elif work.samples != NULL:
        fractional[double](&q, work, <double*>to, work.indices + b, <double*>source, <double*>work.samples + first * work.dims)
    elif work.indices != NULL and work.code == ST_float32:
        largest[float](&q, <float*>to, work.indices + b, <float*>source)
    elif work.indices != NULL:
        largest[double](&q, <double*>to, work.indices + b, <double*>source)
    elif q.last and not work.backward:
        average_last(&q, work.code, item, to, source)
    elif work.code == ST_float32:
        average[float](&q, <float*>to, <float*>source, work.backward)
    else:
        average[double](&q, <double*>to, <double*>source, work.backward)


cdef int run_planes(Work* work) except -1:
    """Over all planes, or over rows of all channels, on several threads where there is much to do; lets go of the tables."""
    cdef int64_t lead = lines_of(&work.q.b) if work.q.last and not work.backward else lead_of(&work.q.b, work.q.last)
    cdef int64_t parts = parts_for(lead, work.q.a.n * work.q.a.c * work.q.a.plane * 4 * WORK)
    work.q.room = <char*>malloc(parts * line_bytes(&work.q))
    if work.q.room != NULL:
        with nogil:
            in_spans(take_planes, work, lead, parts)
    free(work.q.first[0])
    if work.q.room == NULL:
        raise MemoryError
    free(work.q.room)
    return 0


cdef int run_average(Tensor out, Tensor given, int dims, bint backward) except -1:
    cdef Work work
    cdef int code, itemsize, memory_format = format_of(out)
    cdef Tensor x, y
    if out.c_numel == 0 and not backward and dims == 2:
        return 0
    check_kernel(given.c_dtype, DTYPES_FLOATING)
    if backward:
        check_gradient(out, given, dims)
    if out.c_numel == 0:
        return 0
    if not backward and is_contiguous_as(out, format_of(given)):         # of one element both formats are the same
        memory_format = format_of(given)
    code = computed_in(given.c_dtype) if backward or memory_format == MF_contiguous else given.c_dtype
    itemsize = dtypes.itemsize_table()[code]
    x, y = dense(given, code, memory_format), target(out, code, memory_format)
    work.code, work.backward, work.indices, work.samples = code, backward, NULL, NULL
    work.source, work.to = data_of(x, itemsize), data_of(y, itemsize)
    kept = pinned(LONG_RUN, x, y)
    if backward:
        memset(work.to, 0, y.c_numel * itemsize)
    if given.c_numel == 0:
        return finish(out, y)
    make_bins(&work.q, given if backward else out, out if backward else given, dims, memory_format)
    cut_evenly(&work.q)
    work.q.b.n = min(work.q.a.n, work.q.b.n)
    run_planes(&work)
    return finish(out, y)


# ---- maxima ------------------------------------------------------------------------------------

cdef void largest_in(Bins* q, real* out, int64_t* indices, const real* x) noexcept nogil:
    """Of one plane."""
    cdef int64_t d, h, w, at
    cdef int64_t count[3]
    cdef int64_t step[3]
    step[0], step[1], step[2] = q.a.size[1] * q.a.size[2], q.a.size[2], 1
    for d in range(q.b.size[0]):
        for h in range(q.b.size[1]):
            count[0], count[1] = q.end[0][d] - q.first[0][d], q.end[1][h] - q.first[1][h]
            for w in range(q.b.size[2]):
                at = q.first[0][d] * step[0] + q.first[1][h] * step[1] + q.first[2][w]
                count[2] = q.end[2][w] - q.first[2][w]
                if real is float:
                    largest_place_f32(out, indices, x, count, step, at)
                else:
                    largest_place_f64(out, indices, x, count, step, at)
                out += 1
                indices += 1


cdef void largest_last(Bins* q, real* out, int64_t* indices, const real* x) noexcept nogil:
    cdef int64_t r, d, h, w, i, j, k, e, at, first, done, c = q.b.c
    cdef int64_t count[3]
    cdef int64_t step[3]
    cdef const real* image
    step[0], step[1], step[2] = q.a.size[1] * q.a.size[2], q.a.size[2], 1
    out += q.line * q.b.size[2] * c
    indices += q.line * q.b.size[2] * c
    for r in range(q.line, q.stop):
        h, d = r % q.b.size[1], r // q.b.size[1] % q.b.size[0]
        image = x + image_of_line(q, r) * c
        count[0], count[1] = q.end[0][d] - q.first[0][d], q.end[1][h] - q.first[1][h]
        for w in range(q.b.size[2]):
            first = (q.first[0][d] * q.a.size[1] + q.first[1][h]) * q.a.size[2] + q.first[2][w]
            count[2] = q.end[2][w] - q.first[2][w]
            done = 0
            if q.a.plane <= INT32_MAX:
                if real is float:
                    done = largest_window_f32(out, indices, image, c, count, step, first)
                else:
                    done = largest_window_f64(out, indices, image, c, count, step, first)
            for e in range(done, c):
                out[e], indices[e] = <real>-INFINITY, first
            if done < c:
                for i in range(count[0]):
                    for j in range(count[1]):
                        for k in range(count[2]):
                            at = first + i * step[0] + j * step[1] + k
                            if real is float:
                                largest_pixel_f32(out + done, indices + done, image + at * c + done, c - done, at)
                            else:
                                largest_pixel_f64(out + done, indices + done, image + at * c + done, c - done, at)
            out += c
            indices += c


cdef void largest(Bins* q, real* out, int64_t* indices, const real* x) noexcept nogil:
    cdef int64_t p
    if q.last:
        largest_last(q, out, indices, x)
    else:
        for p in range(q.b.n * q.b.c):
            largest_in(q, out + p * q.b.plane, indices + p * q.b.plane, x + p * q.a.plane)


cdef int run_largest(Tensor out, Tensor indices, Tensor self, int dims) except -1:
    cdef Work work
    cdef int code = computed_in(self.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef int memory_format = format_of(out)
    cdef Tensor x, y, at
    check_kernel(self.c_dtype, DTYPES_FLOATING)
    if out.c_numel == 0:
        return 0
    x, y, at = dense(self, code, memory_format), target(out, code, memory_format), target(indices, ST_int64, memory_format)
    work.code, work.backward, work.samples = code, False, NULL
    work.source, work.to, work.indices = data_of(x, itemsize), data_of(y, itemsize), <int64_t*>data_of(at, 8)
    kept = pinned(LONG_RUN, x, y, at)
    make_bins(&work.q, out, self, dims, memory_format)
    cut_evenly(&work.q)
    run_planes(&work)
    finish(indices, at)
    return finish(out, y)


# ---- gradients and unpooling: by an index --------------------------------------------------------

cdef int64_t add_at(const Image* a, const Image* b, bint last, real* out, const real* g, const int64_t* at) noexcept nogil:
    """`a`: where to, `b`: where from, with as many channels. -1, or the place of an index that is outside."""
    cdef int64_t n, c, i, wrong = -1, before = 0
    if not last:
        for n in range(min(a.n, b.n) * b.c):
            for i in range(b.plane):
                if 0 <= at[i] < a.plane:
                    out[at[i]] += g[i]
                else:
                    wrong = before + i
            out += a.plane
            at += b.plane
            g += b.plane
            before += b.plane
        return wrong
    for n in range(min(a.n, b.n)):
        for i in range(b.plane):
            for c in range(b.c):
                if 0 <= at[c] < a.plane:
                    out[at[c] * a.c + c] += g[c]
                else:
                    wrong = before + c
            at += b.c
            g += b.c
            before += b.c
        out += a.c * a.plane
    return wrong


cdef int scatter_gradients(Tensor grad_input, Tensor grad_output, Tensor indices, int dims, bint strict=False) except -1:
    cdef int code = computed_in(grad_output.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef int memory_format = format_of(grad_input)
    cdef Image a, b
    cdef bint last = memory_format != MF_contiguous
    cdef Tensor x, y, at
    cdef char* source
    cdef char* to
    cdef int64_t* places
    cdef int64_t wrong = -1
    check_kernel(grad_output.c_dtype, DTYPES_FLOATING)
    check_gradient(grad_input, grad_output, dims)
    if indices.shape != grad_output.shape:
        raise refused(f"expected indices of grad_output's sizes {list(grad_output.shape)}, got {list(indices.shape)}")
    a, b = image_of(grad_input, dims), image_of(grad_output, dims)
    if grad_input.c_numel == 0:
        return 0
    x, y = dense(grad_output, code, memory_format), target(grad_input, code, memory_format)
    at = dense(indices, ST_int64, memory_format)
    source, to, places = data_of(x, itemsize), data_of(y, itemsize), <int64_t*>data_of(at, 8)
    memset(to, 0, y.c_numel * itemsize)
    if at.c_numel < x.c_numel or b.c != a.c:
        raise refused("indices must have grad_output's sizes")
    if x.c_numel:
        kept = pinned(LONG_RUN, x, y, at)
        with nogil:
            if code == ST_float32:
                wrong = add_at[float](&a, &b, last, <float*>to, <float*>source, places)
            else:
                wrong = add_at[double](&a, &b, last, <double*>to, <double*>source, places)
    if strict and wrong >= 0:
        raise refused(f"indices must be places of a plane of {a.plane} elements, got {places[wrong]}")
    return finish(grad_input, y)


cdef int64_t put_at(Image* a, Image* b, bint last, real* out, const real* x, const int64_t* at) noexcept nogil:
    """-1, or the place of an index that is outside."""
    cdef int64_t n, c, i, where
    for n in range(a.n):
        for c in range(a.c):
            for i in range(b.plane):
                where = n * b.c * b.plane + (i * b.c + c if last else c * b.plane + i)
                if not 0 <= at[where] < a.plane:
                    return where
                out[n * a.c * a.plane + (at[where] * a.c + c if last else c * a.plane + at[where])] = x[where]
    return -1


cdef int unpool(Tensor out, Tensor self, Tensor indices, int dims) except -1:
    cdef int code = computed_in(self.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef int memory_format = format_of(out)
    cdef Image a = image_of(out, dims), b = image_of(self, dims)
    cdef bint last = memory_format != MF_contiguous
    cdef Tensor x, y, at
    cdef char* source
    cdef char* to
    cdef int64_t* places
    cdef int64_t wrong = -1
    check_kernel(self.c_dtype, DTYPES_FLOATING)
    if out.c_numel == 0:
        return 0
    x, y, at = dense(self, code, memory_format), target(out, code, memory_format), dense(indices, ST_int64, memory_format)
    source, to, places = data_of(x, itemsize), data_of(y, itemsize), <int64_t*>data_of(at, 8)
    memset(to, 0, y.c_numel * itemsize)
    kept = pinned(LONG_RUN, x, y, at)
    with nogil:
        if code == ST_float32:
            wrong = put_at[float](&a, &b, last, <float*>to, <float*>source, places)
        else:
            wrong = put_at[double](&a, &b, last, <double*>to, <double*>source, places)
    if wrong >= 0:
        raise refused(f"indices must be places of a plane of {a.plane} elements, got {places[wrong]}")
    return finish(out, y)


# ---- fractional --------------------------------------------------------------------------------

cdef void cut_randomly(Bins* q, int dims, const int64_t* kernel, const real* samples) noexcept nogil:
    """Windows of one size, a random step apart; the samples of images come width first."""
    cdef int64_t k, n
    cdef int i, d
    cdef real alpha, sample
    for i in range(3):
        q.first[i][0], q.end[i][0] = 0, 1
    for d in range(dims):
        i = 3 - dims + d
        n = q.b.size[i]
        sample = samples[1 - d if dims == 2 else d]
        if n > 1:
            alpha = <real>(q.a.size[i] - kernel[d]) / <real>(n - 1)
            for k in range(n - 1):
                q.first[i][k] = <int64_t>((<real>k + sample) * alpha) - <int64_t>(sample * alpha)
        q.first[i][n - 1] = q.a.size[i] - kernel[d]
        for k in range(n):
            q.first[i][k] = max(min(q.first[i][k], q.a.size[i] - kernel[d]), 0)
            q.end[i][k] = q.first[i][k] + kernel[d]


cdef void fractional(Bins* q, const Work* work, real* out, int64_t* indices, const real* x, const real* samples) noexcept nogil:
    cdef int64_t p
    for p in range(q.b.n * q.b.c):
        cut_randomly(q, work.dims, work.kernel, samples + p * work.dims)
        largest_in(q, out + p * q.b.plane, indices + p * q.b.plane, x + p * q.a.plane)


cdef int run_fractional(Tensor out, Tensor indices, Tensor self, IntArray kernel_size, Tensor random_samples,
                        int dims) except -1:
    cdef Work work
    cdef int code = computed_in(self.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x, y, at, r
    check_kernel(self.c_dtype, DTYPES_FLOATING)
    if out.c_numel == 0:
        return 0
    x, r = dense(self, code, MF_contiguous), dense(random_samples, code, MF_contiguous)
    y, at = target(out, code, MF_contiguous), target(indices, ST_int64, MF_contiguous)
    work.code, work.backward, work.dims, work.kernel = code, False, dims, kernel_size.data
    work.source, work.to, work.samples = data_of(x, itemsize), data_of(y, itemsize), data_of(r, itemsize)
    work.indices = <int64_t*>data_of(at, 8)
    kept = pinned(LONG_RUN, x, y, at, r)
    make_bins(&work.q, out, self, dims, MF_contiguous)
    run_planes(&work)
    finish(indices, at)
    return finish(out, y)


# ---- operators ---------------------------------------------------------------------------------

cdef int fractional_max_pool2d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size,
                               IntArray output_size, Tensor random_samples) except -1:
    return run_fractional(out, indices, self, kernel_size, random_samples, 2)


cdef int fractional_max_pool3d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size,
                               IntArray output_size, Tensor random_samples) except -1:
    return run_fractional(out, indices, self, kernel_size, random_samples, 3)


cdef int fractional_max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 2, True)


cdef int fractional_max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 3, True)


cdef int adaptive_max_pool2d(Tensor out, Tensor indices, Tensor self,
                             IntArray output_size) except -1:
    return run_largest(out, indices, self, 2)


cdef int adaptive_max_pool3d(Tensor out, Tensor indices, Tensor self,
                             IntArray output_size) except -1:
    return run_largest(out, indices, self, 3)


cdef int adaptive_max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 2)


cdef int adaptive_max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 3)


cdef int adaptive_avg_pool2d(Tensor out, Tensor self, IntArray output_size) except -1:
    return run_average(out, self, 2, False)


cdef int adaptive_avg_pool3d(Tensor out, Tensor self, IntArray output_size) except -1:
    return run_average(out, self, 3, False)


cdef int adaptive_avg_pool2d_backward(Tensor grad_input, Tensor grad_output,
                                      Tensor self) except -1:
    return run_average(grad_input, grad_output, 2, True)


cdef int adaptive_avg_pool3d_backward(Tensor grad_input, Tensor grad_output,
                                      Tensor self) except -1:
    return run_average(grad_input, grad_output, 3, True)


cdef int max_unpool2d(Tensor out, Tensor self, Tensor indices, IntArray output_size) except -1:
    return unpool(out, self, indices, 2)


cdef int max_unpool3d(Tensor out, Tensor self, Tensor indices, IntArray output_size,
                      IntArray stride, IntArray padding) except -1:
    return unpool(out, self, indices, 3)
