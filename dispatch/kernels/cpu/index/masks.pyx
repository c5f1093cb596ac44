"""CPU bodies of reading and writing by masks, and of finding what is not 0: places of true elements, in C.

The structured ones get outputs of the right size and dtype; the others make their own, whose sizes are in the values.
"""
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C.dtypes cimport DEV_CPU, DTYPES_RARE, ST_bool, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.steady cimport new_steady, steady
from dispatch._C.tensor cimport Tensor, data_of, new_empty, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.copy.strided cimport LONG_RUN, dispatch_moves, itemsize_of, memory_meets, owners, set_moves
from dispatch.kernels.cpu.index.slices cimport (
    Numbers, check_supported, copy_unless_same, count_true, dispatch_slices, read_slices, true_places, write_slices,
)
from dispatch.kernels.meta.rules cimport broadcast_into

from dispatch._C.structured import check_written
from dispatch._ops import ops
from dispatch.kernels.meta.outputs import resize_out

cdef extern from "../kernels/cpu/index/loops.h" nogil:
    void dispatch_fill_where(dispatch_moves* m, char* to, const char* mask, int itemsize, const char* value) noexcept
    int64_t dispatch_true_coordinates(int64_t* to, int64_t room, const char* mask, int ndim, const int64_t* sizes) noexcept


cdef Tensor spread_over(Tensor t, int ndim, const int64_t* sizes):
    """The view that is broadcast to sizes."""
    cdef int64_t strides[64]
    cdef int d, lead = ndim - t.c_ndim
    for d in range(ndim):
        strides[d] = 0 if d < lead or t.c_sizes[d - lead] == 1 else t.c_strides[d - lead]
    return new_view(t, ndim, sizes, strides, t.c_offset)


# ---- filled ------------------------------------------------------------------------------------

cdef int fill(Tensor out, Tensor self, Tensor mask, object value) except -1:

    cdef Tensor one = new_empty(self.c_dtype, DEV_CPU, -1, 0, NULL, NULL)
    cdef dispatch_moves m
    cdef char* to
    cdef char* from_
    cdef int size = itemsize_of(self)
    fill_values(one, value)
    if out.c_numel == 0:
        return 0
    check_supported(self, DTYPES_RARE, False)
    if memory_meets(mask, out):
        mask = mask.clone()
    copy_unless_same(out, self)
    set_moves(&m, out, mask)
    to, from_ = data_of(out, size), data_of(mask, 1)
    if out.c_numel < LONG_RUN:
        dispatch_fill_where(&m, to, from_, size, one.c_storage.data)
        return 0
    kept = owners(out, mask)
    with nogil:
        dispatch_fill_where(&m, to, from_, size, one.c_storage.data)
    return 0


cdef int masked_fill(Tensor out, Tensor self, Tensor mask, Tensor value) except -1:
    """`value` where `mask` is true, else self."""
    return fill(out, self, mask, ops.aten._local_scalar_dense(value))


cdef int masked_fill_scalar(Tensor out, Tensor self, Tensor mask, object value) except -1:
    """The same with a number."""
    return fill(out, self, mask, value)


# ---- scattered and selected --------------------------------------------------------------------

cdef Numbers places_under(Tensor t, Tensor mask):
    """Places of t's elements where a mask of the same sizes is true."""
    cdef int64_t steps[64]
    cdef int d, size = itemsize_of(t)
    for d in range(t.c_ndim):
        steps[d] = t.c_strides[d] * size
    return true_places(mask, steps)


cdef int set_row(dispatch_slices* s, Tensor t, bint reads) except -1:
    """Element by element, beside a contiguous tensor."""
    s.outer.ndim, s.reads, s.dense, s.step = 0, reads, NULL, itemsize_of(t)
    return 0


cdef int masked_scatter(Tensor out, Tensor self, Tensor mask, Tensor source) except -1:
    """Elements of `source`, one after the other, where `mask` is true, else self."""
    cdef dispatch_slices s
    cdef Numbers places
    check_supported(self, DTYPES_RARE, True)
    places = places_under(out, spread_over(mask, out.c_ndim, out.c_sizes))
    if source.c_numel < places.n:
        raise refused(f"Number of elements of source < number of ones in mask: {source.c_numel} < {places.n}")
    copy_unless_same(out, self)
    set_row(&s, out, False)
    return write_slices(&s, out, source.contiguous(), places)


cdef object masked_select(Tensor self, Tensor mask):
    """The elements where the mask is true, in one dimension."""
    cdef dispatch_slices s
    cdef int64_t sizes[64]
    cdef int ndim
    cdef Numbers places
    cdef Tensor whole, out
    self, mask = steady(self), steady(mask)
    if mask.c_dtype != ST_bool:
        raise refused(f"expected BoolTensor for mask, got {mask.dtype}")
    ndim = broadcast_into(sizes, 0, self.c_sizes, self.c_ndim)
    ndim = broadcast_into(sizes, ndim, mask.c_sizes, mask.c_ndim)
    whole = spread_over(self, ndim, sizes)
    places = places_under(whole, spread_over(mask, ndim, sizes))
    out = new_empty(self.c_dtype, DEV_CPU, -1, 1, &places.n, NULL)
    set_row(&s, out, True)
    read_slices(&s, whole, out, places)
    return out


cdef object masked_select_out(Tensor self, Tensor mask, Tensor out):
    """The same into `out`."""
    if out.c_dtype != self.c_dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    check_written(out, self, mask)
    found = masked_select(self, mask)
    return ops.aten.copy_(resize_out(out, found.shape), found)


# ---- nonzero -----------------------------------------------------------------------------------

cdef Tensor truth_of(Tensor t):
    """A contiguous mask of what is not 0; the sign of a zero does not count."""
    cdef Tensor made
    if t.c_dtype == ST_bool and t.c_flags & TF_CONTIGUOUS:
        return t
    made = new_empty(ST_bool, DEV_CPU, -1, t.c_ndim, t.c_sizes, NULL)
    copy_values(made, t)
    return made


cdef object nonzero(Tensor self):
    """Indices of the elements that are not 0, one in each row; columns are contiguous."""
    cdef int64_t sizes[2]
    cdef int64_t strides[2]
    cdef int64_t found
    cdef Tensor mask, out
    cdef int64_t* to
    cdef char* p
    check_supported(self, DTYPES_RARE, False)
    self = new_steady(self)
    mask = truth_of(self)
    sizes[0], sizes[1] = count_true(mask), mask.c_ndim
    strides[0], strides[1] = 1, sizes[0]
    out = new_empty(ST_int64, DEV_CPU, -1, 2, sizes, strides)
    if out.c_numel == 0:
        return out
    to, p = <int64_t*>data_of(out, 8), data_of(mask, 1)
    kept = owners(mask, mask)
    with nogil:
        found = dispatch_true_coordinates(to, sizes[0], p, mask.c_ndim, mask.c_sizes)
    if found < sizes[0]:                                 # another thread made elements false on the way
        memset(to, 0, out.c_numel * 8)
    return out


cdef object nonzero_out(Tensor self, Tensor out):
    """The same into `out`."""
    if out.c_dtype != ST_int64:
        raise refused(f"nonzero: Expected out tensor to have scalar type Long, got {out.dtype}")
    result = nonzero(self)
    if tuple(out.shape) != tuple(result.shape):
        ops.aten.resize_(out, result.shape)
        ops.aten.as_strided_(out, result.shape, result.stride())
    ops.aten.copy_(out, result)
    return out
