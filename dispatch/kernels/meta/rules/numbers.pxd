"""Questions about sizes beyond those of `_C/symbolic`, for shape functions."""
from libc.stdint cimport int64_t

# A check that two sizes are equal. Not `exactly`: they are equal now, or nobody knows; no guard keeps other sizes away. That is for
# what PyTorch's kernels of the CPU check and its shape functions do not.
cdef bint agree(int64_t a, int64_t b, bint exactly) except -1
# A check that a >= b: False when it is not; without a hint it becomes a deferred runtime assert.
cdef bint expect_ge(int64_t a, int64_t b) except -1
# The number that a size stands for now, without a guard; -1 when nobody knows.
cdef int64_t example(int64_t size)
