"""What a kernel reads and writes for the whole of a call, whatever other threads do to the tensors meanwhile.

A loop over many elements gives up the interpreter's lock, and so does a body in Python; from then on any thread may resize, `set_`
or re-stride the caller's tensors. Bodies therefore work on tensors of the call's own, made while the lock is held: the same
storage, the geometry of that moment, and a reference to what owns the bytes. Structured kernels give such tensors to their body
when one of the call's is large, or the body is in Python; kernels that have no shape function make them, first thing.
"""
from dispatch._C.tensor cimport Tensor

cdef enum:
    LONG_RUN = 1 << 15           # elements from which a loop may give up the interpreter's lock

cdef Tensor new_steady(Tensor t)                     # the tensor itself where it has no bytes; None stays
cdef list steady_items(list items)                   # items that are no tensors stay, lists of them too
cdef bint has_long(list items) noexcept

cdef inline bint is_long(Tensor t) noexcept:
    return t is not None and t.c_numel >= LONG_RUN

cdef inline Tensor steady(Tensor t):
    return new_steady(t) if is_long(t) else t
