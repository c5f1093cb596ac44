"""TorchDispatchMode: a base class that pushes itself on the thread's mode stack."""

cdef class TorchDispatchMode:
    cdef object __weakref__


cdef int count_entry(TorchDispatchMode mode) except -1     # a block is entered; asks the mode what it is: an error counts nothing
cdef void count_exit(TorchDispatchMode mode) noexcept      # a block is left
