# cython: embedsignature=False
"""Sizes: how many elements, broadcasting, dimensions counted from either end, reductions, a size left open.

The C functions are declared in `sizes.pxd`; the faces for Python, `py_NAME`, are entered as NAME.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from dispatch._C.dtypes cimport new_device
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport mul_overflows, raise_numel_overflow, read_ints
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport (
    SIZE_ERROR, any_symbolic, eq_or_false, expect_eq, expect_ge, floordiv, is_symbolic, mod, mul, size_from, size_object,
)
from dispatch._C.tensor cimport Tensor


cdef tuple as_tuple(const int64_t* values, int n):
    return tuple([size_object(values[i]) for i in range(n)])


cdef list sizes_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


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
    raise refused(f"size {size_object(sizes[dim])} at dimension {dim} of {as_tuple(sizes, ndim)} "
                       "is negative")


cdef int64_t numel(const int64_t* sizes, int ndim) except? SIZE_ERROR:
    cdef int64_t result = 1
    cdef int i
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] < 0:
            return checked_numel(sizes, ndim)
        overflow |= mul_overflows(result, sizes[i], &result)
    if overflow or is_symbolic(result):
        raise_numel_overflow(ndim, sizes)
    return result


cdef int64_t checked_numel(const int64_t* sizes, int ndim) except? SIZE_ERROR:
    """Of sizes some of which are expressions, or negative."""
    cdef int64_t result = 1
    cdef int i
    for i in range(ndim):
        if not expect_ge(sizes[i], 0):
            raise_negative_size(sizes, ndim, i)
    for i in range(ndim):
        result = mul(result, sizes[i])
    return result


cdef bint same_sizes(const int64_t* a, const int64_t* b, int ndim) except -1:
    cdef int i
    if memcmp(a, b, ndim * sizeof(int64_t)) == 0:
        return True
    for i in range(ndim):
        if not eq_or_false(a[i], b[i]):
            return False
    return True


cdef int raise_broadcast(const int64_t* a, int a_ndim, const int64_t* b, int b_ndim,
                         int back) except -1:
    raise refused(f"The size of tensor a ({size_object(a[a_ndim - back])}) must match the size of tensor b "
                  f"({size_object(b[b_ndim - back])}) at non-singleton dimension {max(a_ndim, b_ndim) - back}: "
                  f"{as_tuple(a, a_ndim)} and {as_tuple(b, b_ndim)} do not broadcast")


cdef int64_t common_symbolic(int64_t a, int64_t b) except? SIZE_ERROR:
    if eq_or_false(a, 1):
        return b
    if eq_or_false(b, 1):
        return a
    if not expect_eq(a, b):
        return -1
    return b if is_symbolic(a) else a


cdef inline int64_t common_size(int64_t a, int64_t b) except? SIZE_ERROR:
    """What two sizes broadcast to; -1: they do not."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    return common_symbolic(a, b) if any_symbolic(a, b) else -1


cdef int broadcast_into(int64_t* out, int out_ndim, const int64_t* sizes, int ndim) except -1:
    """at::infer_size. A failure leaves `out` as it was."""
    cdef int64_t wide[MAX_DIMS]
    cdef int back, n = max(ndim, out_ndim)
    for back in range(1, n + 1):             # counted from the last dimension
        if back > ndim:
            wide[n - back] = out[out_ndim - back]
        elif back > out_ndim:
            wide[n - back] = sizes[ndim - back]
        else:
            wide[n - back] = common_size(out[out_ndim - back], sizes[ndim - back])
            if wide[n - back] == -1:
                raise_broadcast(out, out_ndim, sizes, ndim, back)
    memcpy(out, wide, n * sizeof(int64_t))
    return n


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
        raise refused(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    if dim < -extent or dim >= extent:
        raise refused(f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got {dim})", IndexError)
    return dim + extent if dim < 0 else dim


cdef int wrap_dims(int64_t* dims, int n, int ndim, bint wrap_scalar) except -1:
    cdef uint64_t seen = 0, bit
    cdef int i
    for i in range(n):
        dims[i] = wrap_dim(dims[i], ndim, wrap_scalar)
        bit = <uint64_t>1 << dims[i]
        if seen & bit:
            raise refused(f"dim {dims[i]} appears multiple times in the list of dims")
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


cdef int raise_infer(const int64_t* sizes, int ndim, int64_t numel) except -1:
    raise refused(f"shape '{list(as_tuple(sizes, ndim))}' is invalid for input of size {size_object(numel)}")


cdef inline bint divides(int64_t known, int64_t numel) except -1:
    return not eq_or_false(known, 0) and expect_eq(mod(numel, known), 0)


cdef int infer_size(int64_t* out, const int64_t* sizes, int ndim, int64_t numel) except -1:
    """at::infer_size for view and reshape."""
    cdef int64_t known = 1
    cdef int i, hole = -1
    for i in range(ndim):
        if eq_or_false(sizes[i], -1):
            if hole >= 0:
                raise refused("only one dimension can be inferred, "
                                   f"got {as_tuple(sizes, ndim)}")
            hole = i
        elif not expect_ge(sizes[i], 0):
            raise refused(f"invalid shape dimension {sizes[i]} at index {i} "
                               f"of {as_tuple(sizes, ndim)}")
        elif any_symbolic(known, sizes[i]):
            known = mul(known, sizes[i])
        elif mul_overflows(known, sizes[i], &known):
            raise_infer(sizes, ndim, numel)
    if hole >= 0 and numel == 0 and known == 0:
        raise refused(f"cannot reshape tensor of 0 elements into shape {list(as_tuple(sizes, ndim))} "
                      "because the unspecified dimension size -1 can be any value and is ambiguous")
    if not (expect_eq(numel, known) if hole < 0 else divides(known, numel)):
        raise_infer(sizes, ndim, numel)
    memcpy(out, sizes, ndim * sizeof(int64_t))
    if hole >= 0:
        out[hole] = floordiv(numel, known)
    return 0


# ---- for Python ---------------------------------------------------------------------------------

def py_holds(condition):
    """Whether what must hold does: by a guard or, without a hint, a deferred runtime assert."""
    return condition if isinstance(condition, bool) else bool(condition.node.expect_true("", 0))


def py_may_hold(condition):
    """Whether a condition holds; True where only data decide."""
    return condition if isinstance(condition, bool) else bool(condition.node.guard_or_true("", 0))


def py_numel(sizes):
    """The number of elements. RuntimeError for a negative size or more than 64 bits."""
    cdef int64_t buffer[MAX_DIMS]
    return size_object(numel(buffer, read_ints(sizes, buffer, "sizes")))


def py_broadcast_shapes(*shapes):
    """The sizes that all shapes (sequences; an int is one dimension) broadcast to. RuntimeError."""
    cdef int64_t out[MAX_DIMS]
    cdef int64_t one[MAX_DIMS]
    cdef int ndim = 0
    for shape in shapes:
        sizes = shape if hasattr(shape, "__iter__") else (shape,)
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
    infer_size(out, wanted, n, size_from(numel))
    return as_tuple(out, n)


def py_is_eager(Tensor tensor not None):
    """Whether a tensor has data: neither fake nor on the meta device."""
    return is_eager(tensor)


def py_device_type(Tensor tensor not None):
    """Of a fake tensor the one that it stands for, also where `device` is meta: in a kernel of a program's."""
    return new_device(tensor.c_devtype, -1).type


__all__ = enter_faces(globals())
