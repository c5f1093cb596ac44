"""Generators of random numbers: a Mersenne twister each, as PyTorch's on the CPU, and a lock that whoever draws holds."""
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from "mersenne.h" nogil:
    ctypedef struct Mersenne:                 # each field is explained there
        uint64_t seed
        uint32_t next
    void mersenne_seed(Mersenne* m, uint64_t seed)
    # Draws: a word, two, and what becomes of them. The caller holds the generator's lock.
    uint32_t mersenne_draw(Mersenne* m)
    uint64_t mersenne_draw64(Mersenne* m)
    double mersenne_double(Mersenne* m)       # in [0, 1), 53 bits
    float mersenne_float(Mersenne* m)         # in [0, 1), 24 bits
    double mersenne_normal(Mersenne* m)       # mean 0, deviation 1
    void mersenne_draw_all(Mersenne* m, uint32_t* out, int64_t n)
    void mersenne_doubles(Mersenne* m, double* out, int64_t n)
    void mersenne_floats(Mersenne* m, float* out, int64_t n)
    # Values times b plus a, rounded once.
    void mersenne_scale_doubles(double* v, int64_t n, double a, double b)
    void mersenne_scale_floats(float* v, int64_t n, float a, float b)

cdef class Generator:
    cdef Mersenne engine
    cdef PyThread_type_lock lock              # owned
    cdef int64_t forks                        # of this process's line when the lock was made
    cdef object _device
    cdef object __weakref__

# A Generator argument: the one given, or the default one for None. RuntimeError for one of another device than the CPU.
cdef Generator generator_of(object given)
# The engine, locked until `give_back`; waits without the interpreter's lock. Borrowed. No Python code runs while it is held.
cdef Mersenne* borrow(Generator g) noexcept
cdef bint try_borrow(Generator g) noexcept       # without waiting: whatever was read of tensors holds
cdef void give_back(Generator g) noexcept nogil
