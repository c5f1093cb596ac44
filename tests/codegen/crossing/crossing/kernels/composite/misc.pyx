"""Kernels that return what they were given, and a caller with C arguments."""
from libc.stdint cimport int64_t

from crossing.generated.calls cimport call_TTLidbIIOOtlmO, call_i
from dispatch._C.dispatcher cimport need_entry
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray


cdef list as_list(IntArray a):
    return [a.data[i] for i in range(a.len)]


cdef object echo(Tensor self, Tensor other, list xs, int64_t i, double d, bint b, IntArray n,
                 IntArray s, object c, object t, int dtype, int layout, int memory_format,
                 object device):
    return (self, other, xs, i, d, b, as_list(n), as_list(s), c, t, dtype, layout, memory_format,
            device)


cdef object fail(int64_t n):
    raise LookupError(f"no {n}")


def echo_in_python(*args, **kwargs):
    return args, kwargs


def send(str name, Tensor a, list xs):
    """Call the operator `name` with C arguments."""
    cdef int64_t sizes[3]
    cdef IntArray n, s
    sizes[0], sizes[1], sizes[2] = 4, 5, 6
    n.data, n.len = sizes, 3
    s.data, s.len = NULL, 0
    return call_TTLidbIIOOtlmO(need_entry(name, ""), a, None, xs, 7, 0.5, True, n, s, 2.5, "y", 6,
                               0, -1, None)


def send_fail(int64_t n):
    return call_i(need_entry("crossing::fail", ""), n)
