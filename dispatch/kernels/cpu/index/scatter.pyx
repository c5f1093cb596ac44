"""CPU bodies of gather and scatter: for each element of the index, one along a dimension is read, written or reduced.

Called by the structured kernels. Indices are checked before anything is written. Sums of 16-bit floats are made in float32 and
rounded once, those of other dtypes where they lie.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_ALL_COMPLEX, DTYPES_BOOL, DTYPES_RARE, DTYPES_REDUCED_FLOATING, ST_bool, ST_float32, ST_int64, is_in,
    is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.index.slices cimport (
    ADD, MAX, MIN, MUL, Reduction, check_along, check_supported, copy_unless_same, read_along, reduce_along, write_along,
)

import numpy as np

from dispatch._ops import ops


cdef int wide_code(int code) noexcept:
    return ST_float32 if is_in(DTYPES_REDUCED_FLOATING, code) else code


cdef Tensor in_dtype(Tensor t, int code):
    cdef Tensor made
    if t.c_dtype == code:
        return t
    made = new_empty(code, DEV_CPU, -1, t.c_ndim, t.c_sizes, NULL)
    copy_values(made, t)
    return made


cdef Tensor number(object value, int code):
    """RuntimeError if the dtype cannot hold it."""
    cdef Tensor t = new_empty(code, DEV_CPU, -1, 0, NULL, NULL)
    fill_values(t, value)
    return t


cdef Tensor everywhere(Tensor one, Tensor index):
    """One number at each element of the index."""
    cdef int64_t zeros[64]
    cdef int d
    for d in range(index.c_ndim):
        zeros[d] = 0
    return new_view(one, index.c_ndim, index.c_sizes, zeros, 0)


cdef int gather(Tensor out, Tensor self, int64_t dim, Tensor index, bint sparse_grad, const int64_t* handed) except -1:
    """For each element of `index`, self's at this place along `dim`."""
    if index.c_numel == 0:
        return 0
    check_supported(self, DTYPES_RARE, True)
    return read_along(out, self, <int>handed[0], index)


cdef bint checked_before(Tensor target, Tensor self, int dim, Tensor index) except -1:
    """Where self itself is written, indices are checked before it is; else on the way."""
    if not memory_meets(target, self):
        return False
    check_along(self, dim, index)
    return True


cdef bint begin(Tensor out, Tensor self, int dim, Tensor index) except -1:
    """self into `out`; whether indices are checked already."""
    cdef bint checked
    check_supported(self, DTYPES_RARE, True)
    checked = checked_before(out, self, dim, index)
    copy_unless_same(out, self)
    return checked


cdef int scatter(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, const int64_t* handed) except -1:
    """self with elements of `src` at `index` along `dim`; of equal indices the last counts."""
    cdef bint checked
    if index.c_numel == 0:
        return copy_unless_same(out, self)
    checked = begin(out, self, <int>handed[0], index)
    return write_along(out, src, <int>handed[0], index, not checked)


cdef int scatter_value(Tensor out, Tensor self, int64_t dim, Tensor index, object value, const int64_t* handed) except -1:
    """The same with a number."""
    cdef Tensor one
    cdef bint checked
    if index.c_numel == 0:
        return copy_unless_same(out, self)
    check_supported(self, DTYPES_RARE, True)
    one = number(value, self.c_dtype)
    checked = begin(out, self, <int>handed[0], index)
    return write_along(out, everywhere(one, index), <int>handed[0], index, not checked)


# ---- reductions --------------------------------------------------------------------------------

cdef object identity(str reduce, int code):
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if code == ST_bool:
        return reduce == "amin"
    if not is_integral_code(code, False):
        return float("-inf") if reduce == "amax" else float("inf")
    limits = np.iinfo(dtypes.numpy_descr(code))
    return int(limits.min) if reduce == "amax" else int(limits.max)


cdef int reduced(Tensor out, Tensor self, int dim, Tensor index, Tensor src, str reduce, bint include_self) except -1:
    """self's elements reduced with those of `src` that `index` sends there."""
    cdef int wide = wide_code(self.c_dtype)
    cdef Reduction op = ADD if reduce in ("sum", "mean") else MUL if reduce == "prod" else MAX if reduce == "amax" else MIN
    cdef Tensor target = out
    cdef bint checked
    if wide != self.c_dtype or reduce == "mean":
        target = new_empty(wide, DEV_CPU, -1, self.c_ndim, self.c_sizes, NULL)
    checked = checked_before(target, self, dim, index)
    copy_unless_same(target, self)
    if not include_self:
        write_along(target, everywhere(number(identity(reduce, wide), wide), index), dim, index, not checked)
        checked = True
    reduce_along(target, in_dtype(src, wide), dim, index, op, not checked)
    if reduce == "mean":
        target = divided(target, dim, index, include_self)
    return copy_unless_same(out, target)


cdef Tensor divided(Tensor sums, int dim, Tensor index, bint include_self):
    """Sums by the number of their terms; integers round down."""
    cdef int code = ST_int64 if is_integral_code(sums.c_dtype, False) else sums.c_dtype
    cdef Tensor counts = new_empty(code, DEV_CPU, -1, sums.c_ndim, sums.c_sizes, NULL)
    fill_values(counts, 1 if include_self else 0)
    reduce_along(counts, everywhere(number(1, code), index), dim, index, ADD, False)
    if not include_self:
        ops.aten.masked_fill_(counts, ops.aten.eq(counts, 0), 1)
    if code == ST_int64:
        return ops.aten.floor_divide(sums, in_dtype(counts, sums.c_dtype))
    return ops.aten.div_(sums, counts)


cdef int scatter_add(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, const int64_t* handed) except -1:
    """self with elements of `src` added at `index` along `dim`."""
    if index.c_numel == 0:
        return copy_unless_same(out, self)
    check_supported(self, DTYPES_RARE, True)
    return reduced(out, self, <int>handed[0], index, src, "sum", True)


cdef int scatter_reduce(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce, bint include_self,
                        const int64_t* handed) except -1:
    """The same with any reduction; without self where something arrives, unless `include_self`."""
    cdef unsigned long long missing = DTYPES_RARE
    if reduce == "mean":
        missing |= DTYPES_BOOL
    elif reduce in ("amax", "amin"):
        missing |= DTYPES_ALL_COMPLEX
    if index.c_numel == 0:
        if reduce == "mean":
            check_supported(self, DTYPES_BOOL, False)
        return copy_unless_same(out, self)
    if not include_self:
        check_along(self, <int>handed[0], index)
    check_supported(self, missing, True)
    return reduced(out, self, <int>handed[0], index, src, reduce, include_self)


cdef int scatter_combine(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce,
                         const int64_t* handed) except -1:
    """self with elements of `src` added, or multiplied with."""
    if index.c_numel == 0:
        return copy_unless_same(out, self)
    check_supported(self, DTYPES_RARE, True)
    return reduced(out, self, <int>handed[0], index, src, "sum" if reduce == "add" else "prod", True)


cdef int scatter_combine_value(Tensor out, Tensor self, int64_t dim, Tensor index, object value, object reduce,
                               const int64_t* handed) except -1:
    """The same with a number."""
    if index.c_numel == 0:
        return copy_unless_same(out, self)
    src = everywhere(number(truncated(value, self.c_dtype), self.c_dtype), index)
    return scatter_combine(out, self, dim, index, src, reduce, handed)


cdef object truncated(object value, int code):
    return int(value) if isinstance(value, float) and is_integral_code(code, False) else value
