# cython: embedsignature=False
"""The output of an elementwise operator: its strides follow those of the operands, in PyTorch's order.

The C functions are declared in `elementwise.pxd`; the faces for Python, `py_NAME`, are entered as NAME.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_REDUCED_FLOATING, ST_NONE, ST_complex32, ST_complex64, ST_float32, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS, read_ints
from dispatch._C.python_api cimport PySequence_Fast_ITEMS_
from dispatch._C.symbolic cimport eq_or_false, mul, ne_or_true
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor, is_dense
from dispatch.kernels.meta.rules.sizes cimport MAX_DIMS, as_tuple, enter_faces, is_eager, is_tensor, same_sizes
from dispatch.kernels.meta.rules.strides cimport (
    MAX_OPERANDS, Operands, channels_last_strides, contiguous_strides, dense_like_strides, dense_strides, is_channels_last,
    is_contiguous, non_overlapping_dense, packed_strides, sort_dims,
)


cdef inline bint same_ints(const int64_t* a, const int64_t* b, int n) noexcept nogil:
    return memcmp(a, b, n * sizeof(int64_t)) == 0


cdef inline bint has_sizes(Tensor t, const int64_t* sizes, int ndim) except -1:
    return t.c_ndim == ndim and same_sizes(t.c_sizes, sizes, ndim)


cdef bint all_contiguous(const int64_t* sizes, int ndim, PyObject** items, int n) except -1:
    """Whether all operands are contiguous tensors of the result's sizes: nearly every call."""
    cdef Tensor t
    cdef int i
    for i in range(n):
        if not is_tensor(items[i]):
            return False
        t = <Tensor>items[i]
        if not (t.c_flags & TF_CONTIGUOUS and has_sizes(t, sizes, ndim)):
            return False
    return True


cdef int64_t* add_operand(Operands* ops, Tensor t, bint convert) except NULL:
    """One more operand, as it is or as a copy of another dtype would be; returns its row."""
    cdef int lead = ops.ndim - t.c_ndim, d
    cdef int64_t copied[MAX_DIMS]
    cdef const int64_t* strides = t.c_strides
    cdef int64_t* row = ops.strides[ops.n]
    if convert and not is_dense(t):
        dense_strides(copied, t.c_sizes, t.c_strides, t.c_ndim)
        strides = copied
    ops.n += 1
    for d in range(lead):
        row[d] = 0
    for d in range(lead, ops.ndim):
        row[d] = 0 if ne_or_true(t.c_sizes[d - lead], ops.sizes[d]) else strides[d - lead]
    return row


cdef int expand_leading(int64_t* row, const int64_t* sizes, int ndim, int lead) except -1:
    """`expand`'s strides of new leading dimensions: those of size 1 get a contiguous one's."""
    cdef int d
    if lead == ndim:
        return 0                 # a 0-d tensor
    for d in range(lead - 1, -1, -1):
        if eq_or_false(sizes[d], 1):
            row[d] = mul(sizes[d + 1], row[d + 1])
    return 0


cdef int add_operands(Operands* ops, PyObject** items, int n, int code, bint expanded) except -1:
    """All tensors among `items`; with a `code`, those of another dtype as converted copies."""
    cdef Tensor t
    cdef int64_t* row
    cdef int i
    ops.same_shape = ops.same_strides = ops.contiguous = True
    ops.channels_last = ops.ndim == 4
    for i in range(n):
        if items[i] == <PyObject*>None:
            continue
        if not is_tensor(items[i]) or (<Tensor>items[i]).c_flags & TF_WRAPPED_NUMBER:
            ops.same_shape = ops.same_shape and ops.ndim == 0
        elif ops.n < MAX_OPERANDS:
            t = <Tensor>items[i]
            ops.same_shape = ops.same_shape and has_sizes(t, ops.sizes, ops.ndim)
            row = add_operand(ops, t, code != ST_NONE and t.c_dtype != code)
            if expanded:
                expand_leading(row, ops.sizes, ops.ndim, ops.ndim - t.c_ndim)
            ops.same_strides = ops.same_strides and same_ints(row, ops.strides[0], ops.ndim)
            ops.contiguous = ops.contiguous and is_contiguous(ops.sizes, row, ops.ndim)
            ops.channels_last = ops.channels_last and is_channels_last(ops.sizes, row, ops.ndim)
    return 0


cdef int elementwise_strides(int64_t* out, const int64_t* sizes, int ndim, PyObject** items, int n,
                             int code) except -1:
    """TensorIterator: its fast set-up for operands of one shape, else their common order."""
    cdef Operands ops
    if all_contiguous(sizes, ndim, items, n):
        contiguous_strides(out, sizes, ndim)
        return 1
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 0
    add_operands(&ops, items, n, code, False)
    if not ops.same_shape or ops.n == 0:
        return ordered_strides(out, &ops)
    if ops.contiguous or ops.channels_last:
        return format_strides(out, &ops, not ops.contiguous)
    if not (ops.same_strides and non_overlapping_dense(sizes, ops.strides[0], ndim)):
        return ordered_strides(out, &ops)
    memcpy(out, ops.strides[0], ndim * sizeof(int64_t))
    return 0


cdef inline int format_strides(int64_t* out, Operands* ops, bint channels_last) except -1:
    if channels_last:
        channels_last_strides(out, ops.sizes, ops.ndim)
    else:
        contiguous_strides(out, ops.sizes, ops.ndim)
    return not channels_last


cdef int ordered_strides(int64_t* out, Operands* ops) except -1:
    """TensorIterator without fast set-up: row-major, or with a size of 0 giving strides of 0."""
    cdef int perm[MAX_DIMS]
    cdef int64_t step = 1
    cdef int i
    if sort_dims(perm, ops):
        return format_strides(out, ops, False)
    for i in range(ops.ndim):
        out[perm[i]] = step
        if i + 1 < ops.ndim:
            step = mul(step, ops.sizes[perm[i]])
    return 0


cdef inline int compute_type(int code) noexcept nogil:
    """The dtype in which references compute: half precision is widened."""
    if is_in(DTYPES_REDUCED_FLOATING, code):
        return ST_float32
    return ST_complex64 if code == ST_complex32 else code


cdef int elementwise_strides_meta(int64_t* out, const int64_t* sizes, int ndim, PyObject** items,
                                  int n, int code) except -1:
    """PyTorch's Meta kernels of elementwise operators (so fake tensors too), Python references.

    Their rule (_prims_common.compute_elementwise_output_logical_to_physical_perm) looks at the
    operands after conversion to the dtype of computation and expansion, has no short cut for dense
    operands of one shape, and counts a size of 0 as 1.
    """
    cdef int64_t plain[MAX_DIMS]
    cdef Operands ops
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 0
    add_operands(&ops, items, n, compute_type(code), True)
    if ops.contiguous != ops.channels_last or ndim < 2:
        return format_strides(out, &ops, ops.channels_last)
    packed_strides(out, &ops)
    contiguous_strides(plain, sizes, ndim)
    return same_ints(out, plain, ndim)          # in dimensions of size 1 too


cdef int empty_like_strides(int64_t* out, Tensor t) except -1:
    """Strides for preserve_format: with data those of a dense tensor stay."""
    cdef PyObject* items[1]
    if is_eager(t):
        return dense_like_strides(out, t)
    items[0] = <PyObject*>t
    elementwise_strides_meta(out, t.c_sizes, t.c_ndim, items, 1, ST_NONE)
    return 0


# ---- for Python ---------------------------------------------------------------------------------

cdef tuple operands_of(object tensors, int ndim):
    """What the two functions below take; RuntimeError for an operand that cannot be broadcast to `ndim` dimensions."""
    items = tuple(tensors)
    if any([isinstance(t, Tensor) and (<Tensor>t).c_ndim > ndim for t in items]):
        raise refused(f"expected operands of at most {ndim} dimensions")
    return items


def py_elementwise_strides(shape, tensors, dtype=None):
    """Strides of the new output, of sizes `shape`, of an elementwise operator on CPU.

    `tensors` may hold numbers and None. `dtype`: what operands are converted to first (a copy can
    have other strides); None: no conversion.
    """
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(shape, sizes, "shape"), code = code_or_none(dtype)
    cdef tuple items = operands_of(tensors, ndim)
    elementwise_strides(out, sizes, ndim, PySequence_Fast_ITEMS_(<PyObject*>items), <int>len(items), code)
    return as_tuple(out, ndim)


def py_elementwise_strides_meta(shape, tensors, dtype=None):
    """elementwise_strides as PyTorch's Meta kernels have it; `dtype` is what they compute in."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(shape, sizes, "shape"), code = code_or_none(dtype)
    cdef tuple items = operands_of(tensors, ndim)
    elementwise_strides_meta(out, sizes, ndim, PySequence_Fast_ITEMS_(<PyObject*>items), <int>len(items), code)
    return as_tuple(out, ndim)


def py_empty_like_strides(Tensor tensor not None):
    """Strides of an `empty_like` of it that preserves the format."""
    cdef int64_t out[MAX_DIMS]
    empty_like_strides(out, tensor)
    return as_tuple(out, tensor.c_ndim)


cdef int code_or_none(object dtype) except -2:
    return ST_NONE if dtype is None else dtypes.dtype_code(dtype)


__all__ = enter_faces(globals())
