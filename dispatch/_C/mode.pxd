"""TorchDispatchMode: a base class that pushes itself on the thread's mode stack."""

cdef class TorchDispatchMode:
    cdef object __weakref__


cdef int count_entry(TorchDispatchMode mode, int step) except -1      # a block is entered (1) or left (-1)
