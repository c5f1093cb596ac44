"""Bodies of extremes and their places on the CPU.

Called by the structured kernels with outputs of the right sizes. NaN is the largest and the
smallest; of equal elements the first one's place counts. Where PyTorch puts an identity into the
output before it reads, an output that is self holds just that.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.dtypes import iinfo

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_ALL_COMPLEX, DTYPES_RARE, ST_bool, is_floating_code, is_in, itemsize_table,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.reduction.fold cimport (
    ALL_DIMS, FOLD_ARGMAX, FOLD_ARGMIN, FOLD_MAX, FOLD_MIN, fold_into,
)
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.dense cimport pinned

cdef extern from "narrow.h" nogil:
    ctypedef void (*narrow_fn)(const void* given, void* made, int64_t outer, int64_t n, int64_t inner)
    ctypedef void (*narrow_both_fn)(const void* given, void* least, void* most, int64_t outer, int64_t n)
    narrow_fn narrow_extreme(bint largest, int code)
    narrow_both_fn narrow_extremes(int code)


cdef int check_ordered(Tensor self) except -1:
    if is_in(DTYPES_RARE | DTYPES_ALL_COMPLEX, self.c_dtype):
        raise refused(f"no CPU kernel for {dtypes.get_dtype(self.c_dtype)!r}", NotImplementedError)
    return 0


cdef bint in_one_block(Tensor self, const int64_t* dims, int n, int64_t* outer, int64_t* count, int64_t* inner) noexcept:
    """Whether the dimensions follow on each other, those of size 1 aside: the elements before, in and behind them."""
    cdef uint64_t gone = 0
    cdef bint has_ended = False
    cdef int d
    outer[0] = count[0] = inner[0] = 1
    for d in range(n):
        gone |= <uint64_t>1 << dims[d]
    if n == ALL_DIMS:
        gone = ~<uint64_t>0
    for d in range(self.c_ndim):
        if self.c_sizes[d] == 1:
            continue
        if gone >> d & 1:
            if has_ended:
                return False
            outer[0], inner[0] = outer[0] * inner[0], 1
            count[0] *= self.c_sizes[d]
        else:
            has_ended = count[0] != 1
            inner[0] *= self.c_sizes[d]
    return True


cdef bint try_narrow(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    """Narrow numbers without gaps, over dimensions that follow on each other, if the result lies in none that is still to be
    read. False: nothing was done."""
    cdef narrow_fn f = narrow_extreme(op == FOLD_MAX, self.c_dtype)
    cdef int64_t outer, count, inner
    cdef int item = itemsize_table()[self.c_dtype]
    if (f == NULL or n == 0 or self.c_numel == 0 or not self.c_flags & out.c_flags & TF_CONTIGUOUS
            or not in_one_block(self, dims, n, &outer, &count, &inner) or memory_meets(self, out)):
        return False
    cdef object kept = pinned(self.c_numel, self, out)
    cdef char* from_ = data_of(self, item)
    cdef char* to = data_of(out, item)
    if kept is None:
        f(from_, to, outer, count, inner)
        return True
    with nogil:
        f(from_, to, outer, count, inner)
    return True


cdef bint try_narrow_both(Tensor smallest, Tensor largest, Tensor self, const int64_t* dims, int n) except -1:
    """The same of both extremes, over the last dimensions."""
    cdef narrow_both_fn f = narrow_extremes(self.c_dtype)
    cdef int64_t outer, count, inner
    cdef int item = itemsize_table()[self.c_dtype]
    if (f == NULL or n == 0 or self.c_numel == 0 or smallest.c_dtype != self.c_dtype or largest.c_dtype != self.c_dtype
            or not self.c_flags & smallest.c_flags & largest.c_flags & TF_CONTIGUOUS
            or not in_one_block(self, dims, n, &outer, &count, &inner) or inner != 1
            or memory_meets(self, smallest) or memory_meets(self, largest)):
        return False
    cdef object kept = pinned(self.c_numel, self, smallest, largest)
    cdef char* from_ = data_of(self, item)
    cdef char* least = data_of(smallest, item)
    cdef char* most = data_of(largest, item)
    if kept is None:
        f(from_, least, most, outer, count)
        return True
    with nogil:
        f(from_, least, most, outer, count)
    return True


cdef int extremum(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    """Into an output of self's dtype or of one that holds its values."""
    cdef Tensor target = out
    if out.c_numel == 0:
        return 0
    check_ordered(self)
    if out.c_dtype != self.c_dtype:
        target = new_empty(self.c_dtype, 0, -1, out.c_ndim, out.c_sizes, NULL)
    if not try_narrow(op, target, self, dims, n):
        fold_into(op, target, None, self, dims, n, 0)
    if target is not out:
        copy_values(out, target)
    return 0


cdef object limit_of(int code, bint largest):
    """The largest or the smallest value of an ordered dtype."""
    if code == ST_bool:
        return largest
    if is_floating_code(code):
        return float("inf") if largest else float("-inf")
    info = iinfo(dtypes.get_dtype(code))
    return info.max if largest else info.min


cdef int over_dims(int op, Tensor out, Tensor self, const int64_t* handed) except -1:
    if out.c_dtype != self.c_dtype:
        raise refused(f"expected out to have dtype {dtypes.get_dtype(self.c_dtype)!r}, got "
                      f"{dtypes.get_dtype(out.c_dtype)!r}")
    if out is self:
        return fill_values(out, limit_of(out.c_dtype, op == FOLD_MIN))
    return extremum(op, out, self, &handed[1], <int>handed[0])


cdef int amax(Tensor out, Tensor self, IntArray dim, bint keepdim, const int64_t* handed) except -1:
    return over_dims(FOLD_MAX, out, self, handed)


cdef int amin(Tensor out, Tensor self, IntArray dim, bint keepdim, const int64_t* handed) except -1:
    return over_dims(FOLD_MIN, out, self, handed)


cdef int max(Tensor out, Tensor self) except -1:
    return extremum(FOLD_MAX, out, self, NULL, ALL_DIMS)


cdef int min(Tensor out, Tensor self) except -1:
    return extremum(FOLD_MIN, out, self, NULL, ALL_DIMS)


cdef int aminmax(Tensor smallest, Tensor largest, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1:
    check_ordered(self)
    if try_narrow_both(smallest, largest, self, &handed[1], <int>handed[0]):
        return 0
    extremum(FOLD_MIN, smallest, self, &handed[1], <int>handed[0])
    return extremum(FOLD_MAX, largest, self, &handed[1], <int>handed[0])


# ---- places --------------------------------------------------------------------------------------

cdef int find(int op, Tensor values, Tensor indices, Tensor self, const int64_t* dims, int n) except -1:
    """`values`: None, or of self's dtype."""
    if is_in(DTYPES_RARE, self.c_dtype):
        check_ordered(self)
    return fold_into(op, values, indices, self, dims, n, 0)


cdef int place_of(int op, Tensor out, Tensor self, const int64_t* handed) except -1:
    """Along one dimension, or in self laid flat."""
    if out.c_numel == 0:
        return 0
    if handed[0] == 1 and self.c_sizes[handed[1]] == 1:
        return fill_values(out, 0)
    return find(op, None, out, self, &handed[1], <int>handed[0])


cdef int argmax(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1:
    return place_of(FOLD_ARGMAX, out, self, handed)


cdef int argmin(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1:
    return place_of(FOLD_ARGMIN, out, self, handed)


cdef int along_dim(int op, Tensor values, Tensor indices, Tensor self, const int64_t* handed) except -1:
    if values.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        copy_values(values, self)
        return fill_values(indices, 0)
    return find(op, values, indices, self, &handed[1], 1)


cdef int max_dim(Tensor values, Tensor indices, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1:
    return along_dim(FOLD_ARGMAX, values, indices, self, handed)


cdef int min_dim(Tensor values, Tensor indices, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1:
    return along_dim(FOLD_ARGMIN, values, indices, self, handed)
