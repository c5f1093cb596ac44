"""Filling tensors with random numbers in PyTorch's order: element by element, as the output lies in memory.

A `Draw` says what one element is drawn from: `make` fills `n` values of one dtype, which are then converted to the output's and put
where they belong. The order is that of TensorIterator: the dimension with the smallest stride first.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.generator cimport Generator, Mersenne
from dispatch._C.tensor cimport Tensor

# Fills values[0 ... n - 1]; x and y are the elements of the operands, NULL where there is none. Not 0: `x` is no parameter.
ctypedef bint (*maker)(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil

cdef struct Draw:
    maker make
    int values               # what it makes: ST_float64, ST_float32 or ST_int64
    int code                 # ScalarType of the output
    double a, b              # parameters of the distribution
    uint64_t range           # of integers: how many there are (0: 2**64)
    int64_t base             # the first of them

# Fills `out` with draws for the elements of `x` and `y` (None, or of out's very sizes, real floats). Large ones without the
# interpreter's lock. 1: an element of `x` was no parameter, and what was drawn up to it stays.
cdef int fill(Tensor out, object generator, Draw* d, Tensor x=*, Tensor y=*) except -1
# RuntimeError when two indices name one element.
cdef int check_target(Tensor self) except -1
cdef double to_scalar(int code, double value) noexcept nogil      # rounded to a floating dtype
