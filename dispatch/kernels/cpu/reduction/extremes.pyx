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
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.reduction.fold cimport (
    ALL_DIMS, FOLD_ALL, FOLD_ANY, FOLD_ARGMAX, FOLD_ARGMIN, FOLD_MAX, FOLD_MIN, fold_into,
)
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.dense cimport pinned
from dispatch.kernels.cpu.threads cimport MAX_PARTS, in_spans, parts_for

cdef extern from "narrow.h" nogil:
    ctypedef void (*narrow_fn)(const void* given, void* made, int64_t outer, int64_t n, int64_t inner)
    ctypedef void (*narrow_both_fn)(const void* given, void* least, void* most, int64_t outer, int64_t n)
    narrow_fn narrow_extreme(bint largest, int code)
    narrow_both_fn narrow_extremes(int code)


cdef int check_ordered(Tensor self) except -1:
    if is_in(DTYPES_RARE | DTYPES_ALL_COMPLEX, self.c_dtype):
        raise unserved(dtypes.get_dtype(self.c_dtype))
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


cdef struct Narrow:
    narrow_fn f
    narrow_both_fn both          # instead of it, over the last dimensions
    const char* from_
    char* to
    char* most                   # of both
    int64_t outer, count, inner
    int item


cdef void narrow_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Narrow* j = <Narrow*>context
    cdef const char* from_ = j.from_ + first * j.count * j.inner * j.item
    if j.f != NULL:
        j.f(from_, j.to + first * j.inner * j.item, end - first, j.count, j.inner)
    else:
        j.both(from_, j.to + first * j.item, j.most + first * j.item, end - first, j.count)


cdef void narrow_piece(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Of the one row that there is, into a place of its own."""
    cdef Narrow j = (<Narrow*>context)[0]
    j.from_ += first * j.item
    j.to += part * j.item
    j.count = end - first
    narrow_rows(&j, 0, 0, 1)


cdef void run_narrow(Narrow* j) noexcept nogil:
    """Threads share the rows, or the only one."""
    cdef int64_t nbytes = 2 * j.outer * j.count * j.inner * j.item, parts
    cdef int64_t pieces[MAX_PARTS]
    cdef Narrow whole = j[0]
    if j.outer > 1 or j.inner > 1 or j.f == NULL:
        in_spans(narrow_rows, j, j.outer, parts_for(j.outer, nbytes))
        return
    parts = parts_for(j.count, nbytes)
    whole.to = <char*>pieces
    in_spans(narrow_piece, &whole, j.count, parts)
    j.f(pieces, j.to, 1, parts, 1)


cdef int narrow(Narrow* j, Tensor self, Tensor out, Tensor largest) except -1:
    cdef object kept = pinned(self.c_numel, self, out, largest)
    j.item = itemsize_table()[self.c_dtype]
    j.from_, j.to = data_of(self, j.item), data_of(out, j.item)
    j.most = NULL if largest is None else data_of(largest, j.item)
    if kept is None:
        narrow_rows(j, 0, 0, j.outer)
    else:
        with nogil:
            run_narrow(j)
    return 0


cdef bint try_narrow(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    """Narrow numbers without gaps, over dimensions that follow on each other, if the result lies in none that is still to be
    read. False: nothing was done."""
    cdef Narrow j
    j.f, j.both = narrow_extreme(op == FOLD_MAX, self.c_dtype), NULL
    if (j.f == NULL or n == 0 or self.c_numel == 0 or not self.c_flags & out.c_flags & TF_CONTIGUOUS
            or not in_one_block(self, dims, n, &j.outer, &j.count, &j.inner) or memory_meets(self, out)):
        return False
    narrow(&j, self, out, None)
    return True


cdef bint try_narrow_both(Tensor smallest, Tensor largest, Tensor self, const int64_t* dims, int n) except -1:
    """The same of both extremes, over the last dimensions."""
    cdef Narrow j
    j.f, j.both = NULL, narrow_extremes(self.c_dtype)
    if (j.both == NULL or n == 0 or self.c_numel == 0 or smallest.c_dtype != self.c_dtype or largest.c_dtype != self.c_dtype
            or not self.c_flags & smallest.c_flags & largest.c_flags & TF_CONTIGUOUS
            or not in_one_block(self, dims, n, &j.outer, &j.count, &j.inner) or j.inner != 1
            or memory_meets(self, smallest) or memory_meets(self, largest)):
        return False
    narrow(&j, self, smallest, largest)
    return True


cdef int extremum(int op, Tensor out, Tensor self, const int64_t* dims, int n) except -1:
    """Into an output of self's dtype or of one that holds its values."""
    cdef Tensor target = out
    if out.c_numel == 0:
        return 0
    check_ordered(self)
    if self.c_dtype == ST_bool:
        op = FOLD_ANY if op == FOLD_MAX else FOLD_ALL
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
