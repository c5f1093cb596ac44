"""matmul, and the calls that it shares with `nn`."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.symbolic cimport any_symbolic
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee

# Dispatches with the first `n` arguments in `args` (borrowed), which has room for all; the others
# are filled in with their defaults.
cdef object call_array(Callee c, PyObject** args, int n)
cdef object call_one(Callee c, object a)
cdef object call_two(Callee c, object a, object b)

# A subclass with __torch_dispatch__, a fake tensor, or any tensor while a mode is active: it may
# not be written to.
cdef bint is_subclass_like(Tensor t) noexcept

# Whether two sizes are known to differ: nothing is asked of symbols.
cdef inline bint differ(int64_t a, int64_t b) noexcept:
    return a != b and not any_symbolic(a, b)

cdef object matmul(Tensor self, Tensor other)
