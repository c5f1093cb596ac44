"""Shape functions of pairwise distances."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int cdist(Spec* s, Tensor x1, Tensor x2, double p, object compute_mode) except -1
cdef int cdist_backward(Spec* s, Tensor grad, Tensor x1, Tensor x2, double p, Tensor cdist) except -1
cdef int pdist(Spec* s, Tensor self, double p) except -1
cdef int pdist_backward(Spec* s, Tensor grad, Tensor self, double p, Tensor pdist) except -1

# ---- checks, for composite kernels too

cpdef int check_sets(Tensor x1, Tensor x2, double p, object compute_mode) except -1
cpdef int check_real(str name, Tensor points) except -1
