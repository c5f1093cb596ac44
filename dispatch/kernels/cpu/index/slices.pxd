"""What indices name, for bodies in C: arrays of places, slices at them, rows along a dimension.

A body reads its indices into `Numbers` (a copy of its own, that nobody else can change), checks them, makes places of them (bytes
from the first element), describes what lies at each place in a `dispatch_slices`, and runs it.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.copy.strided cimport dispatch_moves, dispatch_run

cdef extern from "../kernels/cpu/index/loops.h" nogil:
    ctypedef struct dispatch_steps:
        pass
    ctypedef int (*dispatch_spread)(char* indexed, char* dense, const int64_t* at, int64_t n,
                                    const dispatch_steps* by) noexcept nogil
    ctypedef struct dispatch_slices:
        int64_t n
        const int64_t* at
        const int64_t* dense
        int64_t step
        dispatch_moves outer
        dispatch_moves inner
        int reads
        int copied

cdef enum Reduction:
    ADD, MUL, MAX, MIN               # as in loops.h

cdef class Numbers:
    """An array of int64 that is freed with it."""
    cdef int64_t* data
    cdef int64_t n

cdef Numbers new_numbers(int64_t n)
# The elements of an int32, int64 tensor, broadcast to sizes, one after the other.
cdef Numbers read_numbers(Tensor index, int ndim, const int64_t* sizes)
# `error` unless all lie in [low, size).
cdef int check_numbers(Numbers x, int64_t low, int64_t size, object error) except -1
# Indices in [low, size) of a tensor of any sizes as places `step` bytes apart; low is 0, or -size.
cdef Numbers places_of(Tensor index, int64_t low, int64_t size, int64_t step, object error)
# Places of the true elements of a mask (bool, uint8) in something with the given steps.
cdef Numbers true_places(Tensor mask, const int64_t* steps)
# A contiguous mask of bytes: how many are true.
cdef int64_t count_true(Tensor mask) except -1

# What is not indexed along `dim` (-1: nothing is): sizes of `indexed` but for `dim`, and steps of both.
cdef int set_rest(dispatch_slices* s, Tensor indexed, Tensor dense, int dim) except -1
# Elements as they are, from the places or to them.
cdef int read_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1
cdef int write_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1
# What lies at the places with what arrives. NotImplementedError: no loop for the dtype.
cdef int reduce_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at, Reduction op) except -1
# What adds a run to another, each sum rounded. NotImplementedError: none for the dtype.
cdef dispatch_run adder(Tensor t) except NULL
# A dense side of float32 added to 16-bit floats, each sum rounded.
cdef int add_wide_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1
# Indices of elements counted as in one dimension, negative ones from the end, as places. IndexError: out of range.
cdef Numbers flat_places(Tensor t, Tensor index)
# The same read at once into a contiguous `dense`; the index is int64 and contiguous. After an IndexError part of it is written.
cdef int take_places(Tensor dense, Tensor indexed, Tensor index) except -1
# Along a dimension (`dim` wrapped) an index for each element: read into `dense` or written from it. With `check`, and always
# where it is read, indices are checked on the way: part of the target is written when RuntimeError, or `error`, is raised.
cdef int read_along(Tensor dense, Tensor indexed, int dim, Tensor index, object error=*) except -1
cdef int write_along(Tensor indexed, Tensor dense, int dim, Tensor index, bint check) except -1
cdef int reduce_along(Tensor indexed, Tensor dense, int dim, Tensor index, Reduction op, bint check) except -1
# RuntimeError for an index that is out of range.
cdef int check_along(Tensor indexed, int dim, Tensor index, object error=*) except -1
# self into out, unless they are the same.
cdef int copy_unless_same(Tensor out, Tensor self) except -1
# NotImplementedError for a dtype in a set DTYPES_, or complex32.
cdef int check_supported(Tensor t, unsigned long long missing, bint complex32) except -1
