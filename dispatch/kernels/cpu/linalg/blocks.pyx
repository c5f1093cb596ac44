"""Batches of matrices as LAPACK wants them (see the `.pxd`): tensors made and copied without numpy.

Invariant: the tensor of a block has its matrices one after the other, without gaps; sizes fit in an
int. No size is 0 but of what nobody computes with.
"""
cimport cython
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, MF_contiguous, ST_complex64, ST_complex128, ST_float32, ST_float64, ST_int32, itemsize_table,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, data_of, new_empty, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.dense cimport dense, target
from dispatch.kernels.meta cimport rules

cdef enum:
    MAX_DIMS = 64

cdef uint64_t BITS = (KS_Conjugate | KS_Negative) & ~<uint64_t>0xFFFF


@cython.final
@cython.freelist(8)
cdef class Block:
    pass


cdef int kind_of(int code) noexcept nogil:
    if code == ST_float32:
        return SINGLE
    if code == ST_float64:
        return DOUBLE
    return COMPLEX if code == ST_complex64 else ZOMPLEX if code == ST_complex128 else -1


cdef int check_kind(Tensor t) except -1:
    cdef int kind = kind_of(t.c_dtype)
    if kind < 0:
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return kind


cdef size_t width(int kind) noexcept nogil:
    return 4 << (kind & 1) << (kind >> 1)


cdef Block block(Tensor t, int64_t rows, int64_t columns):
    cdef Block b = Block.__new__(Block)
    cdef size_t item = itemsize_table()[t.c_dtype]
    if rows > INT_MAX or columns > INT_MAX:
        raise refused(f"matrices of {rows} and {columns} are larger than LAPACK counts")
    b.t = t
    b.owner = shared_owner(t.c_storage)
    b.data = data_of(t, <int>item)
    b.rows, b.columns = <int>rows, <int>columns
    b.step = item * <size_t>(rows * columns)
    b.kind = kind_of(t.c_dtype)
    b.count = t.c_numel // (rows * columns) if rows and columns else 0
    return b


cdef void set_columns(int64_t* strides, const int64_t* sizes, int ndim) noexcept:
    rules.contiguous_strides(strides, sizes, ndim)
    strides[ndim - 2] = 1
    strides[ndim - 1] = sizes[ndim - 2] if sizes[ndim - 2] > 1 else 1


cdef bint has_columns(Tensor t) noexcept:
    """Whether its matrices lie one after the other, column after column."""
    cdef int64_t strides[MAX_DIMS]
    cdef int d
    set_columns(strides, t.c_sizes, t.c_ndim)
    for d in range(t.c_ndim):
        if t.c_sizes[d] > 1 and t.c_strides[d] != strides[d]:
            return False
    return True


cdef Tensor expanded(Tensor t, const int64_t* sizes, int ndim):
    cdef int64_t strides[MAX_DIMS]
    cdef int d, lead = ndim - t.c_ndim
    if lead == 0 and memcmp(sizes, t.c_sizes, ndim * sizeof(int64_t)) == 0:
        return t
    for d in range(ndim):
        strides[d] = 0 if d < lead or t.c_sizes[d - lead] != sizes[d] else t.c_strides[d - lead]
    return new_view(t, ndim, sizes, strides, t.c_offset)


cdef Tensor wide(Tensor t, const int64_t* sizes, int ndim):
    return t if sizes == NULL else expanded(t, sizes, ndim)


cdef Tensor by_columns(int code, const int64_t* sizes, int ndim):
    cdef int64_t strides[MAX_DIMS]
    set_columns(strides, sizes, ndim)
    return new_empty(code, DEV_CPU, -1, ndim, sizes, strides)


cdef inline Block of_columns(Tensor t):
    return block(t, t.c_sizes[t.c_ndim - 2], t.c_sizes[t.c_ndim - 1])


cdef inline Block of_rows(Tensor t):
    return block(t, t.c_sizes[t.c_ndim - 1], t.c_sizes[t.c_ndim - 2])


cdef Block blocks(Tensor t, const int64_t* sizes=NULL, int ndim=0):
    cdef Tensor made
    t = wide(t, sizes, ndim)
    made = by_columns(t.c_dtype, t.c_sizes, t.c_ndim)
    copy_values(made, t)
    return of_columns(made)


cdef Block rows(Tensor t, const int64_t* sizes=NULL, int ndim=0):
    cdef Tensor made
    t = wide(t, sizes, ndim)
    made = new_empty(t.c_dtype, DEV_CPU, -1, t.c_ndim, t.c_sizes, NULL)
    copy_values(made, t)
    return of_rows(made)


cdef Block read(Tensor t, const int64_t* sizes=NULL, int ndim=0):
    t = wide(t, sizes, ndim)
    return of_columns(t) if not t.c_keys & BITS and has_columns(t) else blocks(t)


cdef Block try_rows(Tensor t, const int64_t* sizes, int ndim):
    t = wide(t, sizes, ndim)
    return of_rows(t) if t.c_flags & TF_CONTIGUOUS and not t.c_keys & BITS else None


cdef Block work(Tensor out, Tensor source):
    source = expanded(source, out.c_sizes, out.c_ndim)
    if out.c_dtype != source.c_dtype or not has_columns(out) or memory_meets(out, source):
        return blocks(source)
    copy_values(out, source)
    return of_columns(out)


cdef Block blank(Tensor out, int code):
    if out.c_dtype == code and has_columns(out):
        return of_columns(out)
    return of_columns(by_columns(code, out.c_sizes, out.c_ndim))


cdef Block numbers(Tensor out, int code):
    return block(target(out, code, MF_contiguous), 1, 1)


cdef Block vectors(Tensor out, int code):
    return block(target(out, code, MF_contiguous), out.c_sizes[out.c_ndim - 1], 1)


cdef Block read_vectors(Tensor t, int code, const int64_t* sizes=NULL, int ndim=0):
    t = wide(t, sizes, ndim)
    return block(dense(t, code, MF_contiguous), t.c_sizes[t.c_ndim - 1], 1)


cdef Block info_of(Tensor info):
    cdef Block b = numbers(info, ST_int32)
    if b.count:
        memset(b.data, 0, b.count * b.step)
    return b


cdef Block new_info(Tensor t):
    return info_of(new_empty(ST_int32, DEV_CPU, -1, t.c_ndim - 2, t.c_sizes, NULL))


cdef Block new_block(int code, Py_ssize_t count, int rows, int columns):
    cdef int64_t[3] sizes
    sizes[0], sizes[1], sizes[2] = count, columns, rows
    return block(new_empty(code, DEV_CPU, -1, 3, sizes, NULL), rows, columns)


cdef int finish(Tensor out, Block b) except -1:
    return 0 if b.t is out else copy_values(out, b.t)


# ---- views -------------------------------------------------------------------------------------

cdef Tensor transposed(Tensor t):
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef int n = t.c_ndim
    memcpy(sizes, t.c_sizes, n * sizeof(int64_t))
    memcpy(strides, t.c_strides, n * sizeof(int64_t))
    sizes[n - 1], sizes[n - 2] = sizes[n - 2], sizes[n - 1]
    strides[n - 1], strides[n - 2] = strides[n - 2], strides[n - 1]
    return new_view(t, n, sizes, strides, t.c_offset)


cdef Tensor as_columns(Tensor t):
    cdef int64_t sizes[MAX_DIMS + 1]
    cdef int64_t strides[MAX_DIMS + 1]
    cdef int n = t.c_ndim
    memcpy(sizes, t.c_sizes, n * sizeof(int64_t))
    memcpy(strides, t.c_strides, n * sizeof(int64_t))
    sizes[n] = strides[n] = 1
    return new_view(t, n + 1, sizes, strides, t.c_offset)
