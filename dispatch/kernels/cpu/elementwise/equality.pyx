"""Whether two tensors have the same sizes and values: the loops of `equality.h`, else operators.

Called as a whole kernel. Tensors of one dtype without gaps are compared where they lie.
"""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_CPU, is_integral_code
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.runs cimport address, loop, run

from dispatch._ops import ops

cdef extern from "equality.h" nogil:
    ctypedef struct equal_rows:
        const void* x
        const void* y
        int64_t n
    ctypedef struct equal_kind:
        loop loop
        int parts
    const equal_kind EQUAL_KINDS[]
    enum:
        ROW_BLOCK


def equal(Tensor self not None, Tensor other not None):
    """Whether sizes and all values are the same, in the promoted dtype if theirs differ."""
    cdef equal_rows j
    cdef equal_kind kind
    cdef int d
    if self.c_ndim != other.c_ndim:
        return False
    for d in range(self.c_ndim):
        if self.c_sizes[d] != other.c_sizes[d]:
            return False
    kind = EQUAL_KINDS[self.c_dtype]
    if (kind.loop == NULL or self.c_dtype != other.c_dtype or other.c_devtype != DEV_CPU
            or not self.c_flags & other.c_flags & TF_CONTIGUOUS):
        return equal_by_operators(self, other)
    j.x, j.y, j.n = address(self), address(other), self.c_numel * kind.parts
    if j.x == j.y and is_integral_code(self.c_dtype, True):
        return True
    return bool(run(kind.loop, &j, NULL, j.n, (self, other)))


cdef object equal_by_operators(Tensor self, Tensor other):
    """Rows by rows, ever more of them: what differs mostly does so early."""
    cdef int64_t rows, start = 0, step, count
    if self is other and not (self.dtype.is_floating_point or self.dtype.is_complex):
        return True
    if self.c_numel <= ROW_BLOCK:
        return all_equal(self, other)
    rows = self.c_sizes[0]
    step = max(1, rows * ROW_BLOCK // self.c_numel)
    while start < rows:
        count = min(step, rows - start)
        if not all_equal(self.narrow(0, start, count), other.narrow(0, start, count)):
            return False
        start, step = start + step, step * 4
    return True


cdef bint all_equal(Tensor self, Tensor other) except -1:
    return ops.aten.all.default(ops.aten.eq.Tensor(self, other)).item()
