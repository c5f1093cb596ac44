"""layer_norm (apart from `norm`: every node of a transformer runs it)."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object layer_norm(Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                       double eps, bint cudnn_enable)
