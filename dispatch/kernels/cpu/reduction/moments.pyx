"""Bodies of variances, deviations and norms on the CPU.

Called by the structured kernels with outputs of the right sizes and dtypes. Sums run in double
precision. A complex number's variance is that of its real and of its imaginary part, added up; its
norm is that of its magnitudes.
"""
from libc.stdint cimport int64_t

import numpy as np

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_FLOAT8, ST_NONE, ST_complex32, ST_complex64, ST_float32, ST_float64,
    is_complex_code, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, get_numpy, new_empty, new_view_dtype
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport copy_array, copy_values, fill_values
from dispatch._C.advice import advise
from dispatch.kernels.cpu.reduction.fold cimport (
    ALL_DIMS, FOLD_ABSMAX, FOLD_ABSMIN, FOLD_NORM0, FOLD_NORM1, FOLD_NORM2, FOLD_POWER, FOLD_STD,
    FOLD_VAR, converted, fold_into, reduced_count,
)


cdef int check_dtype(Tensor self) except -1:
    if is_in(DTYPES_FLOAT8, self.c_dtype):
        raise unserved(dtypes.get_dtype(self.c_dtype))
    return 0


# ---- variances and deviations --------------------------------------------------------------------

cdef Tensor part(Tensor t, int which):
    """The real (0) or imaginary (1) parts of a complex tensor, over its memory."""
    cdef int64_t strides[64]
    cdef int d
    for d in range(t.c_ndim):
        strides[d] = 2 * t.c_strides[d]
    return new_view_dtype(t, ST_float32 if t.c_dtype == ST_complex64 else ST_float64, t.c_ndim, t.c_sizes, strides,
                          2 * t.c_offset + which)


cdef int complex_moments(Tensor out, Tensor mean, Tensor self, const int64_t* dims, int n, double correction,
                         bint root) except -1:
    cdef Tensor given = converted(self, ST_complex64) if self.c_dtype == ST_complex32 else self
    cdef int real = ST_float32 if given.c_dtype == ST_complex64 else ST_float64
    cdef Tensor target = mean, spread
    cdef list found = []
    cdef int i
    if mean is not None and mean.c_dtype != given.c_dtype:
        target = new_empty(given.c_dtype, 0, -1, mean.c_ndim, mean.c_sizes, NULL)
    for i in range(2):
        spread = new_empty(real, 0, -1, out.c_ndim, out.c_sizes, NULL)
        fold_into(FOLD_VAR, spread, part(target, i) if mean is not None else None, part(given, i), dims, n, correction)
        found.append(get_numpy(spread))
    total = found[0] + found[1]
    copy_array(out, np.asarray(np.sqrt(total) if root else total))
    if target is not mean:
        copy_values(mean, target)
    return 0


cdef int check_freedom(int op, Tensor out, Tensor mean, Tensor self, double less) except -1:
    """A UserWarning where the correction leaves no degrees of freedom; two for a complex tensor, as for its two parts."""
    cdef int64_t count = self.c_numel // out.c_numel if out.c_numel else 0
    cdef str name
    if count - less > 0:
        return 0
    name = ("std" if op == FOLD_STD else "var") + ("" if mean is None else "_mean")
    for _ in range(2 if is_complex_code(self.c_dtype) else 1):
        advise(f"{name}(): degrees of freedom is <= 0: a correction of {less:g} for {count} elements")
    return 0


cdef int moments(int op, Tensor out, Tensor mean, Tensor self, object correction, const int64_t* handed) except -1:
    """No degrees of freedom make NaN or infinity."""
    cdef Tensor given = self, spread = out, average = mean
    cdef double less
    if self.c_numel:
        check_dtype(self)
    if isinstance(correction, complex):
        raise refused(f"expected correction to be a real number, got {correction}")
    less = 1 if correction is None else correction
    check_freedom(op, out, mean, self, less)
    if self.c_numel == 0:
        if mean is not None:
            fill_values(mean, complex("nan+nanj") if is_complex_code(mean.c_dtype) else float("nan"))
        return fill_values(out, float("nan"))
    if is_complex_code(self.c_dtype):
        with np.errstate(all="ignore"):
            return complex_moments(out, mean, self, &handed[1], <int>handed[0], less, op == FOLD_STD)
    if not is_complex_code(out.c_dtype) and mean is None:
        given = converted(self, out.c_dtype)
    if spread.c_dtype != given.c_dtype:
        spread = new_empty(given.c_dtype, 0, -1, out.c_ndim, out.c_sizes, NULL)
    if mean is not None and mean.c_dtype != given.c_dtype:
        average = new_empty(given.c_dtype, 0, -1, mean.c_ndim, mean.c_sizes, NULL)
    fold_into(op, spread, average, given, &handed[1], <int>handed[0], less)
    if spread is not out:
        copy_values(out, spread)
    if average is not mean:
        copy_values(mean, average)
    return 0


cdef int var(Tensor out, Tensor self, object dim, object correction, bint keepdim, const int64_t* handed) except -1:
    return moments(FOLD_VAR, out, None, self, correction, handed)


cdef int std(Tensor out, Tensor self, object dim, object correction, bint keepdim, const int64_t* handed) except -1:
    return moments(FOLD_STD, out, None, self, correction, handed)


cdef int var_mean(Tensor out, Tensor mean, Tensor self, object dim, object correction, bint keepdim,
                  const int64_t* handed) except -1:
    return moments(FOLD_VAR, out, mean, self, correction, handed)


cdef int std_mean(Tensor out, Tensor mean, Tensor self, object dim, object correction, bint keepdim,
                  const int64_t* handed) except -1:
    return moments(FOLD_STD, out, mean, self, correction, handed)


# ---- norms ---------------------------------------------------------------------------------------

cdef int norm_op(double order) noexcept:
    if order == 0:
        return FOLD_NORM0
    if order == 1:
        return FOLD_NORM1
    if order == 2:
        return FOLD_NORM2
    if order - order != 0:
        return FOLD_ABSMAX if order > 0 else FOLD_ABSMIN
    return FOLD_POWER


cdef int take_norm(Tensor out, Tensor self, object ord, const int64_t* dims, int n, int dtype) except -1:
    """Order 0 counts what is not 0."""
    cdef Tensor given = self, target
    cdef double order
    if isinstance(ord, complex):
        raise refused(f"expected ord to be a real number, got {ord}")
    if self.c_numel == 0:
        return fill_values(out, 0) if out.c_numel else 0
    order = ord
    if reduced_count(self, dims, n) > 1 or not is_in(DTYPES_FLOAT8, self.c_dtype):
        check_dtype(self)
    if dtype != ST_NONE:
        given = converted(self, dtype)
    if given.c_dtype == ST_complex32:
        given = converted(given, ST_complex64)
    elif is_in(DTYPES_FLOAT8, given.c_dtype):
        given = converted(given, ST_float32)
    if reduced_count(self, dims, n) == 1 and order != 0:
        order = 1
    if not is_in(DTYPES_FLOAT8, out.c_dtype):
        return fold_into(norm_op(order), out, None, given, dims, n, order)
    target = new_empty(ST_float32, 0, -1, out.c_ndim, out.c_sizes, NULL)
    fold_into(norm_op(order), target, None, given, dims, n, order)
    return copy_values(out, target)


cdef int linalg_vector_norm(Tensor out, Tensor self, object ord, object dim, bint keepdim, int dtype,
                            const int64_t* handed) except -1:
    return take_norm(out, self, ord, &handed[1], <int>handed[0], dtype)


cdef int norm(Tensor out, Tensor self, object p, IntArray dim, bint keepdim, const int64_t* handed) except -1:
    return norm_dtype(out, self, p, dim, keepdim, ST_NONE, handed)


cdef int norm_dtype(Tensor out, Tensor self, object p, IntArray dim, bint keepdim, int dtype, const int64_t* handed) except -1:
    return take_norm(out, self, 2 if p is None else p, &handed[1], <int>handed[0], dtype)
