"""Tensors that stay as they are for the time of a call. See `steady.pxd` for the idea.

Called by the emitted adapters (`unboxing`), by `structured`, and by kernels that have no shape function. The reference
to the bytes' owner stands in `c_extra`, which only functional wrappers use otherwise, and they have no bytes.
"""
from dispatch._C.storage cimport has_bytes, shared_owner
from dispatch._C.tensor cimport (
    TF_GEOMETRY_KEPT, TF_INFERENCE, TF_SYMBOLIC, TF_WRAPPED_NUMBER, Tensor, set_known_geometry,
)


cdef Tensor new_steady(Tensor t):
    cdef Tensor s
    if t is None or t.c_flags & TF_SYMBOLIC or not has_bytes(t.c_storage):
        return t
    s = Tensor.__new__(Tensor)           # first of all: to allocate may run anybody's finalizers
    s.c_storage = t.c_storage
    s.c_devtype = t.c_devtype
    s.c_devindex = t.c_devindex
    s.c_dtype = t.c_dtype
    s.c_layout = t.c_layout
    s.c_keys = t.c_keys
    s.c_flags = t.c_flags & (TF_INFERENCE | TF_WRAPPED_NUMBER)
    set_known_geometry(s, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset, t.c_numel, t.c_flags & TF_GEOMETRY_KEPT, None)
    s.c_array = t.c_array
    s.c_extra = shared_owner(s.c_storage)
    return s


cdef list steady_items(list items):
    return [new_steady(<Tensor>t) if isinstance(t, Tensor) else t for t in items]


cdef bint has_long(list items) noexcept:
    for t in items:
        if isinstance(t, Tensor) and is_long(<Tensor>t):
            return True
    return False
