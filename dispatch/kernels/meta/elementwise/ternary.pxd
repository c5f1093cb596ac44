"""Shape functions of elementwise operators of three operands."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int clamp(Spec* s, Tensor self, object min, object max) except -1
cdef int clamp_tensor(Spec* s, Tensor self, Tensor min, Tensor max) except -1
cdef int clamp_bound(Spec* s, Tensor self, object bound) except -1
cdef int clamp_bound_tensor(Spec* s, Tensor self, Tensor bound) except -1
cdef int where(Spec* s, Tensor condition, Tensor self, Tensor other) except -1
cdef int addcmul(Spec* s, Tensor self, Tensor tensor1, Tensor tensor2, object value) except -1
cdef int addcdiv(Spec* s, Tensor self, Tensor tensor1, Tensor tensor2, object value) except -1
cdef int lerp_scalar(Spec* s, Tensor self, Tensor end, object weight) except -1
cdef int lerp_tensor(Spec* s, Tensor self, Tensor end, Tensor weight) except -1
