"""Random factories: memory from `empty`, numbers from the in-place operators.

Those that make a tensor run below every mode: on the CPU its numbers are drawn without another dispatch. A given one, and
those of other devices, are filled by `uniform_`, `normal_` and `random_`: modes see it, and a backend needs no more.
"""
from dispatch._C.dtypes cimport DEV_CPU, MF_NONE, ST_NONE, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport expect_ge, expect_gt, size_object
from dispatch.kernels.composite.callee cimport Callee, callee, ints
from dispatch.kernels.composite.factory.basic cimport chosen_device, made, made_like
from dispatch.kernels.cpu.random cimport inplace as cpu

cdef Callee NORMAL = callee("normal_")
cdef Callee RANDOM_FROM = callee("random_", "from")
cdef Callee RANDPERM_OUT = callee("randperm", "generator_out")
cdef Callee RESIZE = callee("resize_")
cdef Callee UNIFORM = callee("uniform_")


# ---- draws -------------------------------------------------------------------------------------


cdef object uniform(Tensor t, object generator):
    if t.c_devtype == DEV_CPU:
        return cpu.uniform_(t, 0, 1, generator)
    return UNIFORM.call((t, 0.0, 1.0, generator))


cdef object normal(Tensor t, double mean, double std, object generator):
    if t.c_devtype == DEV_CPU:
        return cpu.normal_(t, mean, std, generator)
    return NORMAL.call((t, mean, std, generator))


cdef object integers(Tensor t, int64_t low, int64_t high, object generator):
    if t.c_devtype == DEV_CPU:
        return cpu.random_from_(t, low, high, generator)
    return RANDOM_FROM.call((t, size_object(low), size_object(high), generator))


cdef inline Tensor new(IntArray size, int dtype, int layout, object device, object pin_memory):
    return made(size, dtype, layout, chosen_device(device), pin_memory, MF_NONE)


cdef inline Tensor resized(Tensor out, IntArray size):
    return <Tensor?>RESIZE.call((out, ints(size)))


# ---- uniform and normal ------------------------------------------------------------------------


cdef object rand(IntArray size, int dtype, int layout, object device, object pin_memory):
    """Uniform in [0, 1)."""
    return uniform(new(size, dtype, layout, device, pin_memory), None)


cdef object rand_generator(IntArray size, object generator, int dtype, int layout, object device, object pin_memory):
    return uniform(new(size, dtype, layout, device, pin_memory), generator)


cdef object rand_out(IntArray size, Tensor out):
    return UNIFORM.call((resized(out, size), 0.0, 1.0, None))


cdef object rand_generator_out(IntArray size, object generator, Tensor out):
    return UNIFORM.call((resized(out, size), 0.0, 1.0, generator))


cdef object rand_like(Tensor self, int dtype, int layout, object device, object pin_memory, int memory_format):
    return uniform(made_like(self, dtype, layout, device, pin_memory, memory_format), None)


cdef object rand_like_generator(Tensor self, object generator, int dtype, int layout, object device, object pin_memory,
                                int memory_format):
    return uniform(made_like(self, dtype, layout, device, pin_memory, memory_format), generator)


cdef object randn(IntArray size, int dtype, int layout, object device, object pin_memory):
    """Normal with mean 0 and standard deviation 1."""
    return normal(new(size, dtype, layout, device, pin_memory), 0, 1, None)


cdef object randn_generator(IntArray size, object generator, int dtype, int layout, object device, object pin_memory):
    return normal(new(size, dtype, layout, device, pin_memory), 0, 1, generator)


cdef object randn_out(IntArray size, Tensor out):
    return NORMAL.call((resized(out, size), 0.0, 1.0, None))


cdef object randn_generator_out(IntArray size, object generator, Tensor out):
    return NORMAL.call((resized(out, size), 0.0, 1.0, generator))


cdef object randn_like(Tensor self, int dtype, int layout, object device, object pin_memory, int memory_format):
    return normal(made_like(self, dtype, layout, device, pin_memory, memory_format), 0, 1, None)


cdef object randn_like_generator(Tensor self, object generator, int dtype, int layout, object device, object pin_memory,
                                 int memory_format):
    return normal(made_like(self, dtype, layout, device, pin_memory, memory_format), 0, 1, generator)


cdef object normal_float_float(double mean, double std, IntArray size, object generator, int dtype, int layout, object device,
                               object pin_memory):
    return normal(new(size, dtype, layout, device, pin_memory), mean, std, generator)


cdef object normal_float_float_out(double mean, double std, IntArray size, object generator, Tensor out):
    return NORMAL.call((resized(out, size), mean, std, generator))


# ---- integers ----------------------------------------------------------------------------------


cdef int check_bounds(int64_t low, int64_t high) except -1:
    if not expect_gt(high, low):
        raise refused(f"expected low to be less than high, got {size_object(low)} and {size_object(high)}")
    return 0


cdef object randint(int64_t high, IntArray size, int dtype, int layout, object device, object pin_memory):
    """Integers from 0 to `high`, which is left out."""
    return randint_low_generator(0, high, size, None, dtype, layout, device, pin_memory)


cdef object randint_low(int64_t low, int64_t high, IntArray size, int dtype, int layout, object device, object pin_memory):
    return randint_low_generator(low, high, size, None, dtype, layout, device, pin_memory)


cdef object randint_generator(int64_t high, IntArray size, object generator, int dtype, int layout, object device,
                              object pin_memory):
    return randint_low_generator(0, high, size, generator, dtype, layout, device, pin_memory)


cdef object randint_low_generator(int64_t low, int64_t high, IntArray size, object generator, int dtype, int layout, object device,
                                  object pin_memory):
    check_bounds(low, high)
    return integers(new(size, dtype, layout, device, pin_memory), low, high, generator)


cdef object randint_out(int64_t high, IntArray size, Tensor out):
    return randint_low_generator_out(0, high, size, None, out)


cdef object randint_low_out(int64_t low, int64_t high, IntArray size, Tensor out):
    return randint_low_generator_out(low, high, size, None, out)


cdef object randint_generator_out(int64_t high, IntArray size, object generator, Tensor out):
    return randint_low_generator_out(0, high, size, generator, out)


cdef object randint_low_generator_out(int64_t low, int64_t high, IntArray size, object generator, Tensor out):
    check_bounds(low, high)
    return RANDOM_FROM.call((resized(out, size), size_object(low), size_object(high), generator))


# ---- permutations ------------------------------------------------------------------------------


cdef object randperm(int64_t n, int dtype, int layout, object device, object pin_memory):
    """The integers from 0 to n - 1 in random order."""
    return randperm_generator(n, None, dtype, layout, device, pin_memory)


cdef object randperm_generator(int64_t n, object generator, int dtype, int layout, object device, object pin_memory):
    cdef IntArray size
    cdef Tensor t
    if not expect_ge(n, 0):
        raise refused(f"expected n to be 0 or more, got {size_object(n)}")
    size.data = &n
    size.len = 1
    t = new(size, ST_int64 if dtype == ST_NONE else dtype, layout, device, pin_memory)
    if t.c_devtype == DEV_CPU:
        return cpu.randperm_generator_out(n, generator, t)
    return RANDPERM_OUT.call((size_object(n), generator, t))


cdef object randperm_out(int64_t n, Tensor out):
    return RANDPERM_OUT.call((size_object(n), None, out))
