"""CPU kernels of distinct elements and slices, and of counts: the outputs' sizes are in the values. Elements are sorted by numpy,
or by `sort` where their places are asked for, slices here; told apart in C.

Floats of 16 bits are sorted as float32. Each NaN is one of its own.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_ALL_COMPLEX, DTYPES_FLOAT8, MF_contiguous, ST_bool, ST_float32, ST_float64, ST_int64, ST_uint8,
    is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.steady cimport new_steady
from dispatch._C.tensor cimport Tensor, data_of, get_numpy, is_contiguous_as, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.copy.strided cimport itemsize_of, owners
from dispatch.kernels.cpu.index.scatter cimport in_dtype, wide_code
from dispatch.kernels.cpu.index.slices cimport (
    Numbers, check_supported, dispatch_slices, new_numbers, read_slices, set_rest,
)
from dispatch.kernels.meta.rules cimport wrap_dim

import numpy as np

from dispatch._ops import ops

__all__ = ["bincount", "unique", "unique2", "unique_consecutive", "unique_dim", "unique_dim_consecutive"]

cdef extern from "../kernels/cpu/order/distinct.h" nogil:
    ctypedef int64_t (*dispatch_run_keeper)(char* to, int64_t* lengths, int64_t* runs, const char* p, int64_t n) noexcept nogil
    ctypedef int (*dispatch_row_order)(const char* a, const char* b, int64_t n) noexcept nogil
    ctypedef int64_t (*dispatch_run_finder)(int64_t* starts, const char* p, int64_t n) noexcept nogil
    dispatch_run_finder dispatch_runs_of(int code) noexcept
    dispatch_run_keeper dispatch_keeper_of(int code) noexcept
    dispatch_row_order dispatch_row_test(int code, bint in_order) noexcept
    void dispatch_sort_rows(int64_t* order, int64_t* spare, int64_t n, const char* rows, int64_t itemsize, int64_t width,
                            dispatch_row_order compare) noexcept
    int64_t dispatch_find_row_runs(int64_t* starts, const int64_t* order, int64_t n, const char* rows, int64_t itemsize,
                                   int64_t width, dispatch_row_order differ) noexcept
    void dispatch_extremes(const int64_t* numbers, int64_t n, int64_t* most, int64_t* least) noexcept
    void dispatch_count_ones(int64_t* to, int64_t size, const int64_t* numbers, const int64_t* weights, int64_t n) noexcept
    void dispatch_count_f32(float* to, int64_t size, const int64_t* numbers, const float* weights, int64_t n) noexcept
    void dispatch_count_f64(double* to, int64_t size, const int64_t* numbers, const double* weights, int64_t n) noexcept
    void dispatch_number_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) noexcept
    void dispatch_measure_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) noexcept


cdef enum:
    COUNTED = 1 << 12            # integers from which it may pay to count instead of sorting


cdef int missing(Tensor t) except -1:
    raise unserved(dtypes.get_dtype(t.c_dtype))


cdef Numbers find_runs(Tensor row):
    """Where runs of equal elements begin in contiguous memory."""
    cdef Numbers starts = new_numbers(row.c_numel + 1)
    cdef dispatch_run_finder find = dispatch_runs_of(row.c_dtype)
    cdef char* p = data_of(row, itemsize_of(row))
    cdef int64_t n = row.c_numel
    if find == NULL:
        missing(row)
    kept = owners(row, row)
    with nogil:
        starts.n = find(starts.data, p, n)
    return starts


cdef Tensor firsts(Tensor row, int code, Tensor lengths=None, Tensor runs=None):
    """The first element of each run, in a dtype; the memory is as long as the row, as in PyTorch.

    `lengths` gets those of the runs, `runs` the number of each element's run: int64, as long as the row.
    """
    cdef int64_t n = row.c_numel, found
    cdef dispatch_run_keeper keep = dispatch_keeper_of(row.c_dtype)
    cdef Tensor out = new_empty(row.c_dtype, DEV_CPU, -1, 1, &n, NULL)
    cdef char* p
    cdef char* to
    cdef int64_t* counts
    cdef int64_t* numbers
    if keep == NULL:
        missing(row)
    if n == 0:
        return in_dtype(out, code)
    p, to = data_of(row, itemsize_of(row)), data_of(out, itemsize_of(out))
    counts = NULL if lengths is None else <int64_t*>data_of(lengths, 8)
    numbers = NULL if runs is None else <int64_t*>data_of(runs, 8)
    kept = owners(row, out), lengths, runs
    with nogil:
        found = keep(to, counts, numbers, p, n)
    ops.aten.resize_(out, [found])
    if lengths is not None:
        ops.aten.resize_(lengths, [found])
    return in_dtype(out, code)


cdef Tensor places(int ndim, const int64_t* sizes):
    return new_empty(ST_int64, DEV_CPU, -1, ndim, sizes, NULL)


cdef Tensor nothing():
    cdef int64_t none = 0
    return places(1, &none)


cdef Tensor lengths(Numbers starts, int64_t n):
    cdef Tensor out = places(1, &starts.n)
    if starts.n:
        dispatch_measure_runs(<int64_t*>data_of(out, 8), starts.data, starts.n, n)
    return out


# ---- sorted ------------------------------------------------------------------------------------

cdef Tensor by_order(Tensor self, Tensor ordered, Tensor order):
    """Where each element is among the distinct ones: the number of its run."""
    cdef int64_t i, place, n = self.c_numel
    cdef Tensor out = places(1, &n)
    cdef Numbers starts, runs = new_numbers(n)
    cdef int64_t* to = <int64_t*>data_of(out, 8)
    cdef const int64_t* at
    cdef bint inside = ordered.c_numel == n and order.c_numel == n and order.c_dtype == ST_int64 \
        and is_contiguous_as(ordered, MF_contiguous) \
        and is_contiguous_as(order, MF_contiguous)
    if inside:                           # a program may have a kernel of its own for `sort`
        starts, kept = find_runs(ordered), owners(order, out)
        at = <const int64_t*>data_of(order, 8)
        with nogil:
            dispatch_number_runs(runs.data, starts.data, starts.n, runs.n)
            for i in range(runs.n):
                place = at[i]            # read once: whose it is may write it
                if not 0 <= place < n:
                    inside = False
                    break
                to[place] = runs.data[i]
    if not inside:
        raise refused("aten::sort.stable gave no order of the elements")
    return out if self.c_ndim == 1 else out.view(self.shape)


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


cdef object of_truths(Tensor self, bint return_inverse, bint return_counts):
    """The same for truth values, of which those that hold are counted."""
    cdef Tensor distinct, inverse = nothing(), counts = nothing()
    cdef int64_t n = self.c_numel, hold = ops.aten.count_nonzero(self).item(), found = (hold > 0) + (hold < n)
    distinct = new_empty(ST_bool, DEV_CPU, -1, 1, &found, NULL)
    get_numpy(distinct)[...] = [truth for truth, count in ((False, n - hold), (True, hold)) if count]
    if return_inverse:
        inverse = places(self.c_ndim, self.c_sizes)
        if found == 2:
            copy_values(inverse, self)
        else:
            get_numpy(inverse)[...] = 0
    if return_counts:
        counts = places(1, &found)
        get_numpy(counts)[...] = [count for count in (n - hold, hold) if count]
    return distinct, inverse, counts


def unique2(Tensor self not None, sorted=True, return_inverse=False, return_counts=False):
    """Distinct elements in order, where each element of self is among them, and how often."""
    cdef Tensor values, ordered, order, distinct, inverse, counts
    cdef int64_t n
    self = new_steady(self)
    n = self.c_numel
    check_supported(self, DTYPES_FLOAT8 | DTYPES_ALL_COMPLEX, True)
    if self.c_dtype == ST_bool:
        return of_truths(self, return_inverse, return_counts)
    values = in_dtype(self, wide_code(self.c_dtype)).contiguous()
    if n >= COUNTED and is_integral_code(values.c_dtype, False):
        array = get_numpy(values).reshape(-1)
        low, high = int(array.min()), int(array.max())
        if high - low < n and high < 1 << 63:
            return by_counts(self, array, low, return_inverse, return_counts)
    inverse = places(self.c_ndim, self.c_sizes) if return_inverse else nothing()
    if return_inverse and n:
        ordered, order = ops.aten.sort.stable(values.reshape(-1), stable=True, dim=0)
        inverse = by_order(self, ordered, order)
    else:
        ordered = new_empty(values.c_dtype, DEV_CPU, -1, 1, &n, NULL)
        if n:
            copy_values(ordered, values.reshape(-1))
        get_numpy(ordered).sort()
    counts = places(1, &n) if return_counts else nothing()
    distinct = firsts(ordered, self.c_dtype, counts if return_counts else None)
    return distinct, inverse, counts


def unique(self, sorted=True, return_inverse=False):
    """The same without counts."""
    return unique2(self, sorted, return_inverse)[:2]


# ---- one after the other -----------------------------------------------------------------------

def unique_consecutive(Tensor self not None, return_inverse=False, return_counts=False, dim=None):
    """Elements that differ from the one before, or slices along `dim`."""
    cdef Tensor distinct, inverse = nothing(), counts = nothing()
    cdef int64_t n
    self = new_steady(self)
    check_supported(self, DTYPES_FLOAT8 | DTYPES_ALL_COMPLEX, True)
    if dim is not None and not (self.c_ndim == 1 and dim == 0):      # -1 is a dimension like others to PyTorch, with all results
        return unique_dim_consecutive(self, dim, return_inverse, return_counts)
    n = self.c_numel
    if return_counts:
        counts = places(1, &n)
    if return_inverse:
        inverse = places(self.c_ndim, self.c_sizes)
    distinct = firsts(self.contiguous(), self.c_dtype, counts if return_counts else None, inverse if return_inverse else None)
    return distinct, inverse, counts


# ---- slices ------------------------------------------------------------------------------------

cdef tuple distinct_slices(Tensor self, dim, bint in_order):
    """Slices along `dim` that differ from the one before, in order or as they come; with the number of each, and lengths."""
    cdef Tensor front, out, inverse, counts
    cdef Numbers order = None, spare, starts, firsts
    cdef dispatch_slices s
    cdef dispatch_row_order differ = dispatch_row_test(self.c_dtype, False), compare = dispatch_row_test(self.c_dtype, True)
    cdef int64_t sizes[64]
    cdef int64_t n, width, size = itemsize_of(self), i, k, end
    cdef char* rows
    cdef int64_t* numbers
    self = new_steady(self)
    check_supported(self, DTYPES_FLOAT8 | DTYPES_ALL_COMPLEX, True)
    dim = wrap_dim(dim, self.c_ndim, False)
    front = ops.aten.movedim.int(self, dim, 0).contiguous()
    n = front.c_sizes[0]
    if 0 in front.shape[1:]:
        raise refused(f"self of shape {list(self.shape)} has no slices with elements")
    if differ == NULL:
        missing(self)
    width = front.c_numel // n if n else 0
    rows = data_of(front, size)
    starts = new_numbers(n + 1)
    if in_order:
        order, spare = new_numbers(n), new_numbers(n)
    kept = owners(front, front)
    with nogil:
        if in_order:
            dispatch_sort_rows(order.data, spare.data, n, rows, width * size, width, compare)
        starts.n = dispatch_find_row_runs(starts.data, order.data if in_order else NULL, n, rows, width * size, width, differ)
    for i in range(front.c_ndim):
        sizes[i] = front.c_sizes[i] if i else starts.n
    out, inverse = new_empty(self.c_dtype, DEV_CPU, -1, front.c_ndim, sizes, NULL), places(1, &n)
    counts, firsts = lengths(starts, n), new_numbers(starts.n)
    numbers = <int64_t*>data_of(inverse, 8)
    for k in range(starts.n):
        end = starts.data[k + 1] if k + 1 < starts.n else n
        for i in range(starts.data[k], end):
            numbers[order.data[i] if in_order else i] = k
        firsts.data[k] = (order.data[starts.data[k]] if in_order else starts.data[k]) * width * size
    s.reads = True
    set_rest(&s, front, out, 0)
    read_slices(&s, front, out, firsts)
    return ops.aten.movedim.int(out, 0, dim), inverse, counts


def unique_dim(Tensor self not None, dim, sorted=True, return_inverse=False, return_counts=False):
    """Distinct slices along `dim`, in order."""
    return distinct_slices(self, dim, True)


def unique_dim_consecutive(Tensor self not None, dim, return_inverse=False, return_counts=False):
    """Slices that differ from the one before."""
    return distinct_slices(self, dim, False)


# ---- counted -----------------------------------------------------------------------------------

def bincount(Tensor self not None, Tensor weights=None, int64_t minlength=0):
    """How often each number from 0 on occurs, or the sum of its weights."""
    cdef Tensor numbers, shares = None, out
    cdef int kind = ST_int64
    cdef int64_t n, length = minlength
    cdef int64_t most = -1, least = 0
    cdef const int64_t* at
    cdef char* to
    self, weights = new_steady(self), new_steady(weights)
    n = self.c_numel
    if minlength < 0:
        raise refused(f"minlength should be >= 0, got {minlength}")
    if self.c_ndim == 1 and n == 0:
        return ops.aten.zeros([minlength], dtype=dtypes.get_dtype(ST_int64), device=self.device)
    if not is_integral_code(self.c_dtype, False):
        missing(self)
    if self.c_ndim == 1:
        numbers = in_dtype(self, ST_int64).contiguous()
        at = <const int64_t*>data_of(numbers, 8)
        dispatch_extremes(at, n, &most, &least)
    if self.c_ndim != 1 or least < 0:
        raise refused(f"bincount only supports 1-d non-negative integral inputs, got {list(self.shape)} from {least}")
    if weights is not None:
        if list(weights.shape) != list(self.shape):
            raise refused(f"weights should be 1-d and have the same length as input, {list(self.shape)}, got {list(weights.shape)}")
        kind = ST_float32 if weights.c_dtype == ST_float32 else ST_float64
        shares = in_dtype(weights, kind).contiguous()
    length = max(most + 1, minlength)
    out = new_empty(kind, DEV_CPU, -1, 1, &length, NULL)
    fill_values(out, 0)
    to = data_of(out, itemsize_of(out))
    kept = owners(numbers, numbers if shares is None else shares)
    if kind == ST_int64:
        dispatch_count_ones(<int64_t*>to, length, at, NULL, n)
    elif kind == ST_float32:
        dispatch_count_f32(<float*>to, length, at, <const float*>data_of(shares, 4), n)
    else:
        dispatch_count_f64(<double*>to, length, at, <const double*>data_of(shares, 8), n)
    return out
