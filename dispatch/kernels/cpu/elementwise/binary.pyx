"""CPU bodies of elementwise operators of two operands.

Called by the structured adapters after the shape function; `loops` does the work. What is decided
here is the dtype of computation, and whatever PyTorch refuses only when it has data in hand.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

import numpy

from dispatch._C.dtypes cimport (
    DTYPES_BOOL, DTYPES_COMPLEX, DTYPES_FLOAT8, DTYPES_RARE, ST_bfloat16, ST_float16, ST_float32, ST_float64, category_of_code,
    get_dtype, is_complex_code, is_integral_code, numpy_descr,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor, new_wrapped_number
from dispatch.kernels.cpu.loops cimport (
    Ufunc, array_of, check_supported, compute_code, new_ufunc, quietly, run_binary, store, widened,
)
from dispatch.kernels.meta cimport rules

def truncated_quotient(a, b):
    """a / b without its fraction, computed in the operands' dtype."""
    if a.dtype.kind not in "iu":
        return numpy.trunc(numpy.true_divide(a, b))
    return numpy.floor_divide(a, b) + ((numpy.remainder(a, b) != 0) & ((a < 0) != (b < 0)))


def floored_quotient(a, b):
    """c10::div_floor_floating, each step rounded to the operands' dtype."""
    one = a.dtype.type(1)
    plain, rest = a / b, numpy.fmod(a, b)
    quotient = (a - rest) / b
    quotient = numpy.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - one, quotient)
    whole = numpy.floor(quotient)
    whole = numpy.where(quotient - whole > a.dtype.type(0.5), whole + one, whole)
    whole = numpy.where(quotient == 0, numpy.copysign(a.dtype.type(0), plain), whole)
    return numpy.where(b == 0, plain, whole)


cdef object ONE = 1              # the small int: a left-out alpha is this very object
cdef Ufunc ADD = new_ufunc(numpy.add, DTYPES_RARE)
cdef Ufunc SUB = new_ufunc(numpy.subtract, DTYPES_RARE)
cdef Ufunc MUL = new_ufunc(numpy.multiply, 0, True)
cdef Ufunc DIV = new_ufunc(numpy.true_divide, DTYPES_FLOAT8, True)
cdef uint64_t NO_ROUNDING = DTYPES_BOOL | DTYPES_RARE | DTYPES_COMPLEX
cdef Ufunc FLOOR = new_ufunc(numpy.floor_divide, NO_ROUNDING, True)
cdef Ufunc TRUNC = new_ufunc(truncated_quotient, NO_ROUNDING, True)
cdef dict IN_HALF_PRECISION = {FLOOR: floored_quotient, TRUNC: truncated_quotient}
cdef Ufunc EQ = new_ufunc(numpy.equal, 0)
cdef Ufunc NE = new_ufunc(numpy.not_equal, 0)
cdef uint64_t NO_ORDER = DTYPES_RARE | DTYPES_COMPLEX
cdef Ufunc LT = new_ufunc(numpy.less, NO_ORDER)
cdef Ufunc LE = new_ufunc(numpy.less_equal, NO_ORDER)
cdef Ufunc GT = new_ufunc(numpy.greater, NO_ORDER)
cdef Ufunc GE = new_ufunc(numpy.greater_equal, NO_ORDER)


cdef inline int common(Tensor a, Tensor b) except -1:
    """The dtype of computation."""
    cdef PyObject* items[2]
    if not a.c_flags & TF_WRAPPED_NUMBER:
        if b.c_flags & TF_WRAPPED_NUMBER:
            if category_of_code(b.c_dtype) <= category_of_code(a.c_dtype):
                return a.c_dtype
        elif a.c_dtype == b.c_dtype:
            return a.c_dtype
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return rules.result_type(items, 2)


# ---- addition ----------------------------------------------------------------------------------

cdef int add(Tensor out, Tensor self, Tensor other, object alpha) except -1:
    return run_scaled(ADD, out, self, other, alpha)


cdef int sub(Tensor out, Tensor self, Tensor other, object alpha) except -1:
    return run_scaled(SUB, out, self, other, alpha)


cdef inline int run_scaled(Ufunc u, Tensor out, Tensor self, Tensor other, object alpha) except -1:
    cdef int code = common(self, other)
    # PyTorch multiplies complex numbers by 1 too, which makes NaNs of infinities.
    if alpha is ONE and not is_complex_code(code):
        return run_binary(u, out, self, other, code)
    check_supported(u, code)
    if is_integral_code(code, False):
        check_fits(alpha, code)
    quietly(apply_scaled, (u, out, self, other, alpha, code))
    return 0


def apply_scaled(Ufunc u not None, Tensor out not None, Tensor self not None, Tensor other not None, alpha, int code):
    """`u(self, alpha * other)` as a fused multiply and add has it: the product is not rounded.

    But PyTorch's half precision is rounded after each step where its loops are not vectorized.
    """
    cdef int wide = code
    factor = numpy.asarray(alpha).astype(numpy_descr(code))
    if code == ST_float32:
        wide = ST_float64
    elif is_flat(out) and is_flat(self) and is_flat(other):
        wide = compute_code(u, code)
    product = numpy.multiply(widened(other, code, wide), factor.astype(numpy_descr(wide)))
    store(out, u.call(widened(self, code, wide), product), code)


cdef inline bint is_flat(Tensor t) noexcept:
    return t.c_flags & TF_CONTIGUOUS != 0


cdef int check_fits(object alpha, int code) except -1:
    """c10's checked conversion: a negative number goes into an unsigned type, others must fit."""
    limits = numpy.iinfo(numpy_descr(code))
    if not (-limits.max <= alpha <= limits.max or alpha == limits.min):
        raise refused(f"alpha {alpha} does not fit in {get_dtype(code)!r}")
    return 0


# ---- multiplication and division ---------------------------------------------------------------

cdef int mul(Tensor out, Tensor self, Tensor other) except -1:
    return run_binary(MUL, out, self, other, common(self, other))


cdef int div(Tensor out, Tensor self, Tensor other) except -1:
    return run_binary(DIV, out, self, other, rules.float_type(common(self, other)))


cdef int div_mode(Tensor out, Tensor self, Tensor other, object rounding_mode) except -1:
    if rounding_mode is None:
        return div(out, self, other)
    return run_rounded(FLOOR if rounding_mode == "floor" else TRUNC, out, self, other)


cdef int floor_divide(Tensor out, Tensor self, Tensor other) except -1:
    return run_rounded(FLOOR, out, self, other)


cdef int run_rounded(Ufunc u, Tensor out, Tensor self, Tensor other) except -1:
    cdef int code = common(self, other)
    if is_integral_code(code, False) and out.c_numel and not array_of(other, code).all():
        raise refused("ZeroDivisionError, an integer is divided by zero")
    if (code == ST_float16 or code == ST_bfloat16) and other.c_numel != 1:
        quietly(apply_in_half, (IN_HALF_PRECISION[u], out, self, other, code))
        return 0
    return run_binary(u, out, self, other, code)


def apply_in_half(quotient, Tensor out not None, Tensor self not None, Tensor other not None, int code):
    """PyTorch rounds each step to half precision, but for a divisor of one element."""
    store(out, quotient(array_of(self, code), array_of(other, code)), code)


# ---- comparison --------------------------------------------------------------------------------

cdef inline int compare(Ufunc u, Tensor out, Tensor self, Tensor other) except -1:
    return run_binary(u, out, self, other, common(self, other))


cdef int eq(Tensor out, Tensor self, Tensor other) except -1:
    return compare(EQ, out, self, other)


cdef int ne(Tensor out, Tensor self, Tensor other) except -1:
    return compare(NE, out, self, other)


cdef int lt(Tensor out, Tensor self, Tensor other) except -1:
    return compare(LT, out, self, other)


cdef int le(Tensor out, Tensor self, Tensor other) except -1:
    return compare(LE, out, self, other)


cdef int gt(Tensor out, Tensor self, Tensor other) except -1:
    return compare(GT, out, self, other)


cdef int ge(Tensor out, Tensor self, Tensor other) except -1:
    return compare(GE, out, self, other)


cdef int eq_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(EQ, out, self, new_wrapped_number(other))


cdef int ne_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(NE, out, self, new_wrapped_number(other))


cdef int lt_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(LT, out, self, new_wrapped_number(other))


cdef int le_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(LE, out, self, new_wrapped_number(other))


cdef int gt_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(GT, out, self, new_wrapped_number(other))


cdef int ge_scalar(Tensor out, Tensor self, object other) except -1:
    return compare(GE, out, self, new_wrapped_number(other))
