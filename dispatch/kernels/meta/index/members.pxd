"""Shape functions of asking whether elements are in a set."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int isin_tensor_tensor(Spec* s, Tensor elements, Tensor test_elements, bint assume_unique, bint invert) except -1
cdef int isin_tensor_scalar(Spec* s, Tensor elements, object test_element, bint assume_unique, bint invert) except -1
cdef int isin_scalar_tensor(Spec* s, object element, Tensor test_elements, bint assume_unique, bint invert) except -1
