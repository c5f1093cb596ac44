"""NativeFunctor: a callable whose boxed face is a C function (registered with `Library.impl` by `registration`)."""
from cpython.object cimport PyObject

from dispatch._C.keys cimport DispatchKeySet
from dispatch._C.operator cimport Kernel
from dispatch._C.references cimport take
from dispatch._C.values cimport Frame, match_given, release_frame


cdef int check_made(NativeFunctor functor) except -1:
    if functor.fn == NULL or functor.entry is None:
        raise TypeError(f"a {type(functor).__name__} that no library made")
    return 0


cdef class NativeFunctor:
    """A kernel in C that Python may register, and call: `functor(keyset, *args, **kwargs)`."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} objects are made by the library that registers them")

    def __call__(self, DispatchKeySet keyset not None, *args, **kwargs):
        cdef Kernel k
        cdef Frame f
        check_made(self)
        k.functor = k.owner = <PyObject*>self
        k.flags = 0
        match_given(&self.entry.sig, args, kwargs, &f)
        try:
            return take(self.fn(&k, <PyObject*>self.entry, keyset.ks, f.args))
        finally:
            release_frame(&f)
