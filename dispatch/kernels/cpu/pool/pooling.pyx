"""Bodies of pools with windows of one size: averages and maxima of images, lines and volumes.

Called by the structured kernels with outputs of the right size. Each loop runs over the positions
of the windows, channels first or last as the output has them; fewer dimensions are volumes of
depth or height 1. What lies in the padding is not looked at.
"""
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT64_MIN, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOATING, DTYPES_FULL_FLOATING, DTYPES_INTEGRAL, MF_channels_last, MF_contiguous, ST_float32,
    ST_float64, ST_int64, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch._C.values cimport IntArray
from dispatch._ops import ops
from dispatch.kernels.cpu.dense cimport (
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, format_of, image_of, lead_of, lines_of, pinned, take_lead,
    target,
)
from dispatch.kernels.cpu.pixels cimport add_scaled_f32, add_scaled_f64
from dispatch.kernels.cpu.pool.places cimport scatter_gradients
from dispatch.kernels.cpu.runs cimport run_spans
from dispatch.kernels.cpu.threads cimport in_spans, parts_for
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.pool.windows cimport Windows, handed_windows

cdef extern from "pool/neighbours.h" nogil:
    void largest_row_f32(float* most, int64_t* best, const float* x, int64_t n, int64_t step, int64_t at)
    void largest_row_f64(double* most, int64_t* best, const double* x, int64_t n, int64_t step, int64_t at)
    void largest_row_i64(int64_t* most, int64_t* best, const int64_t* x, int64_t n, int64_t step, int64_t at)
    void largest_pixel_f32(float* most, int64_t* best, const float* x, int64_t n, int64_t at)
    void largest_pixel_f64(double* most, int64_t* best, const double* x, int64_t n, int64_t at)
    void largest_pixel_i64(int64_t* most, int64_t* best, const int64_t* x, int64_t n, int64_t at)
    int64_t largest_window_f32(float* most, int64_t* best, const float* x, int64_t n, const int64_t* count, const int64_t* step,
                               int64_t at)
    int64_t largest_window_f64(double* most, int64_t* best, const double* x, int64_t n, const int64_t* count, const int64_t* step,
                               int64_t at)
    int64_t largest_window_i64(int64_t* most, int64_t* best, const int64_t* x, int64_t n, const int64_t* count,
                               const int64_t* step, int64_t at)
    ctypedef void (*average_window)(void* to, const void* x, int64_t deep, int64_t plane, int64_t high, int64_t line,
                                    int64_t wide, int64_t n, int64_t count) noexcept nogil
    average_window average_window_of(int code)
    void largest_line_f32(float* most, const float* x, int64_t n, int64_t kernel, int64_t step, int64_t dilation)
    void largest_line_f64(double* most, const double* x, int64_t n, int64_t kernel, int64_t step, int64_t dilation)

cdef extern from "vectorised.h":
    pass

cdef enum:
    WORK = 4                     # bytes of a window's elements take as long as so many that are copied

ctypedef fused number:
    float
    double
    int64_t

ctypedef fused real:
    float
    double

cdef struct Pool:
    Windows w
    Image a, b                   # input and output
    bint last                    # channels last
    int64_t line, stop           # of results whose channels are last: the rows to make, of all images
    bint count_padding
    int64_t divisor              # 0: as many as there are elements
    char* room                   # of a gradient whose channels are first: lines of its own for each thread


cdef object _resize_ = ops.aten.resize_.default


# ---- maxima ------------------------------------------------------------------------------------

cdef inline void seen(const Pool* q, int i, int64_t at, int64_t* first, int64_t* end) noexcept nogil:
    """The elements of dimension i that a window sees, in steps of its dilation."""
    cdef int64_t start = at * q.w.stride[i] - q.w.padding[i]
    end[0] = min(start + (q.w.kernel[i] - 1) * q.w.dilation[i] + 1, q.a.size[i])
    if start < 0:
        start += (q.w.dilation[i] - 1 - start) // q.w.dilation[i] * q.w.dilation[i]
    first[0] = start


cdef inline void largest_row(number* most, int64_t* best, const number* x, int64_t n, int64_t step, int64_t at) noexcept nogil:
    if number is float:
        largest_row_f32(most, best, x, n, step, at)
    elif number is double:
        largest_row_f64(most, best, x, n, step, at)
    else:
        largest_row_i64(most, best, x, n, step, at)


cdef inline void largest_pixel(number* most, int64_t* best, const number* x, int64_t n, int64_t at) noexcept nogil:
    if number is float:
        largest_pixel_f32(most, best, x, n, at)
    elif number is double:
        largest_pixel_f64(most, best, x, n, at)
    else:
        largest_pixel_i64(most, best, x, n, at)


cdef inline number lowest(number like) noexcept nogil:
    return INT64_MIN if number is int64_t else <number>-INFINITY


cdef inline void inside_row(const Pool* q, int64_t k, int64_t* first, int64_t* end) noexcept nogil:
    """The windows of a row whose element k is inside."""
    cdef int64_t offset = k * q.w.dilation[2] - q.w.padding[2], stride = q.w.stride[2]
    first[0] = 0 if offset >= 0 else (stride - 1 - offset) // stride
    end[0] = 0 if offset >= q.a.size[2] else min(q.b.size[2], (q.a.size[2] - 1 - offset) // stride + 1)


cdef void largest_first(const Pool* q, number* out, int64_t* indices, const number* x) noexcept nogil:
    """Of equal values the first counts, of several NaN the last. Element by element of the windows, a row of them at a time."""
    cdef int64_t p, d, h, w, i, j, k, d0, d1, h0, h1, w0, w1, line, at
    cdef int64_t reached = min(q.w.kernel[2], (q.a.size[2] + q.w.padding[2] - 1) // q.w.dilation[2] + 1)
    for p in range(q.b.n * q.b.c):
        for d in range(q.b.size[0]):
            seen(q, 0, d, &d0, &d1)
            for h in range(q.b.size[1]):
                seen(q, 1, h, &h0, &h1)
                for w in range(q.b.size[2]):
                    seen(q, 2, w, &w0, &w1)
                    out[w], indices[w] = lowest(<number>0), (d0 * q.a.size[1] + h0) * q.a.size[2] + w0
                i = d0
                while i < d1:
                    j = h0
                    while j < h1:
                        line = (i * q.a.size[1] + j) * q.a.size[2]
                        for k in range(reached):
                            inside_row(q, k, &w0, &w1)
                            if w0 < w1:
                                at = line + w0 * q.w.stride[2] + k * q.w.dilation[2] - q.w.padding[2]
                                largest_row(out + w0, indices + w0, x + at, w1 - w0, q.w.stride[2], at)
                        j += q.w.dilation[1]
                    i += q.w.dilation[0]
                out += q.b.size[2]
                indices += q.b.size[2]
        x += q.a.plane


cdef inline int64_t largest_window(number* most, int64_t* best, const number* x, int64_t n, const int64_t* count,
                                   const int64_t* step, int64_t at) noexcept nogil:
    if number is float:
        return largest_window_f32(most, best, x, n, count, step, at)
    elif number is double:
        return largest_window_f64(most, best, x, n, count, step, at)
    else:
        return largest_window_i64(most, best, x, n, count, step, at)


cdef inline int64_t image_of_line(const Pool* q, int64_t r) noexcept nogil:
    """The place where the image begins that row r of the results is made of."""
    return r // (q.b.size[0] * q.b.size[1]) * q.a.plane


cdef void largest_last(const Pool* q, number* out, int64_t* indices, const number* x) noexcept nogil:
    cdef int64_t r, w, i, j, k, e, done, at, first, c = q.b.c
    cdef int64_t begin[3]
    cdef int64_t end[3]
    cdef int64_t count[3]
    cdef int64_t step[3]
    cdef const number* image
    step[0], step[1] = q.w.dilation[0] * q.a.size[1] * q.a.size[2], q.w.dilation[1] * q.a.size[2]
    step[2] = q.w.dilation[2]
    out += q.line * q.b.size[2] * c
    indices += q.line * q.b.size[2] * c
    for r in range(q.line, q.stop):
        seen(q, 0, r // q.b.size[1] % q.b.size[0], &begin[0], &end[0])
        seen(q, 1, r % q.b.size[1], &begin[1], &end[1])
        image = x + image_of_line(q, r) * c
        for w in range(q.b.size[2]):
            seen(q, 2, w, &begin[2], &end[2])
            for i in range(3):
                count[i] = (end[i] - begin[i] + q.w.dilation[i] - 1) // q.w.dilation[i]
            first = (begin[0] * q.a.size[1] + begin[1]) * q.a.size[2] + begin[2]
            done = largest_window(out, indices, image, c, count, step, first) if q.a.plane <= INT32_MAX else 0
            for e in range(done, c):
                out[e], indices[e] = lowest(<number>0), first
            if done < c:
                for i in range(count[0]):
                    for j in range(count[1]):
                        for k in range(count[2]):
                            at = first + i * step[0] + j * step[1] + k * step[2]
                            largest_pixel(out + done, indices + done, image + at * c + done, c - done, at)
            out += c
            indices += c


cdef void largest(const Pool* q, number* out, int64_t* indices, const number* x) noexcept nogil:
    if q.last:
        largest_last(q, out, indices, x)
    else:
        largest_first(q, out, indices, x)


cdef struct Work:                # a loop, and what it runs over
    Pool q
    int code, itemsize           # of what is computed in, or of 16-bit floats as they are stored
    bint backward                # `to` has the input's sizes
    int64_t* indices             # of maxima
    char* to
    char* source


cdef void take_planes(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Work* work = <Work*>context
    cdef Pool q = work.q
    cdef int64_t a = 0, b = 0
    if q.last and not work.backward:
        q.line, q.stop = first, end
    else:
        a, b = take_lead(&q.a, q.last, first, end - first), take_lead(&q.b, q.last, first, end - first)
    cdef int item = work.itemsize
    cdef char* to = work.to + (a if work.backward else b) * item
    cdef char* source = work.source + (b if work.backward else a) * item
    q.room += part * line_bytes(&q)
    if work.indices == NULL:
        average_typed(&q, work.code, item, to, source, work.backward)
    elif work.code == ST_float32:
        largest[float](&q, <float*>to, work.indices + b, <float*>source)
    elif work.code == ST_float64:
        largest[double](&q, <double*>to, work.indices + b, <double*>source)
    else:
        largest[int64_t](&q, <int64_t*>to, work.indices + b, <int64_t*>source)


cdef inline int64_t line_bytes(const Pool* q) noexcept nogil:
    return (q.a.size[2] + 2 * q.b.size[2]) * 8


cdef int run_planes(Work* work, int64_t numel) except -1:
    """Over all planes, or over rows of all channels, on several threads where there is much to do."""
    cdef int64_t lead = lines_of(&work.q.b) if work.q.last and not work.backward else lead_of(&work.q.b, work.q.last)
    cdef int64_t parts = parts_for(lead, numel * 4 * WORK)
    work.q.room = NULL
    if work.backward:
        work.q.room = <char*>malloc(parts * line_bytes(&work.q))
        if work.q.room == NULL:
            raise MemoryError
    if numel >= LONG_RUN:
        with nogil:
            in_spans(take_planes, work, lead, parts)
    else:
        in_spans(take_planes, work, lead, parts)
    free(work.q.room)
    return 0


cdef int check_index_fits(Tensor self, int memory_format) except -1:
    """PyTorch keeps indices in integers of the input's width while channels are last."""
    cdef int64_t positions = 1, largest = (<uint64_t>1 << (8 * dtypes.itemsize_table()[self.c_dtype] - 1)) - 1
    cdef int i
    if memory_format == MF_contiguous or not is_integral_code(self.c_dtype, False):
        return 0
    for i in range(2, self.c_ndim):
        positions *= self.c_sizes[i]
    if positions > largest:
        raise refused(f"self in channels_last may have at most {largest} positions for "
                      f"{dtypes.get_dtype(self.c_dtype)!r}, got {list(new_size(self.c_ndim, self.c_sizes))}")
    return 0


cdef int run_largest(Tensor out, Tensor indices, Tensor self, int dims, const int64_t* handed) except -1:
    cdef Work work
    cdef int code = computed_in(self.c_dtype), memory_format = rules.suggest_memory_format(self)
    cdef int itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x, y, at
    check_kernel(self.c_dtype, DTYPES_FLOATING | DTYPES_INTEGRAL)
    check_index_fits(self, memory_format)
    if out.c_numel == 0:
        return 0
    memory_format = format_of(out)
    handed_windows(&work.q.w, handed)
    work.q.a, work.q.b, work.q.last = image_of(self, dims), image_of(out, dims), memory_format != MF_contiguous
    x, y, at = dense(self, code, memory_format), target(out, code, memory_format), target(indices, ST_int64, memory_format)
    work.code, work.itemsize, work.backward = code, itemsize, False
    work.source, work.to, work.indices = data_of(x, itemsize), data_of(y, itemsize), <int64_t*>data_of(at, 8)
    kept = pinned(self.c_numel, x, y, at)
    run_planes(&work, self.c_numel)
    finish(indices, at)
    return finish(out, y)


cdef void largest_ends(real* most, const real* x, int64_t size, int64_t first, int64_t end, int64_t kernel, int64_t stride,
                       int64_t padding, int64_t dilation) noexcept nogil:
    """The windows first..end of a line, of which some reach into the padding."""
    cdef int64_t i, k, at
    cdef real value
    for i in range(first, end):
        value = <real>-INFINITY
        for k in range(kernel):
            at = i * stride + k * dilation - padding
            if 0 <= at < size and (x[at] > value or x[at] != x[at]):
                value = x[at]
        most[i] = value


cdef void largest_line(real* most, const real* x, int64_t size, int64_t n, int64_t kernel, int64_t stride, int64_t padding,
                       int64_t dilation) noexcept nogil:
    cdef int64_t first = min((padding + stride - 1) // stride, n), room = size - 1 - (kernel - 1) * dilation + padding
    cdef int64_t end = max(min(room // stride + 1 if room >= 0 else 0, n), first)
    if first < end and real is float:
        largest_line_f32(<float*>most + first, <float*>x + first * stride - padding, end - first, kernel, stride, dilation)
    elif first < end:
        largest_line_f64(<double*>most + first, <double*>x + first * stride - padding, end - first, kernel, stride, dilation)
    largest_ends(most, x, size, 0, first, kernel, stride, padding, dilation)
    largest_ends(most, x, size, end, n, kernel, stride, padding, dilation)


cdef struct Lines:
    int code
    char* to
    char* source
    int64_t length, n, kernel, stride, padding, dilation


cdef void take_lines(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Lines* j = <Lines*>context
    cdef int64_t p
    for p in range(first, end):
        if j.code == ST_float32:
            largest_line(<float*>j.to + p * j.n, <float*>j.source + p * j.length, j.length, j.n, j.kernel, j.stride, j.padding,
                         j.dilation)
        else:
            largest_line(<double*>j.to + p * j.n, <double*>j.source + p * j.length, j.length, j.n, j.kernel, j.stride, j.padding,
                         j.dilation)


def max_line(Tensor self not None, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation):
    """The largest elements of the windows of lines; None where there is no window."""
    cdef int code = computed_in(self.c_dtype), itemsize = dtypes.itemsize_table()[code], d = self.c_ndim - 1, i
    cdef int64_t sizes[3]
    cdef int64_t n, length, lines = 1
    cdef Tensor x, y, out
    cdef Lines j
    if kernel < 1 or stride < 1 or dilation < 1 or not 0 <= padding <= kernel // 2 or self.c_numel == 0 \
            or (self.c_sizes[d] + 2 * padding - 1) // dilation < kernel - 1:
        return None
    length = self.c_sizes[d]
    n = (length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    for i in range(d):
        sizes[i] = self.c_sizes[i]
        lines *= sizes[i]
    sizes[d] = n
    out = new_empty(self.c_dtype, DEV_CPU, -1, d + 1, sizes, NULL)
    x, y = dense(self, code, MF_contiguous), target(out, code, MF_contiguous)
    j.code, j.source, j.to = code, data_of(x, itemsize), data_of(y, itemsize)
    j.length, j.n, j.kernel, j.stride, j.padding, j.dilation = length, n, kernel, stride, padding, dilation
    run_spans(take_lines, &j, lines, x.c_numel, x.c_numel * 4, (x, y))
    finish(out, y)
    return out


cdef int lay_out(Tensor out, int memory_format) except -1:
    """PyTorch lays given outputs of volumes out anew."""
    cdef int64_t strides[64]
    cdef int i
    rules.strides_for(strides, out.c_sizes, out.c_ndim, memory_format)
    for i in range(out.c_ndim):
        if strides[i] != out.c_strides[i]:
            _resize_(out, list(new_size(out.c_ndim, out.c_sizes)),
                     memory_format=dtypes.get_memory_format(memory_format))
            return 0
    return 0


# ---- averages ----------------------------------------------------------------------------------

cdef inline int64_t covered(const Pool* q, int i, int64_t at, int64_t* first, int64_t* end) noexcept nogil:
    """The elements of dimension i under a window; how many there are with the padding."""
    cdef int64_t start = at * q.w.stride[i] - q.w.padding[i]
    cdef int64_t stop = min(start + q.w.kernel[i], q.a.size[i] + q.w.padding[i])
    first[0], end[0] = max(start, 0), min(stop, q.a.size[i])
    return stop - start


cdef inline int64_t divisor_of(const Pool* q, int64_t padded, int64_t inside) noexcept nogil:
    return q.divisor if q.divisor else padded if q.count_padding else inside


cdef inline number share(number total, int64_t count) noexcept nogil:
    """Of integers cut off towards 0."""
    if number is int64_t:
        return total // count
    else:
        return total / count


cdef void average_first(const Pool* q, number* out, const number* x) noexcept nogil:
    cdef int64_t p, d, h, w, i, j, k, d0, d1, h0, h1, w0, w1, area, volume, inside
    cdef number total
    cdef const number* row
    for p in range(q.b.n * q.b.c):
        for d in range(q.b.size[0]):
            volume = covered(q, 0, d, &d0, &d1)
            for h in range(q.b.size[1]):
                area = volume * covered(q, 1, h, &h0, &h1)
                for w in range(q.b.size[2]):
                    inside = covered(q, 2, w, &w0, &w1) * area
                    total = 0
                    for i in range(d0, d1):
                        for j in range(h0, h1):
                            row = x + (i * q.a.size[1] + j) * q.a.size[2]
                            for k in range(w0, w1):
                                total += row[k]
                    if d0 < d1 and h0 < h1 and w0 < w1:
                        total = share(total, divisor_of(q, inside, (d1 - d0) * (h1 - h0) * (w1 - w0)))
                    out[0] = total
                    out += 1
        x += q.a.plane


cdef void average_last(const Pool* q, int code, int itemsize, char* out, const char* x) noexcept nogil:
    """In the dtype that elements are stored in."""
    cdef int64_t r, w, d0, d1, h0, h1, w0, w1, area, inside, c = q.b.c
    cdef int64_t line = q.a.size[2] * c, plane = q.a.size[1] * line
    cdef average_window window = average_window_of(code)
    cdef const char* image
    out += q.line * q.b.size[2] * c * itemsize
    for r in range(q.line, q.stop):
        area = covered(q, 0, r // q.b.size[1] % q.b.size[0], &d0, &d1) * covered(q, 1, r % q.b.size[1], &h0, &h1)
        image = x + image_of_line(q, r) * c * itemsize
        for w in range(q.b.size[2]):
            inside = covered(q, 2, w, &w0, &w1) * area
            if d0 < d1 and h0 < h1 and w0 < w1:
                inside = divisor_of(q, inside, (d1 - d0) * (h1 - h0) * (w1 - w0))
                window(out, image + (d0 * plane + h0 * line + w0 * c) * itemsize, d1 - d0, plane, h1 - h0, line, w1 - w0, c, inside)
            else:
                memset(out, 0, c * itemsize)
            out += c * itemsize


cdef inline void add_scaled(number* to, const number* x, number weight, int64_t n) noexcept nogil:
    cdef int64_t i
    if number is float:
        add_scaled_f32(to, x, weight, n)
    elif number is double:
        add_scaled_f64(to, x, weight, n)
    else:
        for i in range(n):
            to[i] += weight * x[i]


cdef inline void add_share(number* to, const number* g, int64_t count, int64_t n) noexcept nogil:
    """What each of `count` elements gets of n gradients."""
    cdef int64_t i
    if number is int64_t:
        for i in range(n):
            to[i] += share(g[i], count)
    else:
        add_scaled(to, g, <number>1 / <number>count, n)


cdef void spread_first(const Pool* q, number* out, const number* g) noexcept nogil:
    """The gradient: each window's share to each of its elements. A row of windows is laid out along the width once."""
    cdef int64_t p, d, h, w, i, j, k, d0, d1, h0, h1, w0, w1, area, volume, inside, step = q.w.stride[2], n = q.b.size[2]
    cdef number* line = <number*>q.room
    cdef number* part = line + q.a.size[2]
    cdef number* counts = part + n                       # the width's part of what a share is divided by
    for w in range(n):
        inside = covered(q, 2, w, &w0, &w1)
        counts[w] = 1 if q.divisor else max(inside if q.count_padding else w1 - w0, 1)
    for p in range(q.b.n * q.b.c):
        for d in range(q.b.size[0]):
            volume = covered(q, 0, d, &d0, &d1)
            for h in range(q.b.size[1]):
                area = volume * covered(q, 1, h, &h0, &h1)
                if d0 < d1 and h0 < h1:
                    area = divisor_of(q, area, (d1 - d0) * (h1 - h0))
                    memset(line, 0, q.a.size[2] * sizeof(number))
                    for w in range(n):
                        part[w] = share(g[w], counts[w] * area) if number is int64_t else g[w] / (counts[w] * <number>area)
                    for k in range(min(q.w.kernel[2], q.a.size[2] + q.w.padding[2])):
                        inside_row(q, k, &w0, &w1)
                        i = k - q.w.padding[2]
                        for w in range(w0, w1):
                            line[w * step + i] += part[w]
                    for i in range(d0, d1):
                        for j in range(h0, h1):
                            add_scaled(out + (i * q.a.size[1] + j) * q.a.size[2], line, <number>1, q.a.size[2])
                g += n
        out += q.a.plane


cdef void spread_last(const Pool* q, number* out, const number* g) noexcept nogil:
    cdef int64_t n, d, h, w, i, j, k, d0, d1, h0, h1, w0, w1, area, volume, inside, c = q.b.c
    for n in range(q.b.n):
        for d in range(q.b.size[0]):
            volume = covered(q, 0, d, &d0, &d1)
            for h in range(q.b.size[1]):
                area = volume * covered(q, 1, h, &h0, &h1)
                for w in range(q.b.size[2]):
                    inside = covered(q, 2, w, &w0, &w1) * area
                    if d0 < d1 and h0 < h1 and w0 < w1:
                        inside = divisor_of(q, inside, (d1 - d0) * (h1 - h0) * (w1 - w0))
                        for i in range(d0, d1):
                            for j in range(h0, h1):
                                for k in range(w0, w1):
                                    add_share(out + ((i * q.a.size[1] + j) * q.a.size[2] + k) * c, g, inside, c)
                    g += c
        out += q.a.plane * c


cdef void average(const Pool* q, number* out, const number* x, bint backward) noexcept nogil:
    if backward and q.last:
        spread_last(q, out, x)
    elif backward:
        spread_first(q, out, x)
    else:
        average_first(q, out, x)


cdef void average_typed(const Pool* q, int code, int itemsize, void* out, void* x, bint backward) noexcept nogil:
    if q.last and not backward:
        average_last(q, code, itemsize, <char*>out, <char*>x)
    elif code == ST_float32:
        average[float](q, <float*>out, <float*>x, backward)
    elif code == ST_float64:
        average[double](q, <double*>out, <double*>x, backward)
    else:
        average[int64_t](q, <int64_t*>out, <int64_t*>x, backward)


cdef int run_average(Tensor out, Tensor given, Tensor self, int dims, bint count_include_pad, object divisor_override,
                     bint backward, const int64_t* handed) except -1:
    """`given`: self, or the gradient of the result."""
    cdef Work work
    cdef Pool* q = &work.q
    cdef int memory_format = format_of(out)
    cdef int code = computed_in(given.c_dtype) if backward or memory_format == MF_contiguous else given.c_dtype
    cdef int itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x, y
    check_kernel(given.c_dtype, (DTYPES_FLOATING if dims == 2 else DTYPES_FULL_FLOATING) | <int64_t>1 << ST_int64)
    if out.c_numel == 0:
        return 0
    handed_windows(&q.w, handed)
    q.count_padding, q.last = count_include_pad, memory_format != MF_contiguous
    q.divisor = 0 if divisor_override is None else divisor_override
    q.a, q.b = image_of(out if backward else self, dims), image_of(given if backward else out, dims)
    q.b.n = min(q.a.n, q.b.n)
    x, y = dense(given, code, memory_format), target(out, code, memory_format)
    work.code, work.itemsize, work.backward, work.indices = code, itemsize, backward, NULL
    work.source, work.to = data_of(x, itemsize), data_of(y, itemsize)
    kept = pinned(self.c_numel, x, y)
    if backward:
        memset(work.to, 0, y.c_numel * itemsize)
    run_planes(&work, self.c_numel)
    return finish(out, y)


# ---- operators ---------------------------------------------------------------------------------

cdef int max_pool2d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode, const int64_t* handed) except -1:
    return run_largest(out, indices, self, 2, handed)


cdef int max_pool3d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode, const int64_t* handed) except -1:
    cdef int memory_format = rules.suggest_memory_format(self)
    if memory_format == MF_channels_last:
        raise refused("self of 4 dimensions must not be in channels_last")
    if self.c_ndim == 5:
        lay_out(out, memory_format)
        lay_out(indices, memory_format)
    return run_largest(out, indices, self, 3, handed)


cdef int max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                             IntArray kernel_size, IntArray stride, IntArray padding,
                             IntArray dilation, bint ceil_mode, Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 2)


cdef int max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                             IntArray kernel_size, IntArray stride, IntArray padding,
                             IntArray dilation, bint ceil_mode, Tensor indices) except -1:
    return scatter_gradients(grad_input, grad_output, indices, 3)


cdef int avg_pool2d(Tensor out, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding, bint ceil_mode,
                    bint count_include_pad, object divisor_override, const int64_t* handed) except -1:
    return run_average(out, self, self, 2, count_include_pad, divisor_override, False, handed)


cdef int avg_pool3d(Tensor out, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding, bint ceil_mode,
                    bint count_include_pad, object divisor_override, const int64_t* handed) except -1:
    return run_average(out, self, self, 3, count_include_pad, divisor_override, False, handed)


cdef int avg_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self, IntArray kernel_size, IntArray stride,
                             IntArray padding, bint ceil_mode, bint count_include_pad, object divisor_override,
                             const int64_t* handed) except -1:
    return run_average(grad_input, grad_output, self, 2, count_include_pad, divisor_override, True, handed)


cdef int avg_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self, IntArray kernel_size, IntArray stride,
                             IntArray padding, bint ceil_mode, bint count_include_pad, object divisor_override,
                             const int64_t* handed) except -1:
    return run_average(grad_input, grad_output, self, 3, count_include_pad, divisor_override, True, handed)
