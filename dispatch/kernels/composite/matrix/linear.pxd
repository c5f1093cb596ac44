"""linear, which runs for most nodes of a transformer."""
from dispatch._C.tensor cimport Tensor

cdef object linear(Tensor input, Tensor weight, Tensor bias)
