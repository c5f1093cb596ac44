"""ValueRanges, with its bounds as the core has them: an infinite one is a float."""

cdef class ValueRanges:
    cdef readonly object low, high
    cdef bint whole                      # of whole numbers

cdef ValueRanges new_range(object low, object high, bint whole)
