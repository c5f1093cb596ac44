"""Memory that nobody may write to."""
from dispatch._C.storage cimport Storage

# The owner of such a storage's bytes, which keeps alive whom they belong to.
cdef class ReadOnly:
    cdef object lender

cdef str WHY                                              # what a refusal says
cdef object read_only(object lender)                      # the owner for `new_borrowed_storage`
cdef object lent(object array, Storage s)                 # the array over a storage's bytes, as others get it
cdef int raise_read_only() except -1
cdef inline bint is_read_only(Storage s) noexcept:
    return type(s.owner) is ReadOnly
cdef inline int check_writable(Storage s) except -1:      # where a schema does not say that a kernel writes there
    return raise_read_only() if is_read_only(s) else 0
