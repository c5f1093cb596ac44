"""TorchDispatchMode: a base class that pushes itself on the thread's mode stack."""

cdef class TorchDispatchMode:
    cdef object __weakref__
