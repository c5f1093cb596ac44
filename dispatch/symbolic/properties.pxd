"""Sources of a tensor's own numbers: every symbol has one, so they are compiled."""

cdef class Source:
    pass


cdef class TensorPropertySource(Source):
    cdef readonly object base, prop, idx
    cdef str known                       # its name, once somebody has asked

    cdef str own_name(self)


cdef TensorPropertySource property_source(object base, object prop, object idx)
