"""Shape functions of softmax and log_softmax: self's sizes, contiguous; and of their gradients.

Called by the structured kernels. PyTorch's Meta kernel of `_softmax` never looks at `dim`; that of
`_log_softmax`, and the eager kernels, refuse one out of range. Its Meta kernels of the gradients
are chains of elementwise operators, which broadcast. Bodies are handed the dimension, wrapped.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_REDUCED_FLOATING, ST_NONE, ST_bool, ST_float16, ST_float32, is_in
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch._C.structured cimport CAST_EXACT, CAST_SAFE, COPIED, Spec


cdef int fill(Spec* s, Tensor self, bint half_to_float) noexcept:
    s.ndim = self.c_ndim
    memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    s.dtype = ST_float32 if half_to_float else self.c_dtype
    return 0


cdef int raise_half(Tensor self) except -1:
    raise refused("expected self to be float16 with half_to_float, got "
                  f"{dtypes.get_dtype(self.c_dtype)!r}")


cdef int softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1:
    if half_to_float and not is_in(DTYPES_REDUCED_FLOATING, self.c_dtype):
        raise_half(self)
    if rules.is_eager(self):
        s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    s.cast = CAST_EXACT if rules.is_eager(self) else CAST_SAFE
    return fill(s, self, half_to_float)


cdef int log_softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1:
    if half_to_float and self.c_dtype != ST_float16:
        raise_half(self)
    s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    if self.c_dtype == ST_bool and not rules.is_eager(self):
        raise refused("expected self to be floating point, got bool")
    s.cast = CAST_EXACT
    return fill(s, self, half_to_float)


# ---- gradients

cdef int gradient(Spec* s, Tensor grad_output, Tensor output, int64_t dim, int input_dtype) except -1:
    """Eager kernels give grad_output's dtype, float16 for one of float32 if input was that."""
    s.handed[0] = rules.wrap_dim(dim, grad_output.c_ndim, True)
    fill(s, grad_output, False)
    if grad_output.c_dtype != input_dtype:
        if not rules.is_eager(grad_output):
            s.dtype = input_dtype
        elif grad_output.c_dtype == ST_float32 and input_dtype == ST_float16:
            raise refused("expected input_dtype to be grad_output's, float32, got float16")
    if not rules.is_eager(grad_output):
        return 0
    if output.c_ndim != grad_output.c_ndim or \
            memcmp(output.c_sizes, grad_output.c_sizes, output.c_ndim * sizeof(int64_t)) != 0:
        raise refused(f"expected output to have grad_output's shape {list(grad_output.shape)}, "
                      f"got {list(output.shape)}")
    if output.c_dtype != grad_output.c_dtype:
        raise refused(f"expected output to be {dtypes.get_dtype(grad_output.c_dtype)!r} as "
                      f"grad_output is, got {dtypes.get_dtype(output.c_dtype)!r}")
    return 0


cdef int softmax_backward(Spec* s, Tensor grad_output, Tensor output, int64_t dim, int input_dtype) except -1:
    cdef PyObject* items[2]
    gradient(s, grad_output, output, dim, input_dtype)
    s.cast |= COPIED
    if not rules.is_eager(grad_output):
        items[0], items[1] = <PyObject*>grad_output, <PyObject*>output
        s.ndim = rules.broadcast(s.sizes, items, 2)
    return 0


cdef int log_softmax_backward(Spec* s, Tensor grad_output, Tensor output, int64_t dim, int input_dtype) except -1:
    cdef PyObject* items[2]
    gradient(s, grad_output, output, dim, input_dtype)
    s.cast |= COPIED
    if not rules.is_eager(grad_output):
        items[0], items[1] = <PyObject*>grad_output, <PyObject*>output
        s.ndim = rules.broadcast(s.sizes, items, 2)
        s.has_strides = not rules.elementwise_strides(s.strides, s.sizes, s.ndim, items, 2, ST_NONE)
    return 0
