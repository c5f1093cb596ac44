"""Shape functions of asking whether elements are in a set: an answer for each element."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport ST_bool, get_dtype, is_complex_code
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport COPIED, Spec
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.elementwise.pointwise cimport is_meta, restride


cdef int check_ordered(Tensor t) except -1:
    if t.c_dtype == ST_bool or is_complex_code(t.c_dtype):
        raise refused(f"Unsupported input type encountered for isin(): {get_dtype(t.c_dtype)!r}")
    return 0


cdef int set_answers(Spec* s, Tensor elements) except -1:
    """Contiguous where they are computed; PyTorch's reference for Meta compares, which keeps the order of dimensions."""
    cdef PyObject* items[1]
    s.ndim, s.dtype, s.cast = elements.c_ndim, ST_bool, COPIED
    memcpy(s.sizes, elements.c_sizes, s.ndim * sizeof(int64_t))
    if is_meta(elements):
        items[0] = <PyObject*>elements
        restride(s, items, 1, True)
    return 0


cdef int isin_tensor_tensor(Spec* s, Tensor elements, Tensor test_elements, bint assume_unique, bint invert) except -1:
    check_ordered(elements)
    check_ordered(test_elements)
    return set_answers(s, elements)


cdef int isin_tensor_scalar(Spec* s, Tensor elements, object test_element, bint assume_unique, bint invert) except -1:
    check_ordered(elements)
    return set_answers(s, elements)


cdef int isin_scalar_tensor(Spec* s, object element, Tensor test_elements, bint assume_unique, bint invert) except -1:
    check_ordered(test_elements)
    s.dtype, s.cast = ST_bool, COPIED
    return 0
