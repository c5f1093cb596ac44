"""Loops in C that move elements between strided places, and how tensors are handed to them.

`move` is for bodies that copy, pad, join, turn round: they fill a `dispatch_moves` and call `move_between`. Nothing is
checked: every element that sizes and steps reach lies in memory that the caller has looked up with `data_of`.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.tensor cimport Tensor

cdef extern from "../kernels/cpu/copy/strided.h" nogil:
    ctypedef void (*dispatch_run)(const char* from_, Py_ssize_t from_step, char* to, Py_ssize_t to_step,
                                  Py_ssize_t n) noexcept nogil
    ctypedef struct dispatch_moves:
        int ndim
        int64_t sizes[64]
        int64_t to[64]                   # steps in bytes
        int64_t from_ "from"[64]

# The run that copies elements as they are.
cdef dispatch_run copier(int itemsize) noexcept nogil
# All elements; simplifies `m` in place.
cdef void move(dispatch_moves* m, char* to, const char* from_, dispatch_run run) noexcept nogil

cdef enum:
    LONG_RUN = 1 << 15                   # elements from which the interpreter's lock is given up

cdef inline int itemsize_of(Tensor t) noexcept:
    return dtypes.itemsize_table()[t.c_dtype]

# Sizes of `out`, its steps, and those of `src`, which is broadcast.
cdef inline void set_moves(dispatch_moves* m, Tensor out, Tensor src) noexcept:
    cdef int d, lead = out.c_ndim - src.c_ndim
    cdef int a = itemsize_of(out), b = itemsize_of(src)
    m.ndim = out.c_ndim
    for d in range(out.c_ndim):
        m.sizes[d] = out.c_sizes[d]
        m.to[d] = out.c_strides[d] * a
        m.from_[d] = 0 if d < lead or src.c_sizes[d - lead] == 1 else src.c_strides[d - lead] * b

# `move` for elements of `a` and `b`; long ones without the lock, while what owns the memory is held.
cdef int move_between(dispatch_moves* m, char* to, const char* from_, dispatch_run run, Tensor a, Tensor b) except -1
# Whether memory that the tensors' elements span is shared in part.
cdef bint memory_meets(Tensor a, Tensor b) except -1
# What owns the memory of tensors: to be held while a loop runs without the lock.
cdef object owners(Tensor a, Tensor b)
