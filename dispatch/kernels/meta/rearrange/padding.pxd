"""Shape functions of padding and of its gradients."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int constant_pad_nd(Spec* s, Tensor self, IntArray pad, object value) except -1
cdef int reflection_pad1d(Spec* s, Tensor self, IntArray padding) except -1
cdef int reflection_pad2d(Spec* s, Tensor self, IntArray padding) except -1
cdef int reflection_pad3d(Spec* s, Tensor self, IntArray padding) except -1
cdef int replication_pad1d(Spec* s, Tensor self, IntArray padding) except -1
cdef int replication_pad2d(Spec* s, Tensor self, IntArray padding) except -1
cdef int replication_pad3d(Spec* s, Tensor self, IntArray padding) except -1
cdef int reflection_pad1d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
cdef int reflection_pad2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
cdef int reflection_pad3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
cdef int replication_pad1d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
cdef int replication_pad2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
cdef int replication_pad3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1
