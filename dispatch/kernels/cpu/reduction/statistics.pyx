"""CPU bodies of order statistics: loops over rows of `order.h`. NaN is larger than every number."""
from libc.stdint cimport int64_t

from dispatch._C.dtypes import iinfo

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_ALL_COMPLEX, DTYPES_RARE, ST_bool, ST_int64, is_floating_code, is_in
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.order.sorting cimport KTHVALUE, MEDIAN, MODE, order_rows
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.reduction import statistics as meta


cdef int check_ordered(Tensor self, bint with_bool) except -1:
    if is_in(DTYPES_RARE | DTYPES_ALL_COMPLEX, self.c_dtype) or not with_bool and self.c_dtype == ST_bool:
        raise unserved(dtypes.get_dtype(self.c_dtype))
    return 0


cdef Tensor flat(Tensor self):
    cdef int64_t size = self.c_numel
    cdef Tensor copy = new_empty(self.c_dtype, 0, -1, self.c_ndim, self.c_sizes, NULL)
    copy_values(copy, self)
    return copy.view(size)


cdef Tensor median_of(Tensor self, bint ignore_nan):
    cdef Tensor out = meta.median(self), place
    if self.c_numel == 0:
        if is_floating_code(self.c_dtype) or self.c_dtype == ST_bool:
            fill_values(out, True if self.c_dtype == ST_bool else float("nan"))
        else:
            fill_values(out, iinfo(dtypes.get_dtype(self.c_dtype)).min)
        return out
    check_ordered(self, False)
    place = new_empty(ST_int64, 0, -1, 0, NULL, NULL)
    order_rows(MEDIAN, out, place, flat(self), 0, 0, False, False, False, ignore_nan)
    return out


def median(Tensor self not None):
    """The lower median of all elements; NaN if there is one."""
    return median_of(self, False)


def nanmedian(Tensor self not None):
    """The same without NaN."""
    return median_of(self, True)


def median_dim(Tensor values not None, Tensor indices not None, Tensor self not None, int64_t dim, bint keepdim, int64_t wrapped):
    """The lower median; NaN if there is one."""
    if indices.c_numel:
        check_ordered(self, False)
        order_rows(MEDIAN, values, indices, self, wrapped, 0, False, False, False, False)


def nanmedian_dim(Tensor values not None, Tensor indices not None, Tensor self not None, int64_t dim, bint keepdim,
                  int64_t wrapped):
    """The lower median of the numbers."""
    if indices.c_numel:
        check_ordered(self, False)
        order_rows(MEDIAN, values, indices, self, wrapped, 0, False, False, False, True)


def kthvalue(Tensor values not None, Tensor indices not None, Tensor self not None, int64_t k, int64_t dim, bint keepdim,
             int64_t wrapped):
    """The k-th smallest."""
    if self.c_ndim:
        check_ordered(self, False)
    if not indices.c_numel:
        return
    if self.c_ndim == 0:
        copy_values(values, self)
        fill_values(indices, 0)
    else:
        order_rows(KTHVALUE, values, indices, self, wrapped, k, False, False, False, False)


def mode(Tensor self not None, int64_t dim=-1, bint keepdim=False):
    """The most frequent element, the smallest of equals, and the last place of it."""
    values, indices = meta.mode(self, dim, keepdim)
    check_ordered(self, True)
    if (<Tensor>indices).c_numel:
        order_rows(MODE, values, indices, self, rules.wrap_dim(dim, self.c_ndim, True), 0, False, True, False, False)
    return values, indices
