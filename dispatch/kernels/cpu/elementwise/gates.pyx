"""Bodies of the gated linear unit and its gradient on the CPU: loops over rows (`gates.h`).

Called by the structured kernels with an output of the right size. 16-bit floats are computed in
float32 and rounded once; an output of another dtype, or one that shares memory with what is read,
is written from a copy.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, is_in
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.along cimport row_cols_fn, row_of, row_step_fn, walk_along
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.reduction.fold cimport converted
from dispatch.kernels.meta cimport rules

cdef extern from "gates.h" nogil:
    const row_step_fn GLU_STEPS[2]
    const row_step_fn GLU_BACKWARD_STEPS[2]
    const row_cols_fn GLU_COLS[2]
    const row_cols_fn GLU_BACKWARD_COLS[2]


cdef int walk(const row_step_fn* steps, const row_cols_fn* cols, Tensor out, Tensor self, Tensor grad, int64_t dim) except -1:
    cdef int row = row_of(self.c_dtype)
    cdef Tensor target = out
    if not is_in(DTYPES_FLOATING, self.c_dtype):
        raise unserved(dtypes.get_dtype(self.c_dtype))
    if self.c_numel == 0:
        return 0
    if out.c_dtype != self.c_dtype or memory_meets(out, self) or (grad is not None and memory_meets(out, grad)):
        target = new_empty(self.c_dtype, 0, -1, out.c_ndim, out.c_sizes, NULL)
    walk_along(steps[row], cols[row], NULL, rules.wrap_dim(dim, self.c_ndim, True), self, grad, target)
    if target is not out:
        copy_values(out, target)
    return 0


def glu(Tensor out not None, Tensor self not None, int64_t dim):
    """One half times the sigmoid of the other."""
    walk(GLU_STEPS, GLU_COLS, out, self, None, dim)


def glu_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None, int64_t dim):
    """The gate times the gradient, and the other half times its slope."""
    walk(GLU_BACKWARD_STEPS, GLU_BACKWARD_COLS, grad_input, self, converted(grad_output, self.c_dtype), dim)
