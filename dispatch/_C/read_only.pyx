"""Memory of arrays, buffers and DLPack capsules that say that nobody may write to it: a mapped file's, or that of `bytes`.

Tensors share it as all other memory; an operator that writes to it is refused before its kernel runs. Nobody looks for such
memory until there is some: the switch is that of symbolic sizes, which are looked for at the same place (`plain_arguments`).
"""
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport symbolic_calls

cdef str WHY = "the memory is read-only, as the array or buffer that it belongs to says: write to a clone()"


cdef object read_only(object lender):
    cdef ReadOnly owner = ReadOnly.__new__(ReadOnly)
    owner.lender = lender
    symbolic_calls.in_use = True
    return owner


cdef object lent(object array, Storage s):
    if is_read_only(s):
        array = array.view()
        array.flags.writeable = False
    return array


cdef int raise_read_only() except -1:
    raise refused(WHY)
