"""Kernels written in C that are registered as Python callables are: `Library.impl` takes one like any function."""
from dispatch._C.operator cimport OperatorEntry, boxed_fn

cdef class NativeFunctor:
    """What a kernel's `functor` is when C code runs it; a subclass holds the state that `fn` needs."""
    cdef boxed_fn fn             # reads its state from `Kernel.functor`
    cdef OperatorEntry entry     # the operator, for calls from Python

cdef int check_made(NativeFunctor functor) except -1     # TypeError for an object that has no kernel
