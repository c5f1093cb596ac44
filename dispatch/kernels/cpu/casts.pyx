"""The table of cast loops (`casts.h`), filled once for the processor that this runs on.

Who calls: the driver of elementwise loops, and whoever copies between dtypes.
"""
from dispatch._C.dtypes cimport ST_COUNT

cdef extern from "casts.h" nogil:
    cast_loop CASTS[ST_COUNT][ST_COUNT]
    void fill_casts()

fill_casts()


cdef cast_loop get_cast(int from_, int to) noexcept nogil:
    return CASTS[from_][to]
