"""Shape functions of elementwise operators of one tensor.

Called by the structured adapters on every key; each decides on the dtype, makes the checks that
need no data, and leaves sizes and strides to `pointwise`.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport (
    ST_bool, ST_complex32, ST_complex64, ST_float16, ST_float32, ST_float64, ST_int64, ST_uint8,
    category_of_code, is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise cimport pointwise
from dispatch.kernels.meta.elementwise.pointwise cimport is_meta
from dispatch._C.structured cimport CAST_EXACT, OVERLAP_SELF, Spec

from dispatch._C.dtypes import finfo

cdef double LARGEST_HALF = 65504.0      # what every dtype of softshrink holds


cdef inline int fill(Spec* s, Tensor self, int dtype, int compute) except -1:
    cdef PyObject* items[1]
    if pointwise.try_one(s, self, dtype):
        return 0
    items[0] = <PyObject*>self
    return pointwise.fill(s, items, 1, dtype, compute)


cdef inline int fill_same(Spec* s, Tensor self) except -1:
    """self's dtype. CPU kernels (TensorIterator's unary ones) take no output of another one."""
    fill(s, self, self.c_dtype, self.c_dtype)
    if not is_meta(self):
        s.cast = CAST_EXACT | OVERLAP_SELF
    return 0


cdef inline int take_exact(Spec* s, Tensor self) noexcept:
    """PyTorch's reference takes no output but one of the result's dtype."""
    if is_meta(self):
        s.cast = CAST_EXACT
    return 0


cdef int real_type(int code) noexcept:
    if code == ST_complex32:
        return ST_float16
    return ST_float32 if code == ST_complex64 else ST_float64


cdef int category_of_number(object number) noexcept:
    """As `category_of_code`: 0 bool, 1 integer, 2 floating, 3 complex."""
    if isinstance(number, bool):
        return 0
    if isinstance(number, int) or hasattr(number, "__index__"):
        return 1
    return 3 if isinstance(number, complex) else 2


cdef int check_weak(Tensor self, object number, str name, error) except -1:
    """The references' check of a number beside a tensor; CPU kernels refuse the tensor instead."""
    if category_of_number(number) > category_of_code(self.c_dtype) and is_meta(self):
        raise error(f"{name} of type {type(number).__name__} is not safely cast to {self.dtype!r}")
    return 0


cdef int same_op(Spec* s, Tensor self) except -1:
    fill_same(s, self)
    return take_exact(s, self)


cdef int rounding(Spec* s, Tensor self) except -1:
    fill_same(s, self)
    return take_exact(s, self)


cdef int round(Spec* s, Tensor self) except -1:
    return fill_same(s, self)


cdef int conj_physical(Spec* s, Tensor self) except -1:
    return fill_same(s, self)


cdef int bitwise_not(Spec* s, Tensor self) except -1:
    return fill_same(s, self)


cdef int neg(Spec* s, Tensor self) except -1:
    if self.c_dtype == ST_bool:
        raise refused("Negation, the `-` operator, on a bool tensor is not supported. "
                      "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return fill_same(s, self)


cdef int relu(Spec* s, Tensor self) except -1:
    if self.c_dtype == ST_bool and not is_meta(self):
        raise refused("self must not be a bool tensor")
    fill_same(s, self)
    return pointwise.choose_number(s, self, self)


cdef int abs(Spec* s, Tensor self) except -1:
    cdef int code = self.c_dtype
    if is_complex_code(code):
        fill(s, self, real_type(code), code)
        pointwise.keep_strides(s, self)
    else:
        fill_same(s, self)
    return take_exact(s, self)


cdef int float_op(Spec* s, Tensor self) except -1:
    cdef int code = rules.float_type(self.c_dtype)
    return fill(s, self, code, code)


cdef int predicate(Spec* s, Tensor self) except -1:
    return fill(s, self, ST_bool, self.c_dtype)


cdef int silu(Spec* s, Tensor self) except -1:
    fill_same(s, self)
    return take_exact(s, self)


cdef int gelu(Spec* s, Tensor self, object approximate) except -1:
    if approximate != "none" and approximate != "tanh":
        raise refused(f"approximate argument must be either none or tanh, got {approximate}")
    return fill_same(s, self)


cdef int nan_to_num(Spec* s, Tensor self, object nan, object posinf, object neginf) except -1:
    fill_same(s, self)
    return pointwise.keep_strides(s, self)


cdef int elu(Spec* s, Tensor self, object alpha, object scale, object input_scale) except -1:
    check_weak(self, alpha, "elu: alpha", RuntimeError)
    check_weak(self, scale, "elu: scale", RuntimeError)
    # Left out, it is 1.0 in the reference, though 1 in the schema.
    if type(input_scale) is int and input_scale == 1:
        input_scale = 1.0
    check_weak(self, input_scale, "elu: input_scale", RuntimeError)
    return fill_same(s, self)


cdef int hardtanh(Spec* s, Tensor self, object min_val, object max_val) except -1:
    if self.c_dtype == ST_bool:
        raise refused("self must not be a bool tensor")
    if isinstance(min_val, complex) or isinstance(max_val, complex):
        if not is_complex_code(self.c_dtype):
            check_real_bounds(self)
    elif self.c_dtype == ST_uint8 and is_negative(self, min_val, max_val):
        raise refused("min_val and max_val must not be negative for a uint8 tensor, "
                      f"got {min_val} and {max_val}")
    fill_same(s, self)
    pointwise.choose_number(s, self, self)
    return pointwise.keep_strides(s, self)


cdef bint is_negative(Tensor self, object low, object high) except -1:
    """CPU kernels cut the bounds to integers first."""
    if is_meta(self):
        return low < 0 or high < 0
    return low <= -1 or high <= -1


cdef int check_real_bounds(Tensor self) except -1:
    text = "hardtanh: min_val and max_val must be real for a tensor that is"
    if not is_meta(self):
        raise RuntimeError(text)
    if not is_floating_code(self.c_dtype):
        raise TypeError(text)
    return 0


cdef int leaky_relu(Spec* s, Tensor self, object negative_slope) except -1:
    check_weak(self, negative_slope, "leaky_relu: negative_slope", ValueError)
    return fill_same(s, self)


cdef int softplus(Spec* s, Tensor self, object beta, object threshold) except -1:
    check_weak(self, beta, "softplus: beta", ValueError)
    return fill_same(s, self)


# ---- of numbers --------------------------------------------------------------------------------

cdef int raise_complex() except -1:
    raise refused("self must not be a complex tensor")


cdef int real_predicate(Spec* s, Tensor self) except -1:
    if is_complex_code(self.c_dtype):
        raise_complex()
    return signbit(s, self)


cdef int signbit(Spec* s, Tensor self) except -1:
    """No output but a bool one."""
    predicate(s, self)
    s.cast = CAST_EXACT if is_meta(self) else CAST_EXACT | OVERLAP_SELF
    return 0


cdef int angle(Spec* s, Tensor self) except -1:
    cdef int code = self.c_dtype
    if is_complex_code(code):
        fill(s, self, real_type(code), code)
        s.has_strides = s.has_strides and is_meta(self)      # kernels with data resize an empty output
        return 0
    return float_op(s, self)


cdef int frac(Spec* s, Tensor self) except -1:
    if self.c_dtype == ST_bool and is_meta(self):
        raise refused("self must not be a bool tensor")
    fill_same(s, self)
    return take_exact(s, self)


cdef int logit(Spec* s, Tensor self, object eps) except -1:
    return float_op(s, self)


cdef int round_decimals(Spec* s, Tensor self, int64_t decimals) except -1:
    return fill_same(s, self)


# ---- more activations --------------------------------------------------------------------------

cdef int activation(Spec* s, Tensor self) except -1:
    return fill_same(s, self)


cdef int hardshrink(Spec* s, Tensor self, object lambd) except -1:
    cdef int code = ST_int64 if self.c_dtype == ST_bool and is_meta(self) else self.c_dtype
    fill(s, self, code, self.c_dtype)
    if not is_meta(self):
        s.cast = CAST_EXACT | OVERLAP_SELF
    return pointwise.choose_number(s, self, self)


cdef int softshrink(Spec* s, Tensor self, object lambd) except -1:
    if category_of_code(self.c_dtype) < 2 and is_meta(self):
        raise refused(f"expected a floating tensor, got {self.dtype!r}", TypeError)
    if isinstance(lambd, complex) or not lambd >= 0:
        raise refused(f"lambda must be in range [0, inf) for input dtype {self.dtype!r}, but found {lambd}")
    if lambd > LARGEST_HALF and is_floating_code(self.c_dtype) and lambd > finfo(self.dtype).max:
        raise refused(f"lambd {lambd} does not fit in {self.dtype!r}")
    return fill_same(s, self)


cdef int threshold(Spec* s, Tensor self, object threshold, object value) except -1:
    fill(s, self, self.c_dtype, self.c_dtype)
    return pointwise.choose_number(s, self, self)
