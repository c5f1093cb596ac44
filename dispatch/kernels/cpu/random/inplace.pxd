"""Operators that fill a tensor from a distribution, on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object bernoulli_(Tensor self, double p, object generator)
cdef object bernoulli_tensor_(Tensor self, Tensor p, object generator)
cdef object cauchy_(Tensor self, double median, double sigma, object generator)
cdef object exponential_(Tensor self, double lambd, object generator)
cdef object geometric_(Tensor self, double p, object generator)
cdef object log_normal_(Tensor self, double mean, double std, object generator)
cdef object normal_(Tensor self, double mean, double std, object generator)
cdef object random_(Tensor self, object generator)
cdef object random_from_(Tensor self, int64_t from_, object to, object generator)
cdef object random_to_(Tensor self, int64_t to, object generator)
cdef object randperm_generator_out(int64_t n, object generator, Tensor out)
cdef object uniform_(Tensor self, double from_, double to, object generator)
