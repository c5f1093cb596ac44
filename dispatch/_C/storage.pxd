"""Storage: bytes that tensors share, with their size and device."""
from libc.stdint cimport int8_t, int64_t, uint32_t

cdef class Storage:
    cdef char* data              # first byte; NULL on meta/fake devices and when nbytes is 0
    cdef int64_t c_nbytes
    cdef object owner            # keeps the memory alive once somebody else sees it (Buffer, ndarray ...); None: `data` is ours
    cdef int8_t devtype
    cdef int8_t devindex
    cdef bint c_resizable
    cdef bint fake               # stands for memory that does not exist: no bytes on any device, the CPU too
    cdef uint32_t c_peak         # most memory that it ever had, in pages of 4 KiB; 0: what c_nbytes says
    cdef object __weakref__

cdef class Buffer:
    """Owns malloc'ed bytes that numpy views may outlive the storage of."""
    cdef void* data

cdef Storage new_storage(int64_t nbytes, int devtype, int devindex)             # CPU: allocated, not initialised; others: no bytes
cdef Storage new_borrowed_storage(char* data, int64_t nbytes, object owner)     # CPU
cdef int resize_storage(Storage s, int64_t nbytes) except -1                     # RuntimeError for one that is not resizable
cdef object shared_owner(Storage s)              # keeps the bytes alive (None: there are none), so that somebody else may look
