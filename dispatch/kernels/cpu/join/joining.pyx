"""CPU bodies of joining tensors: cat and stack. Each input is moved to its place in the output once, and cast on the way.

Called by the structured kernels with an output of the right size; inputs may be of other dtypes.
"""
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of, new_view
from dispatch.kernels.cpu.copy.copies cimport caster, copy_values
from dispatch.kernels.cpu.copy.strided cimport dispatch_moves, dispatch_run, itemsize_of, move_between


cdef int place(Tensor out, Tensor t, dispatch_moves* m, int64_t offset) except -1:
    """t at `offset` (in elements) of the output's first; sizes and steps of the output are in `m`."""
    cdef dispatch_run run = caster(t.c_dtype, out.c_dtype)
    cdef int d, size = itemsize_of(t)
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    if run == NULL:
        for d in range(m.ndim):
            sizes[d], strides[d] = m.sizes[d], m.to[d] // itemsize_of(out)
        return copy_values(new_view(out, m.ndim, sizes, strides, out.c_offset + offset), t)
    for d in range(m.ndim):
        m.from_[d] = t.c_strides[d] * size
    return move_between(m, data_of(out, itemsize_of(out)) + offset * itemsize_of(out), data_of(t, size), run, out, t)


cdef int raise_changed() except -1:
    raise refused("another thread gave a tensor other sizes while it was joined")


cdef int cat(Tensor out, list tensors, int64_t dim) except -1:
    """Side by side along `dim`; tensors of one dimension and size 0 have no place."""
    cdef dispatch_moves m
    cdef Tensor t
    cdef int d, size = itemsize_of(out)
    cdef int64_t start = 0
    if out.c_numel == 0:
        return 0
    if dim < 0:
        dim += out.c_ndim
    for item in tensors:
        t = <Tensor>item
        if t.c_numel == 0 or t is out:                 # which had no elements until it took the result's sizes
            continue
        m.ndim = out.c_ndim
        if t.c_ndim != out.c_ndim:
            raise_changed()
        for d in range(out.c_ndim):
            if t.c_sizes[d] > out.c_sizes[d] - (start if d == dim else 0):
                raise_changed()
            m.sizes[d], m.to[d] = t.c_sizes[d], out.c_strides[d] * size
        place(out, t, &m, start * out.c_strides[dim])
        start += t.c_sizes[dim]
    return 0


cdef int stack(Tensor out, list tensors, int64_t dim) except -1:
    """Side by side along a new dimension `dim`."""
    cdef dispatch_moves m
    cdef Tensor t
    cdef int d, size = itemsize_of(out)
    cdef int64_t i = 0
    if out.c_numel == 0:
        return 0
    if dim < 0:
        dim += out.c_ndim
    for item in tensors:
        t = <Tensor>item
        m.ndim = t.c_ndim
        if t.c_ndim + 1 != out.c_ndim or i == out.c_sizes[dim]:
            raise_changed()
        for d in range(t.c_ndim):
            if t.c_sizes[d] > out.c_sizes[d if d < dim else d + 1]:
                raise_changed()
            m.sizes[d], m.to[d] = t.c_sizes[d], out.c_strides[d if d < dim else d + 1] * size
        place(out, t, &m, i * out.c_strides[dim])
        i += 1
    return 0
