"""CPU kernels of distinct elements: sorted by numpy, told apart in C; the outputs' sizes are in the values.

Floats of 16 bits are sorted as float32. Where an element is among the distinct ones is looked up in these, unless there are NaNs,
each of which is one of its own.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_ALL_COMPLEX, DTYPES_FLOAT8, ST_bool, ST_int64, ST_uint8, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of, get_numpy, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.copy.strided cimport itemsize_of, owners
from dispatch.kernels.cpu.index.scatter cimport in_dtype, wide_code
from dispatch.kernels.cpu.index.slices cimport Numbers, check_supported, dispatch_slices, new_numbers, read_slices
from dispatch.kernels.meta.rules cimport wrap_dim

import numpy as np

from dispatch.kernels.cpu.order.unique import unique_dim_consecutive

__all__ = ["unique", "unique2", "unique_consecutive"]

cdef extern from "../kernels/cpu/order/distinct.h" nogil:
    ctypedef int64_t (*dispatch_run_finder)(int64_t* starts, const char* p, int64_t n) noexcept nogil
    ctypedef void (*dispatch_search)(int64_t* to, const char* sorted, const int64_t* order, int64_t size, const char* values,
                                     int64_t n, int right) noexcept nogil
    dispatch_run_finder dispatch_runs_of(int code) noexcept
    dispatch_search dispatch_searcher(int code) noexcept
    void dispatch_number_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) noexcept
    void dispatch_measure_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) noexcept


cdef enum:
    COUNTED = 1 << 12            # integers from which it may pay to count instead of sorting


cdef Numbers find_runs(Tensor row):
    """Where runs of equal elements begin in contiguous memory."""
    cdef Numbers starts = new_numbers(row.c_numel + 1)
    cdef dispatch_run_finder find = dispatch_runs_of(row.c_dtype)
    cdef char* p = data_of(row, itemsize_of(row))
    cdef int64_t n = row.c_numel
    if find == NULL:
        raise refused(f"no CPU kernel for {dtypes.get_dtype(row.c_dtype)!r}", NotImplementedError)
    kept = owners(row, row)
    with nogil:
        starts.n = find(starts.data, p, n)
    return starts


cdef Tensor firsts(Tensor row, Numbers starts, int code):
    """The first element of each run, in a dtype."""
    cdef dispatch_slices s
    cdef Tensor out = new_empty(row.c_dtype, DEV_CPU, -1, 1, &starts.n, NULL)
    cdef Numbers at = new_numbers(starts.n)
    cdef int64_t i, size = itemsize_of(row)
    for i in range(starts.n):
        at.data[i] = starts.data[i] * size
    s.outer.ndim, s.reads, s.dense, s.step = 0, True, NULL, size
    read_slices(&s, row, out, at)
    return in_dtype(out, code)


cdef Tensor places(int ndim, const int64_t* sizes):
    return new_empty(ST_int64, DEV_CPU, -1, ndim, sizes, NULL)


cdef Tensor nothing():
    cdef int64_t none = 0
    return places(1, &none)


cdef Tensor lengths(Numbers starts, int64_t n, bint wanted):
    cdef Tensor out
    if not wanted:
        return nothing()
    out = places(1, &starts.n)
    if starts.n:
        dispatch_measure_runs(<int64_t*>data_of(out, 8), starts.data, starts.n, n)
    return out


# ---- sorted ------------------------------------------------------------------------------------

cdef Tensor looked_up(Tensor self, Tensor values, Tensor distinct):
    """Where each of `values` is among the distinct ones."""
    cdef Tensor out = places(self.c_ndim, self.c_sizes)
    cdef int code = ST_uint8 if values.c_dtype == ST_bool else values.c_dtype
    cdef dispatch_search search = dispatch_searcher(code)
    cdef int64_t n = values.c_numel, k = distinct.c_numel
    cdef char* to
    cdef char* edge
    cdef char* value
    if n == 0:
        return out
    to, edge, value = data_of(out, 8), data_of(distinct, itemsize_of(distinct)), data_of(values, itemsize_of(values))
    kept = owners(distinct, values)
    with nogil:
        search(<int64_t*>to, edge, NULL, k, value, n, False)
    return out


cdef Tensor by_order(Tensor self, object array):
    """The same where there are NaNs: by numpy, which sorts places."""
    cdef Tensor out = places(self.c_ndim, self.c_sizes)
    _, inverse = np.unique(array, return_inverse=True, equal_nan=False)
    get_numpy(out)[...] = inverse.reshape(tuple(self.shape))
    return out


cdef object by_counts(Tensor self, object array, object low, bint return_inverse, bint return_counts):
    """The same for integers that lie close together: each is counted, nothing is sorted."""
    cdef Tensor distinct, inverse, counts
    cdef int64_t found
    at = np.subtract(array, low, dtype=np.int64)
    numbers = np.bincount(at)
    present = np.flatnonzero(numbers)
    found = len(present)
    distinct, inverse, counts = places(1, &found), nothing(), nothing()
    get_numpy(distinct)[...] = present + low
    if return_inverse:
        inverse = places(self.c_ndim, self.c_sizes)
        np.take(np.cumsum(numbers > 0) - 1, at, out=get_numpy(inverse).reshape(-1))
    if return_counts:
        counts = places(1, &found)
        get_numpy(counts)[...] = numbers[present]
    return in_dtype(distinct, self.c_dtype), inverse, counts


def unique2(Tensor self not None, sorted=True, return_inverse=False, return_counts=False):
    """Distinct elements in order, where each element of self is among them, and how often."""
    cdef Tensor values, ordered, distinct, inverse
    cdef Numbers starts
    cdef int64_t n = self.c_numel
    check_supported(self, DTYPES_FLOAT8 | DTYPES_ALL_COMPLEX, True)
    values = in_dtype(self, wide_code(self.c_dtype)).contiguous()
    if n >= COUNTED and is_integral_code(values.c_dtype, False):
        array = get_numpy(values).reshape(-1)
        low, high = int(array.min()), int(array.max())
        if high - low < n and high < 1 << 63:
            return by_counts(self, array, low, return_inverse, return_counts)
    ordered = new_empty(values.c_dtype, DEV_CPU, -1, 1, &n, NULL)
    if n:
        copy_values(ordered, values.reshape(-1))
    array = get_numpy(ordered)
    array.sort()
    starts = find_runs(ordered)
    distinct = firsts(ordered, starts, ordered.c_dtype)
    if not return_inverse:
        inverse = nothing()
    elif n and array[n - 1] != array[n - 1]:
        inverse = by_order(self, get_numpy(values))
    else:
        inverse = looked_up(self, values, distinct)
    return in_dtype(distinct, self.c_dtype), inverse, lengths(starts, n, return_counts)


def unique(self, sorted=True, return_inverse=False):
    """The same without counts."""
    return unique2(self, sorted, return_inverse)[:2]


# ---- one after the other -----------------------------------------------------------------------

def unique_consecutive(Tensor self not None, return_inverse=False, return_counts=False, dim=None):
    """Elements that differ from the one before, or slices along `dim`."""
    cdef Tensor row, inverse
    cdef Numbers starts
    if dim is not None and not (self.c_ndim == 1 and wrap_dim(dim, 1, True) == 0):
        return unique_dim_consecutive(self, dim, return_inverse, return_counts)
    check_supported(self, DTYPES_FLOAT8, True)
    row = self.contiguous()
    starts = find_runs(row)
    inverse = places(self.c_ndim, self.c_sizes) if return_inverse else nothing()
    if return_inverse and self.c_numel:
        dispatch_number_runs(<int64_t*>data_of(inverse, 8), starts.data, starts.n, self.c_numel)
    return firsts(row, starts, self.c_dtype), inverse, lengths(starts, self.c_numel, return_counts)
