"""Shape function of renorm: self's sizes."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor


cdef int renorm(Spec* s, Tensor self, object p, int64_t dim, object maxnorm) except -1:
    """PyTorch looks at the orders before the sizes."""
    if isinstance(p, complex):
        raise refused(f"expected p to be a real number, got {p}")
    if not p > 0:
        raise refused(f"expected p to be positive, got {p}")
    if isinstance(maxnorm, complex):
        raise refused(f"expected maxnorm to be a real number, got {maxnorm}")
    if not maxnorm >= 0:
        raise refused(f"expected maxnorm not to be negative, got {maxnorm}")
    if self.c_ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got shape {list(self.shape)}")
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, s.ndim * sizeof(int64_t))
    return 0
