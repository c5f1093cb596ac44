"""Bodies of scans on the CPU: loops over rows (`scan.h`).

Called by the structured kernels with an output of the right size and dtype. Input is converted to
the output's dtype first; 16-bit floats are computed in wider ones and rounded once.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_ALL_COMPLEX, DTYPES_RARE, ST_bool, ST_complex32, ST_int64, is_complex_code, is_floating_code,
    is_in, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.along cimport IN_INT64, row_cols_fn, row_of, row_step_fn, walk_along
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.reduction.fold cimport converted
from dispatch.kernels.meta cimport rules

from dispatch._C.structured import check_written

cdef extern from "scan.h" nogil:
    enum:
        CUMSUM, CUMPROD, CUMMAX, CUMMIN, LOGCUMSUMEXP
    const row_step_fn SCAN_STEPS[5][5]
    const row_cols_fn SCAN_COLUMNS[5][5]


cdef int raise_no_kernel(int code) except -1:
    raise unserved(dtypes.get_dtype(code))


cdef int scan(int op, Tensor out, Tensor second, Tensor self, int64_t dim) except -1:
    """Along `dim`, which is wrapped. `second`: places; None where there are none.

    Where rows lie as they are read, sums, and extremes of integers, take less than turning short ones into columns.
    """
    cdef int row = row_of(self.c_dtype)
    cdef bint by_rows = self.c_strides[dim] == 1 and (op <= CUMPROD or row == IN_INT64)
    cdef row_cols_fn cols = NULL if by_rows else SCAN_COLUMNS[op][row]
    return walk_along(SCAN_STEPS[op][row], cols, NULL, dim, self, None, out, second)


cdef int accumulate(int op, Tensor out, Tensor self, int64_t dim) except -1:
    cdef int code = out.c_dtype
    cdef bint widens = is_integral_code(self.c_dtype, True) and is_integral_code(code, False)
    return scan(op, out, None, self if widens else converted(self, code), dim)


cdef inline bint has_sums(int code) noexcept:
    return not is_in(DTYPES_RARE, code) and code != ST_bool and code != ST_complex32


cdef int cumsum(Tensor out, Tensor self, int64_t dim, int dtype, const int64_t* handed) except -1:
    if out.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        return copy_values(out, self)
    if not has_sums(out.c_dtype):
        raise_no_kernel(out.c_dtype)
    return accumulate(CUMSUM, out, self, handed[0])


cdef int cumprod(Tensor out, Tensor self, int64_t dim, int dtype, const int64_t* handed) except -1:
    if not has_sums(out.c_dtype):
        raise_no_kernel(out.c_dtype)
    if out.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        return copy_values(out, self)
    return accumulate(CUMPROD, out, self, handed[0])


# ---- sums of exponentials ------------------------------------------------------------------------

cdef int logcumsumexp(Tensor out, Tensor self, int64_t dim, const int64_t* handed) except -1:
    cdef int code = self.c_dtype
    if not (is_floating_code(code) or is_complex_code(code)) or is_in(DTYPES_RARE, code) or code == ST_complex32:
        raise_no_kernel(code)
    if self.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        return copy_values(out, self)
    return scan(LOGCUMSUMEXP, out, None, self, handed[0])


# ---- extremes ------------------------------------------------------------------------------------

cdef int extremes(int op, Tensor self, Tensor values, Tensor indices, int64_t dim) except -1:
    if is_in(DTYPES_RARE | DTYPES_ALL_COMPLEX, self.c_dtype):
        raise_no_kernel(self.c_dtype)
    return scan(op, values, indices, self, rules.wrap_dim(dim, self.c_ndim, True))


cdef int check_given(str name, Tensor t, Tensor self, int code) except -1:
    """What a program hands over itself: PyTorch's helpers believe it."""
    if t.c_dtype != code or t.shape != self.shape:
        raise refused(f"expected {name} of self's sizes {list(self.shape)} and {dtypes.get_dtype(code)!r}, got "
                      f"{list(t.shape)} and {dtypes.get_dtype(t.c_dtype)!r}")
    check_written(t)
    return 0


cdef int given_extremes(int op, Tensor self, Tensor values, Tensor indices, int64_t dim) except -1:
    check_given("values", values, self, self.c_dtype)
    check_given("indices", indices, self, ST_int64)
    return extremes(op, self, values, indices, dim)


def cummax_helper(Tensor self not None, Tensor values not None, Tensor indices not None, int64_t dim):
    """The largest so far, and its place: the last of equal ones."""
    given_extremes(CUMMAX, self, values, indices, dim)


def cummin_helper(Tensor self not None, Tensor values not None, Tensor indices not None, int64_t dim):
    """The smallest so far, and its place: the last of equal ones."""
    given_extremes(CUMMIN, self, values, indices, dim)
