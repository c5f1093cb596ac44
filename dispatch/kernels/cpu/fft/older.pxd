"""What numpy 1 has for transforms, as inner loops of numpy 2 (`gemm.inner_loop`)."""
from dispatch.kernels.cpu.matrix.gemm cimport inner_loop

cdef enum:                       # what `data` of such a loop says
    OLDER_DOUBLE = 1
    OLDER_FORWARD = 2
    OLDER_HALF = 4               # real to complex: the half that tells all
    OLDER_REAL = 8               # back from there

cdef inner_loop find_older() except NULL
