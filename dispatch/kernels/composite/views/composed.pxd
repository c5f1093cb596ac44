"""Views that are made of other operators; some hand back their argument, where PyTorch does."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object chunk(Tensor self, int64_t chunks, int64_t dim)
cdef object conj(Tensor self)
cdef object expand_as(Tensor self, Tensor other)
cdef object flatten(Tensor self, int64_t start_dim, int64_t end_dim)
cdef object imag(Tensor self)
cdef object movedim(Tensor self, IntArray source, IntArray destination)
cdef object movedim_int(Tensor self, int64_t source, int64_t destination)
cdef object narrow(Tensor self, int64_t dim, int64_t start, int64_t length)
cdef object narrow_tensor(Tensor self, int64_t dim, Tensor start, int64_t length)
cdef object numpy_T(Tensor self)
cdef object ravel(Tensor self)
cdef object real(Tensor self)
cdef object reshape(Tensor self, IntArray shape)
cdef object reshape_as(Tensor self, Tensor other)
cdef object resize(Tensor self, IntArray size, int memory_format)
cdef object resolve_conj(Tensor self)
cdef object resolve_neg(Tensor self)
cdef object unflatten(Tensor self, int64_t dim, IntArray sizes)
cdef object unfold(Tensor self, int64_t dimension, int64_t size, int64_t step)
cdef object unfold_backward(Tensor grad_in, IntArray input_sizes, int64_t dim, int64_t size, int64_t step)
cdef object view_as(Tensor self, Tensor other)
