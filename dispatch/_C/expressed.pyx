"""Geometry with expressions in it (see the `.pxd`): called by `tensor` for numbers that are negative, which handles are.

A tensor with bytes never has expressions: they are pinned here to what they are in this run, and the caller checks the span again.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from dispatch._C.geometry cimport (
    TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE, check_steps, contiguous_steps, geometry_flags, known_flags, numel_of,
)
from dispatch._C.symbolic cimport concrete, env_of_size, first_symbolic, is_symbolic


cdef int pin_numbers(Expressed* e, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int i
    for i in range(ndim):
        e.sizes[i] = concrete(sizes[i])
        if strides != NULL:
            e.strides[i] = concrete(strides[i])
    e.offset = concrete(offset)
    return 0


cdef int64_t first_handle(int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) noexcept:
    cdef int64_t found = first_symbolic(ndim, sizes)
    if found == 0 and strides != NULL:
        found = first_symbolic(ndim, strides)
    return found if found != 0 or not is_symbolic(offset) else offset


cdef int express(Expressed* e, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, bint pin) except -1:
    cdef int64_t handle = first_handle(ndim, sizes, strides, offset)
    cdef bint contiguous = strides == NULL
    e.pinned = pin and handle != 0
    if e.pinned:
        pin_numbers(e, ndim, sizes, strides, offset)
        handle = 0
    else:
        memcpy(e.sizes, sizes, ndim * sizeof(int64_t))
        if not contiguous:
            memcpy(e.strides, strides, ndim * sizeof(int64_t))
        e.offset = offset
    e.numel = numel_of(ndim, e.sizes)                          # RuntimeError for a negative size
    if e.offset < 0 and not is_symbolic(e.offset):
        raise RuntimeError(f"Tensor: invalid storage offset {e.offset}")
    if contiguous:
        check_steps(ndim, e.sizes)
        contiguous_steps(ndim, e.sizes, e.strides)
    if handle == 0:
        e.symbols = NULL
        e.flags = geometry_flags(ndim, e.sizes, e.strides, e.numel)
        return 0
    env = env_of_size(handle)
    e.symbols = <PyObject*>env
    e.flags = TF_CONTIGUOUS | TF_NON_OVERLAPPING_DENSE if contiguous else 0
    if not contiguous or ndim == 4 or ndim == 5:
        e.flags |= known_flags(ndim, e.sizes, e.strides, e.numel)
    return 0
