"""Storage: bytes that tensors share, with their size and device."""
from libc.stdint cimport int8_t, int64_t

from dispatch._C.dtypes cimport DEV_CPU

cdef enum PointerRule:           # what asking for a writable address does
    POINTER_PLAIN = 0
    POINTER_THROWS = 1
    POINTER_WARNS = 2            # the first time

cdef class Storage:
    cdef char* data              # first byte; NULL on meta/fake devices and when nbytes is 0
    cdef int64_t c_nbytes         # on devices without bytes it may be the handle of an expression
    cdef object owner            # keeps the memory alive once somebody else sees it (Buffer, ndarray ...); None: `data` is ours
    cdef int8_t devtype
    cdef int8_t devindex
    cdef int8_t pointer_rule     # PointerRule
    cdef bint c_resizable
    cdef bint fake               # stands for memory that does not exist: no bytes on any device, the CPU too
    cdef int64_t c_peak          # bytes that there are at `data`, when it was larger once; else less than c_nbytes
    cdef object __weakref__

cdef class Buffer:
    """Owns malloc'ed bytes that numpy views may outlive the storage of."""
    cdef void* data

cdef Storage new_storage(int64_t nbytes, int devtype, int devindex)             # CPU: allocated, not initialised; others: no bytes
cdef Storage new_borrowed_storage(char* data, int64_t nbytes, object owner)     # CPU
cdef int check_resizable(Storage s) except -1                                    # RuntimeError
cdef int ask_pointer(Storage s) except -1                                        # what a rule that is not plain does
cdef inline int check_pointer(Storage s) except -1:                              # before a writable address is given to anybody
    return ask_pointer(s) if s.pointer_rule else 0
cdef int resize_storage(Storage s, int64_t nbytes) except -1                     # RuntimeError for one that is not resizable
cdef int grow_storage(Storage s, int64_t nbytes) except -1                       # to at least that many bytes
# Keeps the bytes alive (None: there are none), so that somebody else may look: an array, or a loop without the interpreter's lock.
cdef object shared_owner(Storage s)
cdef inline int64_t room_of(Storage s) noexcept:         # bytes that tensors may reach: at least what it says, and what it once had
    return s.c_peak if s.c_peak > s.c_nbytes else s.c_nbytes
cdef inline bint has_bytes(Storage s) noexcept:          # whether elements are read and written there
    return s.devtype == DEV_CPU and not s.fake
