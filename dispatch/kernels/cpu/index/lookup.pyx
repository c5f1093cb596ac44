"""CPU bodies of reading and writing by index along a dimension, or as in one dimension, and of searching: loops in C.

The structured ones (take, index_add, index_copy, index_reduce, searchsorted, bucketize) get outputs of the right size and dtype;
the others check and write self.
"""
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_ALL_COMPLEX, DTYPES_BOOL, DTYPES_RARE, DTYPES_WIDE_UNSIGNED, MF_contiguous, ST_complex32, ST_int64,
    is_in, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of, new_empty, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.copy.strided cimport itemsize_of, memory_meets, owners
from dispatch.kernels.cpu.dense cimport dense, target
from dispatch.kernels.cpu.index.scatter cimport identity, in_dtype, wide_code
from dispatch.kernels.cpu.index.slices cimport (
    ADD, MAX, MIN, MUL, Numbers, Reduction, add_wide_slices, check_numbers, check_supported, copy_unless_same, dispatch_slices,
    flat_places, places_of, read_numbers, reduce_slices, set_rest, take_places, write_slices,
)
from dispatch.kernels.cpu.threads cimport in_spans, parts_for
from dispatch.kernels.meta cimport rules

from dispatch._C.structured import advise_shared, check_read, check_written
from dispatch._ops import ops
from dispatch.kernels.meta.index import lookup as meta

__all__ = [
    "bucketize_scalar",
    "bucketize_tensor",
    "index_add",
    "index_copy",
    "index_fill_scalar",
    "index_fill_tensor",
    "index_reduce",
    "nonzero_static",
    "put_",
    "searchsorted_scalar",
    "searchsorted_tensor",
    "take",
]

cdef extern from "../kernels/cpu/index/loops.h" nogil:
    ctypedef void (*dispatch_search)(int64_t* to, const char* sorted, const int64_t* order, int64_t size, const char* values,
                                     int64_t n, int right) noexcept nogil
    dispatch_search dispatch_searcher(int code) noexcept


# ---- elements counted as in one dimension ------------------------------------------------------

def take(Tensor out not None, Tensor self not None, Tensor index not None):
    """Elements, negative indices counted from the end."""
    cdef Tensor row = target(out, out.c_dtype, MF_contiguous)
    take_places(row, self, dense(index, ST_int64, MF_contiguous))
    copy_unless_same(out, row)


def put_(Tensor self not None, Tensor index not None, Tensor source not None, bint accumulate=False):
    """Elements written, or added to."""
    cdef dispatch_slices s
    cdef Numbers places
    cdef Tensor written = self
    meta.check_put(self, index, source)
    check_written(self, index, source)
    places = flat_places(self, index)
    if accumulate:
        if places.n:
            check_supported(self, DTYPES_RARE, True)
        written = in_dtype(self, wide_code(self.c_dtype))
        source = in_dtype(source, written.c_dtype)
        if written is not self:
            places = flat_places(written, index)
    if places.n == 0:
        return self
    source = source.clone() if memory_meets(source, self) else source
    source = source.contiguous()
    s.outer.ndim, s.reads, s.dense, s.step = 0, False, NULL, itemsize_of(source)
    if accumulate:
        reduce_slices(&s, written, source, places, ADD)
    else:
        write_slices(&s, written, source, places)
    copy_unless_same(self, written)
    return self


# ---- slices along a dimension ------------------------------------------------------------------

cdef Numbers along(Tensor self, int64_t dim, Tensor index, bint negative, object error=IndexError):
    """Places of slices along `dim`, which is wrapped. `error`: out of range."""
    cdef int64_t size = self.c_sizes[dim] if self.c_ndim else 1
    cdef int64_t step = self.c_strides[dim] * itemsize_of(self) if self.c_ndim else 0
    return places_of(index, -size if negative else 0, size, step, error)


cdef Tensor everywhere(Tensor one, Tensor like):
    """One number in all elements of something of like's sizes."""
    cdef int64_t zeros[64]
    cdef int d
    for d in range(like.c_ndim):
        zeros[d] = 0
    return new_view(one, like.c_ndim, like.c_sizes, zeros, 0)


cdef Tensor number(object value, int code):
    cdef Tensor t = new_empty(code, DEV_CPU, -1, 0, NULL, NULL)
    fill_values(t, value)
    return t


def index_add(Tensor out not None, Tensor self not None, int64_t dim, Tensor index not None, Tensor source not None, alpha):
    """Slices of source times alpha added; an index may occur again."""
    cdef dispatch_slices s
    cdef Numbers places
    cdef int wide = wide_code(self.c_dtype)
    dim = rules.wrap_dim(dim, self.c_ndim, True)
    if isinstance(alpha, float) and is_integral_code(self.c_dtype, True):
        if not isfinite(<double>alpha):
            raise refused(f"alpha {alpha} is no integer, as those of self are")
        alpha = int(alpha) if is_integral_code(self.c_dtype, False) else alpha != 0
    outer = self.c_ndim > 1 and (dim == 0 or dim == self.c_ndim - 1)     # PyTorch's scatter_add serves these
    places = along(out, dim, index, False, RuntimeError if outer else IndexError)
    if index.c_numel:
        check_supported(self, DTYPES_RARE, True)
    if memory_meets(source, out):
        source = source.clone()
    if alpha != 1 and index.c_numel:
        source = ops.aten.mul(in_dtype(source, wide), alpha)
        source = in_dtype(source, wide)
    copy_unless_same(out, self)
    s.reads = False
    set_rest(&s, out, source, <int>dim)
    if source.c_dtype != out.c_dtype:
        add_wide_slices(&s, out, source, places)
    elif places.n:
        reduce_slices(&s, out, source, places, ADD)


def index_copy(Tensor out not None, Tensor self not None, int64_t dim, Tensor index not None, Tensor source not None,
               int64_t wrapped):
    """Slices of source written."""
    cdef dispatch_slices s
    cdef Numbers places
    dim = wrapped
    places = along(out, dim, index, False)
    check_supported(self, DTYPES_RARE | DTYPES_WIDE_UNSIGNED, False)
    if memory_meets(source, out):
        source = source.clone()
    copy_unless_same(out, self)
    s.reads = False
    set_rest(&s, out, source, <int>dim)
    write_slices(&s, out, source, places)


cdef int fill_slices(Tensor self, int64_t dim, object value, Numbers places) except -1:
    cdef dispatch_slices s
    cdef Tensor filled = everywhere(number(value, self.c_dtype), self)
    s.reads = False
    set_rest(&s, self, filled, <int>dim)
    return write_slices(&s, self, filled, places)


def index_fill_scalar(Tensor self not None, int64_t dim, Tensor index not None, value):
    """Slices filled with a number; negative indices count from the end."""
    cdef Numbers places
    advise_shared(self, "index_fill_")
    check_read(self, index)
    dim = meta.check_fill(self, dim, index, value)
    places = along(self, dim, index, True)
    check_supported(self, DTYPES_RARE | DTYPES_WIDE_UNSIGNED, False)
    if places.n and self.c_numel:
        fill_slices(self, dim, value, places)
    return self


def index_fill_tensor(Tensor self not None, int64_t dim, Tensor index not None, value):
    """The same with the number in a tensor."""
    meta.check_fill(self, dim, index, value)
    return index_fill_scalar(self, dim, index, value.item())


cdef unsigned long long refused_by(str reduce, bint include_self):
    """Complex numbers have no order; neither they nor truth values can be left out of what is reduced."""
    if not include_self:
        return DTYPES_ALL_COMPLEX | DTYPES_BOOL
    return DTYPES_BOOL if reduce == "mean" else 0 if reduce == "prod" else DTYPES_ALL_COMPLEX


def index_reduce(Tensor out not None, Tensor self not None, int64_t dim, Tensor index not None, Tensor source not None, str reduce,
                 bint include_self, int64_t wrapped):
    """Slices reduced with those of source that `index` sends there, each result rounded; means, then, by how many there are."""
    cdef dispatch_slices s
    cdef Numbers places
    cdef Reduction op = ADD if reduce == "mean" else MUL if reduce == "prod" else MAX if reduce == "amax" else MIN
    cdef Tensor counts
    dim = wrapped
    places = along(out, dim, index, False)
    if index.c_numel:
        check_supported(self, DTYPES_RARE | refused_by(reduce, include_self), True)
    if memory_meets(source, out):
        source = source.clone()
    copy_unless_same(out, self)
    if places.n == 0:
        return
    if not include_self:
        fill_slices(out, dim, identity(reduce, self.c_dtype), places)
    s.reads = False
    set_rest(&s, out, source, <int>dim)
    reduce_slices(&s, out, source, places, op)
    if reduce == "mean":
        counts = new_empty(self.c_dtype, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)
        fill_values(counts, 1 if include_self else 0)
        places = along(counts, dim, index, False)
        one = everywhere(number(1, self.c_dtype), source)
        s.reads = False
        set_rest(&s, counts, one, <int>dim)
        reduce_slices(&s, counts, one, places, ADD)
        ops.aten.masked_fill_(counts, ops.aten.eq(counts, 0), 1)
        if is_integral_code(self.c_dtype, False):
            ops.aten.floor_divide_(out, counts)
        else:
            ops.aten.div_(out, counts)


# ---- places ------------------------------------------------------------------------------------

def nonzero_static(Tensor out not None, Tensor self not None, int64_t size, int64_t fill_value):
    """The first `size` places of what is not 0, one in each row; rows that are left over are filled."""
    cdef Tensor found = ops.aten.nonzero(self)
    cdef int64_t n = min(size, found.c_sizes[0])
    ops.aten.fill_(out, fill_value)
    ops.aten.copy_(ops.aten.narrow(out, 0, 0, n), ops.aten.narrow(found, 0, 0, n))


cdef Tensor as_rows(Tensor t, int code):
    """Contiguous, in a dtype."""
    return in_dtype(t, code).contiguous()


cdef enum:
    SEARCH_WORK = 64             # a value takes as long as copying so many bytes

cdef struct Search:
    dispatch_search search
    int64_t* to
    const char* edges
    const int64_t* sorts         # where the edges are, in their order; NULL: they lie in it
    const char* values
    int64_t size, n, step        # edges of a row, values of a row, bytes of each
    bint right


cdef void search_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Search* s = <Search*>context
    cdef const int64_t* sorts = NULL
    cdef int64_t row, count
    while first < end:
        row = first // s.n
        count = min(end, (row + 1) * s.n) - first
        if s.sorts != NULL:
            sorts = s.sorts + row * s.size
        s.search(s.to + first, s.edges + row * s.size * s.step, sorts, s.size, s.values + first * s.step, count, s.right)
        first += count


def searchsorted_tensor(Tensor out not None, Tensor sorted_sequence not None, Tensor self not None, out_int32, bint right, side,
                        Tensor sorter or None):
    """Where the values would be put in, row by row; what differs in dtype is compared in the promoted one."""
    cdef Search s
    cdef Tensor found, edges, values
    cdef int code = sorted_sequence.c_dtype
    cdef Numbers order = None
    if out.c_numel == 0:
        return
    if self.c_dtype != code:
        code = ops.aten.result_type.Tensor(sorted_sequence, self)
    s.search = dispatch_searcher(code)
    if s.search == NULL or is_in(DTYPES_RARE | DTYPES_BOOL | DTYPES_ALL_COMPLEX, code) or code == ST_complex32:
        raise unserved(dtypes.get_dtype(code))
    s.right = right or side == "right"
    edges, values = as_rows(sorted_sequence, code), as_rows(self, code)
    s.size, s.step = edges.c_sizes[edges.c_ndim - 1], itemsize_of(edges)
    if sorter is not None:
        order = read_numbers(sorter, sorter.c_ndim, sorter.c_sizes)
        try:
            check_numbers(order, 0, s.size, RuntimeError)
        except RuntimeError as e:
            raise refused(f"sorter index out of range: {e}") from None
    found = new_empty(ST_int64, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)
    s.n = values.c_numel // (1 if edges.c_ndim == 1 or not s.size else edges.c_numel // s.size)
    s.to, s.edges, s.values = <int64_t*>data_of(found, 8), data_of(edges, <int>s.step), data_of(values, <int>s.step)
    s.sorts = order.data if order is not None else NULL
    kept = owners(edges, values)
    with nogil:
        in_spans(search_span, &s, values.c_numel, parts_for(values.c_numel, SEARCH_WORK * values.c_numel))
    copy_values(out, found)


def searchsorted_scalar(out, sorted_sequence, self, out_int32, right, side, sorter):
    """The same for a number: integers are compared with a float as floats."""
    kind = ops.aten.result_type.Scalar(sorted_sequence, self)
    edges = ops.aten._to_copy(sorted_sequence, dtype=kind) if kind is not sorted_sequence.dtype else sorted_sequence
    searchsorted_tensor(out, edges, ops.aten.full([], self, dtype=kind), out_int32, right, side, sorter)


def bucketize_tensor(out, self, boundaries, out_int32, right):
    """The bucket of each value."""
    searchsorted_tensor(out, boundaries, self, out_int32, right, None, None)


def bucketize_scalar(out, self, boundaries, out_int32, right):
    """The bucket of a number."""
    searchsorted_scalar(out, boundaries, self, out_int32, right, None, None)
