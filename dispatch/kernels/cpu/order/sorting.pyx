"""Bodies of sort and topk on the CPU: loops over rows (`order.h`).

Called by the structured kernels with outputs of the right size and dtype; `values` may be self.
"""
from libc.stdint cimport INT64_MIN, int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOAT8, DTYPES_RARE, ST_uint64, is_in, is_integral_code
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.along cimport row_of, row_step_fn, walk_along
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values

cdef extern from "order.h" nogil:
    ctypedef struct pair:
        pass
    ctypedef struct order_context:
        int64_t k, flip
        bint stable, in_order, ignore_nan
    enum:
        MANY
    const row_step_fn ORDER_STEPS[5][3]

cdef enum:
    SHORT_ROW = 16               # rows that a sort leaves in a stable order in any case
    LONG_LINE = 1 << 15          # so does one of so many integers in one dimension, upwards: byte by byte, as in PyTorch


cdef int order_rows(int op, Tensor values, Tensor indices, Tensor self, int64_t dim, int64_t k, bint backwards, bint stable,
                    bint in_order, bint ignore_nan) except -1:
    cdef order_context context
    cdef int64_t n = 1, each = (2 if stable else 1) * <int64_t>sizeof(pair)
    if self.c_ndim:
        n = self.c_sizes[dim]
    context.k, context.stable = k, stable
    context.flip = -1 if backwards else 0
    if self.c_dtype == ST_uint64:
        context.flip ^= INT64_MIN
    context.in_order, context.ignore_nan = in_order, ignore_nan
    if stable and MANY <= n < 1 << 32 and dtypes.itemsize_table()[self.c_dtype] <= 4:
        each //= 2                           # keys and places of 32 bits
    walk_along(ORDER_STEPS[op][row_of(self.c_dtype)], NULL, &context, dim, self, None, values, indices, None, each * n)
    return 0


cdef int write_one(Tensor values, Tensor indices, Tensor self) except -1:
    copy_values(values, self)
    return fill_values(indices, 0)


cdef int sort(Tensor values, Tensor indices, Tensor self, object stable, int64_t dim, bint descending,
              const int64_t* handed) except -1:
    """self sorted along `dim`, and where each element was."""
    cdef int64_t n
    cdef bint by_bytes
    if self.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        return write_one(values, indices, self)
    n = self.c_sizes[handed[0]]
    if is_in(DTYPES_FLOAT8, self.c_dtype):
        if n > 1:
            raise unserved(dtypes.get_dtype(self.c_dtype))
        return write_one(values, indices, self)
    by_bytes = n >= LONG_LINE and self.c_ndim == 1 and not descending and is_integral_code(self.c_dtype, False)
    return order_rows(SORT, values, indices, self, handed[0], 0, descending, bool(stable) or n <= SHORT_ROW or by_bytes, True,
                      False)


cdef int topk(Tensor values, Tensor indices, Tensor self, int64_t k, int64_t dim, bint largest, bint sorted,
              const int64_t* handed) except -1:
    """The `k` largest or smallest along `dim`, and where they were; not `sorted`, in any order."""
    if values.c_numel == 0:
        return 0
    if self.c_ndim == 0:
        return write_one(values, indices, self)
    if is_in(DTYPES_RARE, self.c_dtype):
        raise unserved(dtypes.get_dtype(self.c_dtype))
    return order_rows(TOPK, values, indices, self, handed[0], k, largest, False, sorted, False)
