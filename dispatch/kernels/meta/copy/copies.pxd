"""Copies and fills on Meta: the checks, and the geometry of a clone."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int clone(Spec* out, Tensor self, int memory_format) except -1
cdef object copy_(Tensor self, Tensor src, bint non_blocking)
cdef object fill_(Tensor self, object value)
cdef object fill_tensor_(Tensor self, Tensor value)
cdef object zero_(Tensor self)
cdef object _local_scalar_dense(Tensor self)

# ---- for other kernels
# RuntimeError unless `src` broadcasts to the sizes of `self`.
cdef int check_copy(Tensor self, Tensor src) except -1
# RuntimeError unless `value` has no dimensions.
cdef int check_fill(Tensor value) except -1
