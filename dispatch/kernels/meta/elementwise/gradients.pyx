"""Shape functions of gradients of pointwise operators and losses, and of what stands beside them.

Called by the structured adapters on every key: the operands' common dtype, broadcast, with the strides of `pointwise`.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport ST_bool, ST_float32, ST_float64, ST_int8, ST_int32, ST_int64, get_dtype, is_floating_code
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.structured cimport Spec, can_cast_codes
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise cimport binary, pointwise
from dispatch.kernels.meta.elementwise.pointwise cimport CAST_SAME, is_meta


cdef inline int three(Spec* s, Tensor a, Tensor b, Tensor c) except -1:
    cdef PyObject* items[3]
    cdef int code
    if c.c_dtype == a.c_dtype and c.c_ndim == a.c_ndim and pointwise.try_same(s, a, b) and pointwise.try_same(s, a, c):
        return 0
    items[0], items[1], items[2] = <PyObject*>a, <PyObject*>b, <PyObject*>c
    code = rules.result_type(items, 3)
    return pointwise.fill(s, items, 3, code, code)


cdef int backward(Spec* s, Tensor grad, Tensor self) except -1:
    cdef PyObject* items[2]
    cdef int code
    if pointwise.try_same(s, grad, self):
        return 0
    items[0], items[1] = <PyObject*>grad, <PyObject*>self
    code = rules.result_type(items, 2)
    return pointwise.fill(s, items, 2, code, code)


cdef int three_alike(Spec* s, Tensor a, Tensor b, Tensor c) except -1:
    """Of kernels with data that convert nothing."""
    if a.c_dtype != b.c_dtype or a.c_dtype != c.c_dtype:
        raise refused(f"expected one dtype, got {a.dtype!r}, {b.dtype!r} and {c.dtype!r}")
    three(s, a, b, c)
    s.cast = CAST_SAME
    return 0


cdef int elu_backward(Spec* s, Tensor grad, object alpha, object scale, object input_scale, bint is_result,
                      Tensor self_or_result) except -1:
    if is_result and alpha < 0:
        raise refused(f"alpha must not be negative when the gradient is that of a result, got {alpha}")
    return backward(s, grad, self_or_result)


cdef int gelu_backward(Spec* s, Tensor grad, Tensor self, object approximate) except -1:
    if approximate != "none" and approximate != "tanh":
        raise refused(f"approximate argument must be either none or tanh, got {approximate}")
    return backward(s, grad, self)


cdef int shrink_backward(Spec* s, Tensor grad, Tensor self, object lambd) except -1:
    return backward(s, grad, self)


cdef int hardtanh_backward(Spec* s, Tensor grad, Tensor self, object min_val, object max_val) except -1:
    backward(s, grad, self)
    return pointwise.choose_number(s, grad, self)


cdef int leaky_relu_backward(Spec* s, Tensor grad, Tensor self, object negative_slope, bint self_is_result) except -1:
    if self_is_result and negative_slope < 0:
        raise refused(f"negative_slope must not be negative when the gradient is that of a result, got {negative_slope}")
    return backward(s, self, grad)


cdef int log_sigmoid_backward(Spec* s, Tensor grad, Tensor self, Tensor buffer) except -1:
    return backward(s, grad, self) if is_meta(self) else three_alike(s, self, buffer, grad)


cdef int logit_backward(Spec* s, Tensor grad, Tensor self, object eps) except -1:
    return backward(s, grad, self)


cdef int softplus_backward(Spec* s, Tensor grad, Tensor self, object beta, object threshold) except -1:
    return backward(s, grad, self)


cdef int threshold_backward(Spec* s, Tensor grad, Tensor self, object threshold) except -1:
    backward(s, self, grad)
    return pointwise.choose_number(s, grad, self)


cdef int contiguous_three(Spec* s, Tensor self, Tensor target, Tensor grad) except -1:
    """Kernels with data fill zeros_like(self), which is contiguous and of self's dtype."""
    three(s, self, target, grad)
    if not is_meta(self):
        s.has_strides = False
        if not can_cast_codes(s.dtype, self.c_dtype):
            raise refused(f"result type {scalar_type(get_dtype(s.dtype))} can't be cast to the desired output type "
                          f"{scalar_type(self.dtype)}")
        s.dtype = self.c_dtype
    return 0


cdef int loss_backward(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction) except -1:
    return contiguous_three(s, self, target, grad)


cdef int loss_backward_by(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction, double by) except -1:
    return contiguous_three(s, self, target, grad)


cdef int huber_backward(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction, double delta) except -1:
    if is_meta(self):
        return contiguous_three(s, self, target, grad)
    three_alike(s, self, target, grad)
    s.has_strides = False
    return 0


cdef int prelu_backward(Spec* specs, Tensor grad, Tensor self, Tensor weight) except -1:
    three(&specs[0], self, weight, grad)
    return three(&specs[1], self, weight, grad)


cdef int dropout_backward(Spec* s, Tensor grad, Tensor mask, double scale) except -1:
    cdef PyObject* items[2]
    cdef int code
    if mask.c_dtype != ST_bool:
        raise refused(f"mask must be a bool tensor, got {mask.dtype!r}")
    items[0], items[1] = <PyObject*>grad, <PyObject*>mask
    code = rules.float_type(grad.c_dtype)
    return pointwise.fill(s, items, 2, code, code)


cdef int frexp(Spec* specs, Tensor self) except -1:
    cdef PyObject* items[1]
    if not is_floating_code(self.c_dtype):
        raise refused(f"expected a floating tensor, got {get_dtype(self.c_dtype)!r}")
    items[0] = <PyObject*>self
    pointwise.fill(&specs[0], items, 1, self.c_dtype, self.c_dtype)
    pointwise.fill(&specs[1], items, 1, ST_int32, self.c_dtype)
    if not is_meta(self):
        specs[0].cast = specs[1].cast = CAST_SAME
    pointwise.keep_strides(&specs[0], self)
    return pointwise.keep_strides(&specs[1], self)


cdef int add_relu(Spec* s, Tensor self, Tensor other, object alpha) except -1:
    if not (ST_int8 <= self.c_dtype <= ST_int64 or self.c_dtype == ST_float32 or self.c_dtype == ST_float64):
        raise refused(f"Unsupported datatype for add_relu: {self.dtype!r}")
    return binary.add(s, self, other, alpha)
