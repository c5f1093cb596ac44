"""Copies made of others: `to`, `_to_copy`, `contiguous`, and what reads one value."""
from dispatch._C.tensor cimport Tensor

cdef object _to_copy(Tensor self, int dtype, int layout, object device, object pin_memory,
                     bint non_blocking, int memory_format)
cdef object contiguous(Tensor self, int memory_format)
cdef object copy(Tensor self, Tensor src, bint non_blocking)
cdef object copy_(Tensor self, Tensor src, bint non_blocking)
cdef object fill(Tensor self, object value)
cdef object fill_tensor(Tensor self, Tensor value)
cdef object is_nonzero(Tensor self)
cdef object item(Tensor self)
cdef object lift(Tensor self)
cdef object lift_fresh(Tensor self)
cdef object lift_fresh_copy(Tensor self)
cdef object to_device(Tensor self, object device, int dtype, bint non_blocking, bint copy,
                      int memory_format)
cdef object to_dtype(Tensor self, int dtype, bint non_blocking, bint copy, int memory_format)
cdef object to_dtype_layout(Tensor self, int dtype, int layout, object device, object pin_memory,
                            bint non_blocking, bint copy, int memory_format)
cdef object to_other(Tensor self, Tensor other, bint non_blocking, bint copy, int memory_format)
cdef object type_as(Tensor self, Tensor other)
cdef object zero(Tensor self)
