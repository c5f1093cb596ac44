"""Tensors over a model's raw storages, and the values that a program names by number.

`weights` makes one `Storage` for each record and any number of tensors on it: tied weights and
views of one storage share memory, as they did when they were saved. The caller has said in the
file's terms what reaches too far; here it is refused once more.
"""
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport dtype_code
from dispatch._C.storage cimport Storage, new_borrowed_storage
from dispatch._C.tensor cimport new_tensor_within

__all__ = ["storage_over", "tensor_on"]

cdef enum:
    MAX_DIMS = 64


def storage_over(array):
    """A CPU storage on the bytes of a contiguous uint8 numpy array, which it keeps alive."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
    try:
        return new_borrowed_storage(<char*>view.buf if view.len else NULL, view.len, array)
    finally:
        PyBuffer_Release(&view)


def tensor_on(Storage storage not None, dtype, tuple sizes, tuple strides, int64_t offset):
    """A tensor on `storage`; strides and offset in elements."""
    cdef int64_t c_sizes[MAX_DIMS]
    cdef int64_t c_strides[MAX_DIMS]
    cdef int i, ndim = len(sizes)
    if ndim > MAX_DIMS or ndim != len(strides):
        raise ValueError(f"{ndim} sizes and {len(strides)} strides, at most {MAX_DIMS} of each")
    for i in range(ndim):
        c_sizes[i] = sizes[i]
        c_strides[i] = strides[i]
    return new_tensor_within(storage, dtype_code(dtype), ndim, c_sizes, c_strides, offset)
