"""Shape functions of the averages: fills the `Spec` of each output, never reads a value."""
from dispatch._C.dtypes cimport is_floating_code
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor


cdef int ema(Spec* out, Tensor self, double decay) except -1:
    cdef int i
    if not is_floating_code(self.c_dtype):
        raise refused(f"expected a floating-point 'self', got {self.dtype}")
    if not 0 <= decay < 1:
        raise refused(f"expected 'decay' in [0, 1), got {decay}")
    out.ndim, out.dtype = self.c_ndim, self.c_dtype
    for i in range(self.c_ndim):
        out.sizes[i] = self.c_sizes[i]
    return 0
