"""Windows of a convolution as columns of a matrix, in blocks of rows of positions."""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from dispatch.kernels.cpu.conv.depthwise cimport Conv, number

cdef enum:
    BLOCK = 1 << 19              # bytes of a block of columns: bounds the memory

ctypedef fused word:             # an element that is only moved
    uint16_t
    uint32_t
    uint64_t


cdef inline int64_t rows_at_once(const Conv* c, size_t item) noexcept nogil:
    """Rows of positions whose columns fit into a block; all blocks have about as many."""
    cdef int64_t rows = c.y.size[0] * c.y.size[1]
    cdef int64_t most = max(BLOCK // max(c.depth * c.y.size[2] * <int64_t>item, 1), 1)
    cdef int64_t blocks = (rows + most - 1) // most
    return max((rows + blocks - 1) // blocks, 1)


# Columns (channels and taps, positions) of rows first..end of positions, or lines where channels are last.
cdef void lay_out_any(const Conv* c, void* to, const void* x, int64_t first, int64_t end) noexcept nogil
# Adds columns to where they were taken from.
cdef void take_back(const Conv* c, number* x, const number* columns, int64_t first, int64_t end) noexcept nogil
