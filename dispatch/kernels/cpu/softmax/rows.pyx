"""Bodies of softmax, its logarithm and their gradients on the CPU: loops over rows (`softmax.h`).

Called by the structured kernels with an output of the right size. 16-bit floats are computed in
float32 and rounded once; what differs in dtype from its neighbours is converted first.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, ST_float32, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.along cimport row_cols_fn, row_of, row_step_fn, walk_along
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.reduction.fold cimport converted

cdef extern from "softmax.h" nogil:
    enum:
        SOFTMAX, LOG_SOFTMAX, SOFTMAX_BACKWARD, LOG_SOFTMAX_BACKWARD
        SOFT_SHORT               # elements of a short row of whole vectors, or a divisor of theirs
    const row_step_fn SOFT_STEPS[4][2]
    const row_cols_fn SOFT_COLS[4][2]


cdef int check_floating(int code) except -1:
    if not is_in(DTYPES_FLOATING, code):
        raise unserved(dtypes.get_dtype(code))
    return 0


cdef int rows(int op, Tensor out, Tensor self, Tensor second, int64_t dim) except -1:
    """Along `dim`, which is wrapped. `second`: the other input of a gradient, None elsewhere."""
    cdef Tensor target = out
    cdef int row = row_of(self.c_dtype)
    cdef row_cols_fn cols = SOFT_COLS[op][row]
    if (second is not None and self.c_dtype == ST_float32 and self.c_ndim and self.c_sizes[dim] == SOFT_SHORT
            and self.c_strides[dim] == 1 and second.c_strides[dim] == 1):
        cols = NULL                  # whole vectors: they cost less than to turn them into columns
    if row_of(out.c_dtype) != row:
        target = new_empty(self.c_dtype, 0, -1, out.c_ndim, out.c_sizes, NULL)
    walk_along(SOFT_STEPS[op][row], cols, NULL, dim, self, second, target)
    if target is not out:
        copy_values(out, target)
    return 0


cdef int apply(int op, Tensor out, Tensor self, int64_t dim, bint half_to_float) except -1:
    if half_to_float:
        raise refused("half_to_float=True is not supported on CPU")
    if self.c_numel == 0:
        return 0
    check_floating(self.c_dtype)
    return rows(op, out, self, None, dim)


cdef int softmax(Tensor out, Tensor self, int64_t dim, bint half_to_float, const int64_t* handed) except -1:
    return apply(SOFTMAX, out, self, handed[0], half_to_float)


cdef int log_softmax(Tensor out, Tensor self, int64_t dim, bint half_to_float, const int64_t* handed) except -1:
    return apply(LOG_SOFTMAX, out, self, handed[0], half_to_float)


cdef int differentiate(int op, Tensor out, Tensor grad_output, Tensor output, int64_t dim) except -1:
    if grad_output.c_numel == 0:
        return 0
    check_floating(grad_output.c_dtype)
    return rows(op, out, grad_output, converted(output, grad_output.c_dtype), dim)


cdef int softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                          const int64_t* handed) except -1:
    return differentiate(SOFTMAX_BACKWARD, out, grad_output, output, handed[0])


cdef int log_softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                              const int64_t* handed) except -1:
    return differentiate(LOG_SOFTMAX_BACKWARD, out, grad_output, output, handed[0])
