"""Random factories: memory from `empty`, numbers from the in-place operators."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object normal_float_float(double mean, double std, IntArray size, object generator, int dtype, int layout, object device,
                               object pin_memory)
cdef object normal_float_float_out(double mean, double std, IntArray size, object generator, Tensor out)
cdef object rand(IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object rand_generator(IntArray size, object generator, int dtype, int layout, object device, object pin_memory)
cdef object rand_generator_out(IntArray size, object generator, Tensor out)
cdef object rand_like(Tensor self, int dtype, int layout, object device, object pin_memory, int memory_format)
cdef object rand_like_generator(Tensor self, object generator, int dtype, int layout, object device, object pin_memory,
                                int memory_format)
cdef object rand_out(IntArray size, Tensor out)
cdef object randint(int64_t high, IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object randint_generator(int64_t high, IntArray size, object generator, int dtype, int layout, object device,
                              object pin_memory)
cdef object randint_generator_out(int64_t high, IntArray size, object generator, Tensor out)
cdef object randint_low(int64_t low, int64_t high, IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object randint_low_generator(int64_t low, int64_t high, IntArray size, object generator, int dtype, int layout, object device,
                                  object pin_memory)
cdef object randint_low_generator_out(int64_t low, int64_t high, IntArray size, object generator, Tensor out)
cdef object randint_low_out(int64_t low, int64_t high, IntArray size, Tensor out)
cdef object randint_out(int64_t high, IntArray size, Tensor out)
cdef object randn(IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object randn_generator(IntArray size, object generator, int dtype, int layout, object device, object pin_memory)
cdef object randn_generator_out(IntArray size, object generator, Tensor out)
cdef object randn_like(Tensor self, int dtype, int layout, object device, object pin_memory, int memory_format)
cdef object randn_like_generator(Tensor self, object generator, int dtype, int layout, object device, object pin_memory,
                                 int memory_format)
cdef object randn_out(IntArray size, Tensor out)
cdef object randperm(int64_t n, int dtype, int layout, object device, object pin_memory)
cdef object randperm_generator(int64_t n, object generator, int dtype, int layout, object device, object pin_memory)
cdef object randperm_out(int64_t n, Tensor out)
