"""Shape functions of places in sorted values."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int bucketize_scalar(Spec* s, object self, Tensor boundaries, bint out_int32, bint right) except -1
cdef int bucketize_tensor(Spec* s, Tensor self, Tensor boundaries, bint out_int32, bint right) except -1
cdef int searchsorted_scalar(Spec* s, Tensor sorted_sequence, object self, bint out_int32, bint right, object side,
                             Tensor sorter) except -1
cdef int searchsorted_tensor(Spec* s, Tensor sorted_sequence, Tensor self, bint out_int32, bint right, object side,
                             Tensor sorter) except -1
