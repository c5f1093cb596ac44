"""Body of renorm: slices whose norm is too large are scaled down to it."""
from cython cimport floating
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport (
    DTYPES_REDUCED_FLOATING, MF_contiguous, ST_float32, ST_float64, get_dtype, is_in,
)
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.dense cimport dense
from dispatch.kernels.cpu.runs cimport address
from dispatch.kernels.meta cimport rules

from dispatch._ops import ops


cdef void as_factors(floating* norms, int64_t n, double maxnorm) noexcept:
    """maxnorm / norm where a norm is larger, else 1."""
    cdef int64_t i
    for i in range(n):
        norms[i] = <floating>maxnorm / (norms[i] + <floating>1e-7) if norms[i] > maxnorm else 1


cdef int renorm(Tensor out, Tensor self, object p, int64_t dim, object maxnorm) except -1:
    """self times min(1, maxnorm / norm) for each index along `dim`."""
    cdef Tensor norms
    cdef int64_t i
    dim = rules.wrap_dim(dim, self.c_ndim, True)
    wide = get_dtype(ST_float32) if is_in(DTYPES_REDUCED_FLOATING, self.c_dtype) else None
    norms = ops.aten.linalg_vector_norm(self, float(p), [i for i in range(self.c_ndim) if i != dim], True, dtype=wide)
    if norms.c_dtype == ST_float32:
        as_factors[float](<float*>address(norms), norms.c_numel, maxnorm)
    elif norms.c_dtype == ST_float64:
        as_factors[double](<double*>address(norms), norms.c_numel, maxnorm)
    ops.aten.mul.out(self, dense(norms, self.c_dtype, MF_contiguous), out=out)
    return 0
