"""Bodies of sort and topk on the CPU, and orders of rows for others."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef extern from "order/order_ops.h" nogil:
    enum:                        # order_op
        SORT, TOPK, KTHVALUE, MEDIAN, MODE

cdef int sort(Tensor values, Tensor indices, Tensor self, object stable, int64_t dim, bint descending,
              const int64_t* handed) except -1
cdef int topk(Tensor values, Tensor indices, Tensor self, int64_t k, int64_t dim, bint largest, bint sorted,
              const int64_t* handed) except -1
# The rows of self along `dim` (wrapped), which have elements, into values and places. NotImplementedError: a dtype has no order.
cdef int order_rows(int op, Tensor values, Tensor indices, Tensor self, int64_t dim, int64_t k, bint backwards, bint stable,
                    bint in_order, bint ignore_nan) except -1
