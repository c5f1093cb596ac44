"""Bodies of asking whether elements are in a set."""
from dispatch._C.tensor cimport Tensor

cdef int isin_tensor_tensor(Tensor out, Tensor elements, Tensor test_elements, bint assume_unique, bint invert) except -1
cdef int isin_tensor_scalar(Tensor out, Tensor elements, object test_element, bint assume_unique, bint invert) except -1
cdef int isin_scalar_tensor(Tensor out, object element, Tensor test_elements, bint assume_unique, bint invert) except -1
