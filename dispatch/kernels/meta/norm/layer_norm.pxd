"""Shape function of layer normalisation: apart from `norm`, as every transformer runs it often."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch._C.structured cimport Spec

cdef int layer_norm(Spec* s, Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                    double eps) except -1
