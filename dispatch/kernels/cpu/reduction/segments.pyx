"""Reductions of segments along a dimension.

Called for `segment_reduce` and its gradient. Segments are given by their lengths or by where they
start and end (`offsets`), for each index of the dimensions before `axis`. 16-bit floats are
computed in float32 and rounded once.
"""
from cython cimport floating
from libc.math cimport INFINITY, NAN, isnan
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOATING, MF_contiguous, ST_float64, ST_int32, ST_int64, itemsize_table,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.dense cimport check_kernel, computed_in, dense, finish, held, target
from dispatch.kernels.cpu.runs cimport address
from dispatch.kernels.meta cimport rules

cdef enum Reduction:
    REDUCE_SUM, REDUCE_MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD

cdef dict REDUCTIONS = {"sum": REDUCE_SUM, "mean": REDUCE_MEAN, "max": REDUCE_MAX, "min": REDUCE_MIN, "prod": REDUCE_PROD}

cdef struct Segments:
    int64_t before, size, behind             # `size`: along the axis
    int64_t count                            # segments for each index before it
    const int64_t* places                    # lengths, or `count` + 1 offsets
    bint are_offsets
    int reduction
    bint has_initial
    double initial


# ---- segments ----------------------------------------------------------------------------------

cdef int check_places(Tensor data, str name, Tensor t, int64_t axis) except -1:
    if data.c_ndim < t.c_ndim:
        raise refused(f"expected {name} to have at most {data.c_ndim} dimensions, got {t.c_ndim}")
    if axis != t.c_ndim - 1:
        raise refused(f"expected axis to be the last dimension of {name}, got {axis}")
    if t.c_dtype != ST_int32 and t.c_dtype != ST_int64:
        raise refused(f"no CPU kernel for {name} of {t.dtype}", NotImplementedError)
    return 0


cdef int check_within(Segments* s, bint unsafe) except -1:
    """No segment reaches beyond the data; lengths add up to it unless `unsafe`."""
    cdef int64_t i, j, start, end
    for i in range(s.before):
        end = 0
        for j in range(s.count):
            if s.are_offsets:
                start, end = s.places[i * (s.count + 1) + j], s.places[i * (s.count + 1) + j + 1]
            else:
                start, end = end, end + s.places[i * s.count + j]
            if end < start and not s.are_offsets and not unsafe:
                raise refused("lengths contains negative value!")
            if start < 0 or end < 0 or start > s.size or end > s.size:
                raise refused(f"expected segments within the {s.size} elements of data along axis, got one from {start} to {end}")
        if not s.are_offsets and not unsafe and end != s.size:
            raise refused(f"Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe. "
                          f"It is {s.size}")
    return 0


cdef Tensor read_segments(Segments* s, Tensor data, Tensor lengths, Tensor offsets, int64_t axis, bint unsafe):
    """Sizes and places; the tensor that holds these."""
    cdef Tensor given = lengths if offsets is None else offsets, places
    cdef str name = "lengths" if offsets is None else "offsets"
    cdef int64_t d
    if given is None:
        raise refused("Either lengths or offsets must be defined.")
    check_places(data, name, given, axis)
    for d in range(axis):
        if given.c_sizes[d] != data.c_sizes[d]:
            raise refused(f"expected {name} of shape {list(given.shape)} to have data's sizes {list(data.shape)} before axis")
    places = dense(given, ST_int64, MF_contiguous)
    if places is given:                  # what is checked here is read again without the lock
        places = new_empty(ST_int64, DEV_CPU, -1, given.c_ndim, given.c_sizes, NULL)
        copy_values(places, given)
    s.before = s.behind = 1
    for d in range(axis):
        s.before *= data.c_sizes[d]
    for d in range(axis + 1, data.c_ndim):
        s.behind *= data.c_sizes[d]
    s.size, s.places, s.are_offsets = data.c_sizes[axis], <const int64_t*>address(places), offsets is not None
    s.count = given.c_sizes[axis] - s.are_offsets
    if s.count < 0:
        raise refused("expected offsets to have at least one element")
    check_within(s, unsafe)
    return places


cdef inline void bounds(const Segments* s, int64_t i, int64_t j, int64_t* start, int64_t* end) noexcept nogil:
    """Where the j-th segment is; lengths are walked in order, from an end of 0."""
    if s.are_offsets:
        start[0], end[0] = s.places[i * (s.count + 1) + j], s.places[i * (s.count + 1) + j + 1]
    else:
        start[0] = end[0]
        end[0] += s.places[i * s.count + j]


cdef int read_reduction(Segments* s, object reduce, object initial) except -1:
    if reduce not in REDUCTIONS:
        raise refused(f"expected reduce to be one of {list(REDUCTIONS)}, got {reduce!r}")
    s.reduction, s.has_initial = REDUCTIONS[reduce], initial is not None
    if initial is not None:
        s.initial = initial
    else:
        s.initial = -INFINITY if s.reduction == REDUCE_MAX else INFINITY if s.reduction == REDUCE_MIN else \
            1 if s.reduction == REDUCE_PROD else 0
    return 0


# ---- forward -----------------------------------------------------------------------------------

cdef inline floating combined(int reduction, floating a, floating v) noexcept nogil:
    if reduction == REDUCE_MAX:
        return v if v > a or isnan(v) else a
    if reduction == REDUCE_MIN:
        return v if v < a or isnan(v) else a
    return a * v if reduction == REDUCE_PROD else a + v


cdef void reduce_segments(const Segments* s, const floating* x, floating* y) noexcept nogil:
    cdef int64_t i, j, k, r, start, end
    cdef floating a
    for i in range(s.before):
        end = 0
        for j in range(s.count):
            bounds(s, i, j, &start, &end)
            for k in range(s.behind):
                a = <floating>s.initial
                for r in range(start, end):
                    a = combined(s.reduction, a, x[(i * s.size + r) * s.behind + k])
                if s.reduction == REDUCE_MEAN and end > start:
                    a /= <floating>(end - start)
                elif s.reduction == REDUCE_MEAN and end == start and not s.has_initial:
                    a = <floating>NAN
                y[(i * s.count + j) * s.behind + k] = a


def segment_reduce(Tensor data not None, str reduce not None, *, Tensor lengths=None, Tensor indices=None, Tensor offsets=None,
                   int64_t axis=0, bint unsafe=False, initial=None):
    """Each segment of `data` along `axis` as one element."""
    cdef Segments s
    cdef int64_t sizes[64]
    cdef int d, code
    cdef Tensor out, x, y, places
    cdef object kept
    axis = rules.wrap_dim(axis, data.c_ndim, True)
    if indices is not None:
        raise refused("indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise refused("Either lengths or offsets must be defined.")
    read_reduction(&s, reduce, initial)
    places = read_segments(&s, data, lengths, offsets, axis, unsafe)
    check_kernel(data.c_dtype, DTYPES_FLOATING)
    for d in range(data.c_ndim):
        sizes[d] = data.c_sizes[d]
    sizes[axis] = s.count
    out = new_empty(data.c_dtype, DEV_CPU, -1, data.c_ndim, sizes, NULL)
    if out.c_numel == 0:
        return out
    code = computed_in(data.c_dtype)
    x, y = dense(data, code, MF_contiguous), target(out, code, MF_contiguous)
    kept = held(x, y, places)
    cdef void* from_ = address(x)
    cdef void* to = address(y)
    with nogil:
        if code == ST_float64:
            reduce_segments[double](&s, <double*>from_, <double*>to)
        else:
            reduce_segments[float](&s, <float*>from_, <float*>to)
    finish(out, y)
    return out


# ---- backward ----------------------------------------------------------------------------------

cdef void spread(const Segments* s, int64_t start, int64_t end, int64_t step, const floating* x, floating grad, floating output,
                 floating* to) noexcept nogil:
    """The gradient of one segment, from the result's; extremes that are there several times share theirs."""
    cdef int64_t r, ties = 0
    cdef floating product
    if s.reduction == REDUCE_MAX or s.reduction == REDUCE_MIN:
        for r in range(start, end):
            ties += isnan(x[r * step]) or x[r * step] == output
        for r in range(start, end):
            to[r * step] = grad / <floating>ties if isnan(x[r * step]) or x[r * step] == output else 0
    elif s.reduction == REDUCE_PROD:         # of each element, the product of the others: those before, then those behind
        product = <floating>s.initial
        for r in range(start, end):
            to[r * step] = product
            product *= x[r * step]
        product = grad
        for r in range(end - 1, start - 1, -1):
            to[r * step] *= product
            product *= x[r * step]
    else:
        for r in range(start, end):
            to[r * step] = grad / <floating>(end - start) if s.reduction == REDUCE_MEAN else grad


cdef void spread_segments(const Segments* s, const floating* x, const floating* grads, const floating* outputs,
                          floating* to) noexcept nogil:
    cdef int64_t i, j, k, start, end, at
    for i in range(s.before):
        end = 0
        for j in range(s.count):
            bounds(s, i, j, &start, &end)
            for k in range(s.behind):
                at = (i * s.count + j) * s.behind + k
                spread(s, start, end, s.behind, x + i * s.size * s.behind + k, grads[at], outputs[at],
                       to + i * s.size * s.behind + k)


cdef int check_result(Segments* s, Tensor data, str name, Tensor t, int64_t axis) except -1:
    cdef int d
    if t.c_ndim == data.c_ndim:
        for d in range(t.c_ndim):
            if t.c_sizes[d] != (s.count if d == axis else data.c_sizes[d]):
                break
        else:
            return 0
    raise refused(f"expected {name} to have an element for each segment of data of {list(data.shape)}, got {list(t.shape)}")


def segment_reduce_backward(Tensor grad not None, Tensor output not None, Tensor data not None, str reduce not None, *,
                            Tensor lengths=None, Tensor offsets=None, int64_t axis=0, initial=None):
    """The gradient of `data`; elements in no segment have none."""
    cdef Segments s
    cdef Tensor made, x, g, o, y, places
    cdef int code
    cdef object kept
    axis = rules.wrap_dim(axis, data.c_ndim, True)
    read_reduction(&s, reduce, initial)
    places = read_segments(&s, data, lengths, offsets, axis, True)
    check_kernel(data.c_dtype, DTYPES_FLOATING)
    check_result(&s, data, "grad", grad, axis)
    check_result(&s, data, "output", output, axis)
    made = new_empty(grad.c_dtype, DEV_CPU, -1, data.c_ndim, data.c_sizes, NULL)
    if made.c_numel == 0:
        return made
    code = computed_in(data.c_dtype)
    x, g, o = (dense(data, code, MF_contiguous), dense(grad, code, MF_contiguous), dense(output, code, MF_contiguous))
    y = target(made, code, MF_contiguous)
    memset(address(y), 0, y.c_numel * itemsize_table()[code])
    kept = held(x, places, g, o)
    cdef void* from_ = address(x)
    cdef void* grads = address(g)
    cdef void* outputs = address(o)
    cdef void* to = address(y)
    with nogil:
        if code == ST_float64:
            spread_segments[double](&s, <double*>from_, <double*>grads, <double*>outputs, <double*>to)
        else:
            spread_segments[float](&s, <float*>from_, <float*>grads, <float*>outputs, <float*>to)
    finish(made, y)
    return made
