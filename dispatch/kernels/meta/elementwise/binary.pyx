"""Shape functions of elementwise operators of two operands, tensors or a tensor and a number.

Called by the structured adapters on every key; each decides on the dtype, makes the checks that
need no data, and leaves sizes and strides to `pointwise`. A number in a Tensor slot arrives as a
wrapped number, a number in a Scalar slot as itself.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport (
    DEV_META, ST_bool, ST_int64, get_dtype, is_complex_code, is_floating_code, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor, new_empty
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise cimport pointwise
from dispatch.kernels.meta.elementwise.pointwise cimport CAST_SAME
from dispatch._C.structured cimport Spec

cdef object ONE = 1              # the small int: a left-out alpha is this very object


cdef inline int promote(object a, object b) except -1:
    """The dtype that two operands have in common."""
    cdef PyObject* items[2]
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return rules.result_type(items, 2)


cdef inline bint on_meta(object a, object b) noexcept:
    cdef PyObject* items[2]
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return pointwise.on_meta(items, 2)


cdef int fill(Spec* s, object a, object b, int dtype, int compute) except -1:
    cdef PyObject* items[2]
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return pointwise.fill(s, items, 2, dtype, compute)


cdef int arithmetic(Spec* s, Tensor self, Tensor other) except -1:
    cdef int code
    if pointwise.try_same(s, self, other):
        return 0
    code = promote(self, other)
    if pointwise.try_number(s, self, other, code):
        return 0
    return fill(s, self, other, code, code)


# ---- addition ----------------------------------------------------------------------------------

cdef int add(Spec* s, Tensor self, Tensor other, object alpha) except -1:
    arithmetic(s, self, other)
    return 0 if alpha is ONE else check_alpha(self, other, s.dtype, alpha)


cdef int sub(Spec* s, Tensor self, Tensor other, object alpha) except -1:
    if self.c_dtype == ST_bool or other.c_dtype == ST_bool:
        if self.c_dtype == other.c_dtype or not on_meta(self, other):
            operands = "two bool tensors" if self.c_dtype == other.c_dtype else "a bool tensor"
            raise refused(f"Subtraction, the `-` operator, with {operands} is not supported; logical_xor or ^ "
                          "tells where two differ")
    arithmetic(s, self, other)
    return 0 if alpha is ONE else check_alpha(self, other, s.dtype, alpha)


cdef int check_alpha(Tensor self, Tensor other, int code, object alpha) except -1:
    """at::native::alpha_check; its counterpart in the references raises ValueError."""
    cdef bint is_bool = isinstance(alpha, bool)
    cdef bint is_complex = isinstance(alpha, complex)
    cdef bint lossy = is_complex or isinstance(alpha, float) and not is_floating_code(code)
    lossy = lossy and not is_complex_code(code)
    if on_meta(self, other):
        if lossy and code != ST_bool:
            raise refused(f"alpha {alpha!r} is not safely cast to {get_dtype(code)!r}", ValueError)
        return 0
    if is_bool and code != ST_bool:
        raise refused("Boolean alpha only supported for Boolean results.")
    if lossy:
        of, kind = ("non-complex", "a complex") if is_complex else ("integral", "a floating point")
        raise refused(f"For {of} input tensors, argument alpha must not be {kind} number. Got {alpha!r} for a result of "
                      f"{get_dtype(code)!r}")
    return 0


# ---- division ----------------------------------------------------------------------------------

cdef int float_op(Spec* s, Tensor self, Tensor other) except -1:
    cdef int code
    if pointwise.try_same(s, self, other):
        s.dtype = rules.float_type(s.dtype)
        return 0
    code = rules.float_type(promote(self, other))
    if pointwise.try_number(s, self, other, code):
        return 0
    return fill(s, self, other, code, code)


cdef int float_by_other(Spec* s, Tensor self, Tensor other) except -1:
    """The same; on Meta, the reference ends in a choice by a question about `other`."""
    float_op(s, self, other)
    return chosen_by(s, other, self, other)


cdef int xlogy(Spec* s, Tensor self, Tensor other) except -1:
    """The same; on Meta, the choice is between NaN and a product, by a question about `other` in its own sizes."""
    cdef PyObject* items[2]
    cdef Tensor asked, product
    float_op(s, self, other)
    if is_one_order(self, other):
        return 0
    asked = pointwise.as_copied(other, ST_bool)
    product = new_empty(s.dtype, DEV_META, -1, s.ndim, s.sizes, s.strides if s.has_strides else NULL)
    items[0], items[1] = <PyObject*>asked, <PyObject*>product
    return pointwise.restride(s, items, 2, True)


cdef int div_mode(Spec* s, Tensor self, Tensor other, object rounding_mode) except -1:
    if rounding_mode is None:
        return float_op(s, self, other)
    if rounding_mode == "floor":
        return floor_divide(s, self, other)
    if rounding_mode != "trunc":
        raise (ValueError if on_meta(self, other) else RuntimeError)(
            f"div expected rounding_mode to be one of None, 'trunc' or 'floor', got {rounding_mode!r}")
    return arithmetic(s, self, other)


cdef int floor_divide(Spec* s, Tensor self, Tensor other) except -1:
    """On Meta, the reference ends in a choice by `other != 0`."""
    arithmetic(s, self, other)
    if is_integral_code(s.dtype, False) or not on_meta(self, other):
        return 0                 # the CPU body refuses for itself
    if is_complex_code(s.dtype) or s.dtype == ST_bool:
        raise refused(f"not defined for {get_dtype(s.dtype)!r}")
    return chosen_by(s, other, self, other)


cdef int chosen_by(Spec* s, Tensor t, Tensor self, Tensor other) except -1:
    """On Meta, strides of a reference that ends in a choice by a question about `t`: those of `t` alone."""
    return 0 if is_one_order(self, other) else restride_alone(s, t)


cdef inline bint is_one_order(Tensor self, Tensor other) noexcept:
    """Whether it does not matter which operand is asked for its order first."""
    return other.c_flags & TF_WRAPPED_NUMBER != 0 or is_contiguous(self, other) or not on_meta(self, other)


cdef inline bint is_contiguous(Tensor a, Tensor b) noexcept:
    return a.c_flags & b.c_flags & TF_CONTIGUOUS != 0


cdef int restride_alone(Spec* s, Tensor t) except -1:
    cdef Tensor made = pointwise.as_made(s, t, ST_bool)
    cdef PyObject* items[1]
    items[0] = <PyObject*>made
    return pointwise.restride(s, items, 1, True)


# ---- no arithmetic -----------------------------------------------------------------------------

cdef int extremum(Spec* s, Tensor self, Tensor other) except -1:
    arithmetic(s, self, other)
    if is_complex_code(s.dtype) and not on_meta(self, other):
        raise refused("complex tensors have no order")
    return 0


cdef int bitwise(Spec* s, Tensor self, Tensor other) except -1:
    return arithmetic(s, self, other)


cdef int compare(Spec* s, Tensor self, Tensor other) except -1:
    arithmetic(s, self, other)
    s.dtype = ST_bool
    return 0


cdef int logical(Spec* s, Tensor self, Tensor other) except -1:
    """On Meta, operands that are not bool are compared with 0 first, each for itself."""
    cdef PyObject* items[2]
    cdef Tensor a, b
    compare(s, self, other)
    if is_contiguous(self, other) and not s.has_strides or not on_meta(self, other):
        return 0
    a = self if self.c_dtype == ST_bool else pointwise.as_made(s, self, ST_bool)
    b = other if other.c_dtype == ST_bool else pointwise.as_made(s, other, ST_bool)
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return pointwise.restride(s, items, 2, True)


cdef int compare_scalar(Spec* s, Tensor self, object other) except -1:
    if pointwise.try_packed(s, self, ST_bool):
        return 0
    return fill(s, self, other, ST_bool, promote(self, other))


# ---- powers ------------------------------------------------------------------------------------

cdef int power_type(object base, object exponent) except -1:
    cdef int code = promote(base, exponent)
    return ST_int64 if code == ST_bool and on_meta(base, exponent) else code


cdef int pow(Spec* s, Tensor self, Tensor exponent) except -1:
    cdef int code = power_type(self, exponent)
    return fill(s, self, exponent, code, code)


cdef int pow_scalar(Spec* s, Tensor self, object exponent) except -1:
    cdef int code
    if is_integral_code(self.c_dtype, True) and isinstance(exponent, int) and exponent < 0:
        if not on_meta(self, exponent):
            raise refused(f"Integers to negative integer powers are not allowed, got the exponent {exponent}")
    code = power_type(self, exponent)
    if pointwise.try_one(s, self, code):
        return 0
    return fill(s, self, None, code, code)


cdef int pow_of_scalar(Spec* s, object self, Tensor exponent) except -1:
    cdef int code = power_type(self, exponent)
    if pointwise.try_one(s, exponent, code):
        return 0
    fill(s, exponent, None, code, code)
    s.has_strides = s.has_strides and on_meta(exponent, None)    # contiguous where there is data
    return 0


# ---- of real numbers ---------------------------------------------------------------------------

cdef int heaviside(Spec* s, Tensor self, Tensor values) except -1:
    if not on_meta(self, values):
        if is_complex_code(self.c_dtype) or is_complex_code(values.c_dtype):
            raise refused("complex tensors have no order")
        if self.c_dtype != values.c_dtype:
            raise refused("heaviside is not yet implemented for tensors with different dtypes, got "
                          f"{self.dtype!r} and {values.dtype!r}")
    arithmetic(s, self, values)
    chosen_by(s, self, self, values)
    if not on_meta(self, values):
        s.cast = CAST_SAME
    return 0


cdef int refuse_on_meta(int code) except -1:
    raise refused(f"not defined for {get_dtype(code)!r}")


cdef int numbers(Spec* s, Tensor self, Tensor other) except -1:
    arithmetic(s, self, other)
    if s.dtype == ST_bool and on_meta(self, other):
        refuse_on_meta(s.dtype)
    return 0


cdef int logaddexp(Spec* s, Tensor self, Tensor other) except -1:
    arithmetic(s, self, other)
    if s.dtype == ST_bool and on_meta(self, other):
        refuse_on_meta(s.dtype)
    return chosen_by(s, self, self, other)


cdef int logaddexp2(Spec* s, Tensor self, Tensor other) except -1:
    logaddexp(s, self, other)
    if is_complex_code(s.dtype) and on_meta(self, other):
        refuse_on_meta(s.dtype)
    return 0
