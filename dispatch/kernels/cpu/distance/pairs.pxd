"""Bodies of distances between points."""
from dispatch._C.tensor cimport Tensor

cdef int cdist(Tensor out, Tensor x1, Tensor x2, double p, object compute_mode) except -1
cdef int cdist_backward(Tensor out, Tensor grad, Tensor x1, Tensor x2, double p, Tensor cdist) except -1
cdef int pdist(Tensor out, Tensor self, double p) except -1
cdef int pdist_backward(Tensor out, Tensor grad, Tensor self, double p, Tensor pdist) except -1
