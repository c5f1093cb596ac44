# cython: embedsignature=False
"""Sizes: how many elements, broadcasting, dimensions counted from either end, reductions, a size left open.

The C functions are declared in `sizes.pxd`; the faces for Python, `py_NAME`, are entered as NAME.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from dispatch._C.geometry cimport mul_overflows, read_ints
from dispatch._C.tensor cimport Tensor


cdef tuple as_tuple(const int64_t* values, int n):
    return tuple([values[i] for i in range(n)])


cdef list enter_faces(dict names):
    """Rename the faces: one module cannot define a C and a Python function under one name."""
    public = []
    for name in [name for name in names if name.startswith("py_")]:
        face = names.pop(name)
        face.__name__ = face.__qualname__ = name[3:]
        names[name[3:]] = face
        public.append(name[3:])
    return sorted(public)


cdef int raise_negative_size(const int64_t* sizes, int ndim, int dim) except -1:
    raise RuntimeError(f"size {sizes[dim]} at dimension {dim} of {as_tuple(sizes, ndim)} "
                       "is negative")


cdef int64_t numel(const int64_t* sizes, int ndim) except -1:
    cdef int64_t result = 1
    cdef int i
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] < 0:
            raise_negative_size(sizes, ndim, i)
        overflow |= mul_overflows(result, sizes[i], &result)
    if overflow:
        raise RuntimeError(f"the number of elements of sizes {as_tuple(sizes, ndim)} "
                           "does not fit in 64 bits")
    return result


cdef int raise_broadcast(const int64_t* a, int a_ndim, const int64_t* b, int b_ndim,
                         int back) except -1:
    raise RuntimeError(f"sizes {as_tuple(a, a_ndim)} and {as_tuple(b, b_ndim)} do not broadcast: "
                       f"{a[a_ndim - back]} does not match {b[b_ndim - back]} at dimension "
                       f"{max(a_ndim, b_ndim) - back}")


cdef int broadcast_into(int64_t* out, int out_ndim, const int64_t* sizes, int ndim) except -1:
    """at::infer_size. A failure leaves `out` as it was."""
    cdef int back, shift
    cdef int64_t a, b
    for back in range(1, min(ndim, out_ndim) + 1):           # counted from the last dimension
        a, b = out[out_ndim - back], sizes[ndim - back]
        if a != b and a != 1 and b != 1:
            raise_broadcast(out, out_ndim, sizes, ndim, back)
    shift = ndim - out_ndim
    if shift > 0:
        for back in range(1, out_ndim + 1):
            out[ndim - back] = out[out_ndim - back]
        for back in range(shift):
            out[back] = 1
        out_ndim = ndim
    for back in range(1, ndim + 1):
        if out[out_ndim - back] == 1:
            out[out_ndim - back] = sizes[ndim - back]
    return out_ndim


cdef int broadcast(int64_t* out, PyObject** items, int n) except -1:
    cdef int i, ndim = 0
    cdef Tensor t
    for i in range(n):
        if is_tensor(items[i]):
            t = <Tensor>items[i]
            if t.c_ndim != ndim or memcmp(out, t.c_sizes, ndim * sizeof(int64_t)):
                ndim = broadcast_into(out, ndim, t.c_sizes, t.c_ndim)
    return ndim


cdef int64_t wrap_dim(int64_t dim, int64_t ndim, bint wrap_scalar) except -1:
    cdef int64_t extent = 1 if ndim == 0 and wrap_scalar else ndim
    if extent <= 0:
        raise IndexError(f"dimension {dim} is given, but the tensor has no dimensions")
    if dim < -extent or dim >= extent:
        raise IndexError(f"dimension {dim} is out of range: expected {-extent} to {extent - 1}")
    return dim + extent if dim < 0 else dim


cdef int wrap_dims(int64_t* dims, int n, int ndim, bint wrap_scalar) except -1:
    cdef uint64_t seen = 0, bit
    cdef int i
    for i in range(n):
        dims[i] = wrap_dim(dims[i], ndim, wrap_scalar)
        bit = <uint64_t>1 << dims[i]
        if seen & bit:
            raise RuntimeError(f"dimension {dims[i]} is given more than once")
        seen |= bit
    return 0


cdef int reduced_sizes(int64_t* out, const int64_t* sizes, int ndim, const int64_t* dims, int n,
                       bint keepdim) noexcept nogil:
    cdef uint64_t reduced = 0 if dims != NULL else ~<uint64_t>0
    cdef int i, k = 0
    if dims != NULL:
        for i in range(n):
            reduced |= <uint64_t>1 << dims[i]
    for i in range(ndim):
        if not (reduced >> i) & 1:
            out[k] = sizes[i]
            k += 1
        elif keepdim:
            out[k] = 1
            k += 1
    return k


cdef int infer_size(int64_t* out, const int64_t* sizes, int ndim, int64_t numel) except -1:
    """at::infer_size for view and reshape."""
    cdef int64_t known = 1
    cdef int i, hole = -1
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] == -1:
            if hole >= 0:
                raise RuntimeError("only one dimension can be inferred, "
                                   f"got {as_tuple(sizes, ndim)}")
            hole = i
        elif sizes[i] < 0:
            raise RuntimeError(f"invalid size {sizes[i]} at dimension {i} "
                               f"of {as_tuple(sizes, ndim)}")
        else:
            overflow |= mul_overflows(known, sizes[i], &known)
    if hole >= 0 and known == 0 and numel == 0 and not overflow:
        raise RuntimeError(f"the size -1 of shape {as_tuple(sizes, ndim)} can be anything "
                           "for a tensor without elements")
    if overflow or (numel != known if hole < 0 else known == 0 or numel % known != 0):
        raise RuntimeError(f"shape {as_tuple(sizes, ndim)} is invalid "
                           f"for a tensor of {numel} elements")
    memcpy(out, sizes, ndim * sizeof(int64_t))
    if hole >= 0:
        out[hole] = numel // known
    return 0


# ---- for Python ---------------------------------------------------------------------------------

def py_numel(sizes):
    """The number of elements. RuntimeError for a negative size or more than 64 bits."""
    cdef int64_t buffer[MAX_DIMS]
    return numel(buffer, read_ints(sizes, buffer, "sizes"))


def py_broadcast_shapes(*shapes):
    """The sizes that all shapes (sequences; an int is one dimension) broadcast to. RuntimeError."""
    cdef int64_t out[MAX_DIMS]
    cdef int64_t one[MAX_DIMS]
    cdef int ndim = 0
    for shape in shapes:
        sizes = (shape,) if isinstance(shape, int) else shape
        ndim = broadcast_into(out, ndim, one, read_ints(sizes, one, "shape"))
    return as_tuple(out, ndim)


def py_wrap_dim(dim, ndim, wrap_scalar=True):
    """`dim` counted from the front. IndexError when it is out of range."""
    return wrap_dim(dim, ndim, wrap_scalar)


def py_wrap_dims(dims, ndim, wrap_scalar=True):
    """All `dims` counted from the front. IndexError; RuntimeError when one is given twice."""
    cdef int64_t buffer[MAX_DIMS]
    cdef int n = read_ints(dims, buffer, "dims")
    wrap_dims(buffer, n, ndim, wrap_scalar)
    return as_tuple(buffer, n)


def py_reduced_sizes(sizes, dims=None, keepdim=False):
    """Sizes after a reduction over `dims` (None or empty: all of them)."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int64_t which[MAX_DIMS]
    cdef int ndim = read_ints(sizes, shape, "sizes"), n = read_ints(dims or (), which, "dims")
    wrap_dims(which, n, ndim, True)
    return as_tuple(out, reduced_sizes(out, shape, ndim, which if n else NULL, n, keepdim))


def py_infer_size(shape, numel):
    """`shape` with its -1, if any, worked out for a tensor of `numel` elements. RuntimeError."""
    cdef int64_t wanted[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int n = read_ints(shape, wanted, "shape")
    infer_size(out, wanted, n, numel)
    return as_tuple(out, n)


def py_is_eager(Tensor tensor not None):
    """Whether a tensor has data: neither fake nor on the meta device."""
    return is_eager(tensor)


__all__ = enter_faces(globals())
