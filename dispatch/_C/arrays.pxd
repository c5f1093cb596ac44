"""Plain numbers as tensors."""
from dispatch._C.tensor cimport Tensor

cdef Tensor new_wrapped_number(object number)      # 0-d CPU tensor (int64, float64, bool, complex128) with TF_WRAPPED_NUMBER
