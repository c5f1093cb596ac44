"""Bodies of sums, products, counts and truth on the CPU.

Called by the structured kernels with an output of the right size and dtype. Input is converted to
the output's dtype first, as PyTorch's CPU kernels do; half precision adds in float32 and is rounded
once, but products are rounded at each step. Where PyTorch puts a reduction's identity into the
output before it reads, an output that is self holds just that.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_FLOAT8, DTYPES_RARE, DTYPES_REDUCED_FLOATING, ST_NONE, ST_bfloat16, ST_bool, ST_complex32, ST_float32,
    ST_float64, ST_uint8, is_complex_code, is_floating_code, is_in, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.reduction.fold cimport (
    ALL_DIMS, FOLD_ALL, FOLD_ANY, FOLD_COUNT, FOLD_MEAN, FOLD_NANSUM, FOLD_PROD, FOLD_SUM, FOLD_XOR,
    converted, fold_into,
)
from dispatch.kernels.meta cimport rules


cdef int raise_no_kernel(int code) except -1:
    raise unserved(dtypes.get_dtype(code))


cdef int check_out(Tensor out, int code) except -1:
    """Where the shape function lets any dtype pass, as PyTorch's does."""
    if out.c_dtype != code:
        raise refused(f"expected out to have dtype {dtypes.get_dtype(code)!r}, got "
                      f"{dtypes.get_dtype(out.c_dtype)!r}")
    return 0


cdef Tensor in_dtype(Tensor self, int code):
    """self's values as they are added up; integers are widened on the way."""
    if is_integral_code(self.c_dtype, True) and is_integral_code(code, False):
        return self
    return converted(self, code)


# ---- sums and means ------------------------------------------------------------------------------

cdef int check_dtype(int code) except -1:
    """`code` is the output's: input is converted first, from any dtype."""
    if code == ST_complex32 or code > ST_bfloat16:
        raise_no_kernel(code)
    return 0


cdef int add(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    if self.c_numel == 0:
        return fill_values(out, 0) if out.c_numel else 0
    check_dtype(out.c_dtype)
    return fold_into(op, out, None, in_dtype(self, out.c_dtype), dims, n, 0)


cdef int sum(Tensor out, Tensor self, int dtype) except -1:
    check_out(out, rules.sum_type(self.c_dtype, dtype))
    return add(FOLD_SUM, out, self, NULL, ALL_DIMS)


cdef int sum_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1:
    if out is self:              # PyTorch clears the output before it reads
        return fill_values(out, 0)
    return add(FOLD_SUM, out, self, &handed[1], <int>handed[0])


cdef int nansum(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1:
    """The sum of the elements that are numbers."""
    if is_complex_code(self.c_dtype):
        raise refused("nansum on CPU does not support complex inputs")
    if is_integral_code(self.c_dtype, True):
        return add(FOLD_SUM, out, self, &handed[1], <int>handed[0])
    if is_complex_code(out.c_dtype) or dtype == ST_NONE and not is_floating_code(out.c_dtype):
        raise unserved(dtypes.get_dtype(out.c_dtype))
    return add(FOLD_NANSUM, out, self, &handed[1], <int>handed[0])


cdef int mean_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1:
    """The sum over the count: half precision is not rounded in between, nor is input to it."""
    cdef int code = out.c_dtype
    cdef bint narrow = is_in(DTYPES_REDUCED_FLOATING, code)
    if dtype != ST_NONE:
        check_out(out, dtype)
    check_dtype(code)
    if out is self and not narrow:
        return fill_values(out, 0)
    if self.c_numel == 0:
        return fill_values(out, float("nan")) if out.c_numel else 0
    if narrow and self.c_dtype != code:
        code = ST_float32
    return fold_into(FOLD_MEAN, out, None, converted(self, code), &handed[1], <int>handed[0], 0)


# ---- products ------------------------------------------------------------------------------------

cdef int multiply(Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    cdef int code = out.c_dtype
    if self.c_numel == 0:
        return fill_values(out, 1) if out.c_numel else 0
    if is_in(DTYPES_RARE, code) or code == ST_complex32:
        raise_no_kernel(code)
    if code == ST_bool:          # a product of truths: whether all are
        return fold_into(FOLD_ALL, out, None, self, dims, n, 0)
    return fold_into(FOLD_PROD, out, None, in_dtype(self, code), dims, n, 0)


cdef int prod(Tensor out, Tensor self, int dtype) except -1:
    check_out(out, rules.sum_type(self.c_dtype, dtype))
    return multiply(out, self, NULL, ALL_DIMS)


cdef int prod_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, int dtype, const int64_t* handed) except -1:
    if out is self:
        return fill_values(out, 1)
    return multiply(out, self, &handed[1], <int>handed[0])


# ---- bits and counts -----------------------------------------------------------------------------

cdef int hash_tensor(Tensor out, Tensor self, IntArray dim, bint keepdim, int64_t mode, const int64_t* handed) except -1:
    """The exclusive or of all bits: of integers as int64, of floats as float64."""
    cdef int code = self.c_dtype
    if out.c_numel == 0:
        return 0
    if is_in(DTYPES_RARE, code) or is_complex_code(code):
        raise_no_kernel(code)
    return fold_into(FOLD_XOR, out, None, converted(self, ST_float64) if is_floating_code(code) else self,
                     &handed[1], <int>handed[0], 0)


cdef int count_nonzero(Tensor out, Tensor self, IntArray dim, const int64_t* handed) except -1:
    """How many elements are not 0."""
    if self.c_numel == 0:
        return fill_values(out, 0) if out.c_numel else 0
    return fold_into(FOLD_COUNT, out, None, comparable(self), &handed[1], <int>handed[0], 0)


cdef Tensor comparable(Tensor self):
    """Floats of 8 bits have no loops of their own."""
    return converted(self, ST_float32) if is_in(DTYPES_FLOAT8, self.c_dtype) else self


# ---- any, all ------------------------------------------------------------------------------------

cdef int truth(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    """NaN is true; the output is 0 or 1. For one of uint8 self is converted to that first."""
    cdef Tensor given = comparable(self)
    if out.c_dtype != ST_bool and out.c_dtype != ST_uint8:
        raise refused(f"{'all' if op == FOLD_ALL else 'any'} only supports bool tensor for result, got: "
                      f"{dtypes.get_dtype(out.c_dtype)!r}")
    if self.c_numel == 0 or (out is self and self.c_ndim):
        return fill_values(out, op == FOLD_ALL) if out.c_numel else 0
    if out.c_dtype == ST_uint8:
        given = converted(self, ST_uint8)
    return fold_into(op, out, None, given, dims, n, 0)


cdef int any_all(Tensor out, Tensor self) except -1:
    return truth(FOLD_ANY, out, self, NULL, ALL_DIMS)


cdef int any_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1:
    return truth(FOLD_ANY, out, self, &handed[1], <int>handed[0])


cdef int any_dims(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1:
    return truth(FOLD_ANY, out, self, &handed[1], <int>handed[0])


cdef int all_all(Tensor out, Tensor self) except -1:
    return truth(FOLD_ALL, out, self, NULL, ALL_DIMS)


cdef int all_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1:
    return truth(FOLD_ALL, out, self, &handed[1], <int>handed[0])


cdef int all_dims(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1:
    return truth(FOLD_ALL, out, self, &handed[1], <int>handed[0])
