"""Bodies of normalisation on the CPU; those that the YAML alone names have no C face."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int layer_norm(Tensor out, Tensor mean, Tensor rstd, Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                    double eps, const int64_t* handed) except -1
