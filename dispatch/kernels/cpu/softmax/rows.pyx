"""Bodies of softmax, its logarithm and their gradients on the CPU: loops over rows (`softmax.h`).

Called by the structured kernels with an output of the right size. 16-bit floats are computed in
float32 and rounded once; what differs in dtype from its neighbours is converted first.
"""
from libc.stdint cimport int64_t, uint16_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, ST_bfloat16, ST_float16, ST_float32, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.along cimport row_cols_fn, row_of, row_step_fn, walk_along
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.reduction.fold cimport converted
from dispatch.kernels.cpu.runs cimport run_spans

cdef extern from "softmax.h" nogil:
    enum:
        SOFTMAX, LOG_SOFTMAX, SOFTMAX_BACKWARD, LOG_SOFTMAX_BACKWARD
        SOFT_SHORT               # elements of a short row of whole vectors, or a divisor of theirs
    const row_step_fn SOFT_STEPS[4][2]
    const row_cols_fn SOFT_COLS[4][2]
    bint has_half_rows(int64_t n)
    void softmax_backward_halves(int code, const uint16_t* grad, const uint16_t* y, uint16_t* to, int64_t rows, int64_t n)

cdef enum:
    HALF_WORK = 8                # bytes that are copied in the time that an element of a gradient takes

cdef struct Halves:
    int code
    const uint16_t* grad
    const uint16_t* y
    uint16_t* to
    int64_t n                    # elements of a row


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


cdef void take_halves(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Halves* h = <Halves*>job
    softmax_backward_halves(h.code, h.grad + first * h.n, h.y + first * h.n, h.to + first * h.n, end - first, h.n)


cdef bint try_halves(Tensor out, Tensor grad, Tensor y, int64_t dim) except -1:
    """The gradient of softmax of 16-bit rows, one after the other in memory."""
    cdef Halves h
    if dim != grad.c_ndim - 1 or out.c_dtype != grad.c_dtype or y.c_dtype != grad.c_dtype \
            or grad.c_dtype != ST_float16 and grad.c_dtype != ST_bfloat16 or not has_half_rows(grad.c_sizes[dim]) \
            or not grad.c_flags & y.c_flags & out.c_flags & TF_CONTIGUOUS:
        return False
    h.code, h.n = grad.c_dtype, grad.c_sizes[dim]
    h.grad, h.y, h.to = <uint16_t*>data_of(grad, 2), <uint16_t*>data_of(y, 2), <uint16_t*>data_of(out, 2)
    run_spans(take_halves, &h, grad.c_numel // h.n, grad.c_numel, HALF_WORK * grad.c_numel, (grad, y, out))
    return True


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
    if op == SOFTMAX_BACKWARD and try_halves(out, grad_output, output, dim):
        return 0
    return rows(op, out, grad_output, converted(output, grad_output.c_dtype), dim)


cdef int softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                          const int64_t* handed) except -1:
    return differentiate(SOFTMAX_BACKWARD, out, grad_output, output, handed[0])


cdef int log_softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                              const int64_t* handed) except -1:
    return differentiate(LOG_SOFTMAX_BACKWARD, out, grad_output, output, handed[0])
