"""Sobol's sequences: points that fill a cube evenly, and the state that they are drawn from."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object draw(Tensor quasi, int64_t n, Tensor sobolstate, int64_t dimension, int64_t num_generated, int dtype)
cdef object fast_forward_(Tensor self, int64_t n, Tensor sobolstate, int64_t dimension, int64_t num_generated)
cdef object scramble_(Tensor self, Tensor ltm, int64_t dimension)
cdef object initialize_state_(Tensor self, int64_t dimension)
