"""Operators that draw an element for each element of their arguments, on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object binomial(Tensor count, Tensor prob, object generator)
cdef object poisson(Tensor self, object generator)
cdef object standard_gamma(Tensor self, object generator)

# ---- shared
cdef object dirichlet_gammas(Tensor self, object generator)      # of Gamma(self), float64
