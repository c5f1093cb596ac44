"""Loops that convert elements of one dtype to another, at any address and with any steps; they never fail.

A float becomes a narrow one by way of float32, a complex number its real part, whatever is not 0 is true; what an integer
cannot hold is what x86 makes of it. From a dtype to itself they copy bits.
"""
ctypedef void (*cast_loop)(const char* src, Py_ssize_t from_, char* dst, Py_ssize_t to, Py_ssize_t n) noexcept nogil

# NULL: one of the two has no elements of its own (quantized dtypes, parts of bytes).
cdef cast_loop get_cast(int from_, int to) noexcept nogil
