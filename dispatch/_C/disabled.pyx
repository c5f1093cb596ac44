"""What `Tensor` has in place of handlers: a class that has these takes no part in dispatch.

`tensor` enters them into the type; `_C` gives them to programs, which call them from handlers of their own.
"""
cimport cython
from libc.stdint cimport uint64_t

from dispatch._C.keys cimport KS_Python, KS_PythonTLSSnapshot
from dispatch._C.tls cimport ThreadState, tls


@cython.binding(False)
def _disabled_torch_dispatch_impl(func, types, args=(), kwargs=None):
    """`Tensor.__torch_dispatch__`: runs `func` with modes and handlers off. A class that has this one takes no part in dispatch."""
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    ts.excluded |= KS_Python | KS_PythonTLSSnapshot
    try:
        return func(*args, **(kwargs or {}))
    finally:
        ts.excluded = excluded


@cython.binding(False)
def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """Runs `func` with `__torch_function__` of subclasses off. A class that has this one is not asked."""
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    if off == 0:
        ts.torch_function_off = 1
    try:
        return func(*args, **(kwargs or {}))
    finally:
        ts.torch_function_off = off
