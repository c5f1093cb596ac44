"""Reductions on the CPU: the face of the loops in `fold.h`, and what their bodies share.

`dims` are wrapped; `n` of them: ALL_DIMS, or none at all for 0. A kept dimension is a matter of the output's shape alone.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.reduction.reduce cimport ALL_DIMS

cdef extern from "reduction/fold_ops.h" nogil:
    enum:                        # fold_op: the header says what each is
        FOLD_SUM, FOLD_MEAN, FOLD_NANSUM, FOLD_COUNT, FOLD_NORM0, FOLD_NORM1, FOLD_NORM2, FOLD_POWER
        FOLD_PROD, FOLD_MAX, FOLD_MIN, FOLD_ABSMAX, FOLD_ABSMIN, FOLD_ARGMAX, FOLD_ARGMIN, FOLD_ANY, FOLD_ALL, FOLD_VAR, FOLD_STD
        FOLD_XOR

# self, which has elements, into `out` and, for places and means, `second` (None: not wanted). `order`: of a norm; the correction
# of a variance. NotImplementedError: there are no loops for self's dtype.
cdef int fold_into(int op, Tensor out, Tensor second, Tensor self, const int64_t* dims, int n, double order) except -1
cdef int64_t reduced_count(Tensor self, const int64_t* dims, int n) noexcept     # how many elements are folded into one
# self, or a copy of it in another dtype.
cdef Tensor converted(Tensor self, int code)
