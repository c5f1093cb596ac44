"""Size, and tuples of C integers."""
from libc.stdint cimport int64_t

cdef object new_size(int n, const int64_t* values)         # a Size
cdef tuple tuple_of(int n, const int64_t* values)          # a plain tuple
cdef int add_number_type(type cls) except -1               # instances become ints in a Size
