"""Shape function of renorm: self's sizes, where the norm of each slice has a value."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.reduction.reduce cimport check_moment_input, check_norm_extent


cdef int renorm(Spec* s, Tensor self, object p, int64_t dim, object maxnorm) except -1:
    """PyTorch looks at the orders before the sizes."""
    cdef int64_t dims[64]
    cdef int i, n = 0
    if isinstance(p, complex):
        raise refused(f"renorm: p must be real-valued, got {p}")
    if not p > 0:
        raise refused(f"non-positive-norm not supported, got {p}")
    if isinstance(maxnorm, complex):
        raise refused(f"renorm: maxnorm must be real-valued, got {maxnorm}")
    if not maxnorm >= 0:
        raise refused(f"expected maxnorm to be >= 0 but got {maxnorm}")
    if self.c_ndim < 2:
        raise refused(f"input needs at least 2 dimensions, got {self.c_ndim} dimensions")
    dim = rules.wrap_dim(dim, self.c_ndim, True)
    check_moment_input(self)
    for i in range(self.c_ndim):
        if i != dim:
            dims[n] = i
            n += 1
    check_norm_extent(self, p, [dims[i] for i in range(n)], dims, n)
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, s.ndim * sizeof(int64_t))
    return 0
