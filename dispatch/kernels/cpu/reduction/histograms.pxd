"""Bodies of histograms; kernels that are whole have no C face."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int histc(Tensor out, Tensor self, int64_t bins, object min, object max) except -1
