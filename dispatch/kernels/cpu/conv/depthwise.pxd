"""A convolution as loops see it, and those of depthwise layers: one channel in for each group, rows added up.

`x` is the side that windows see, `y` the one that they lead to, both without gaps.
"""
from libc.stdint cimport int64_t

from dispatch.kernels.cpu.dense cimport Image
from dispatch.kernels.meta.pool.windows cimport Windows

ctypedef fused number:
    float
    double
    int64_t

cdef struct Conv:
    Windows w
    Image x, y
    int64_t groups, cx, cy       # channels of a group on each side
    int64_t taps, depth          # depth: cx * taps
    int code, operand            # dtypes of sums, and of what is multiplied: bfloat16 where the processor does that
    int64_t wide, item           # their sizes
    bint last                    # channels last
    bint plain                   # windows of one element side by side, no padding
    bint failed                  # there was no memory for a product


cdef inline void reach(const Conv* c, int64_t k, int64_t* first, int64_t* end) noexcept nogil:
    """The positions of the innermost dimension whose tap k lies inside."""
    cdef int64_t at = k * c.w.dilation[2] - c.w.padding[2], s = c.w.stride[2]
    if s == 1:                   # which is common, and a division slow
        first[0] = min(max(-at, 0), c.y.size[2])
        end[0] = max(min(c.x.size[2] - at, c.y.size[2]), first[0])
        return
    first[0] = 0 if at >= 0 else (s - 1 - at) // s
    end[0] = 0 if c.x.size[2] <= at else min((c.x.size[2] - at + s - 1) // s, c.y.size[2])
    first[0] = min(first[0], c.y.size[2])
    end[0] = max(end[0], first[0])


cdef inline int64_t line_of(const Conv* c, int64_t row, int64_t d, int64_t h) noexcept nogil:
    """Where the line begins that tap (d, h) of a row of positions sees; -1: in the padding."""
    cdef int64_t slice = 0 if c.y.size[0] == 1 else row // c.y.size[1]
    cdef int64_t i = slice * c.w.stride[0] - c.w.padding[0] + d * c.w.dilation[0]
    cdef int64_t j = (row - slice * c.y.size[1]) * c.w.stride[1] - c.w.padding[1] + h * c.w.dilation[1]
    if i < 0 or i >= c.x.size[0] or j < 0 or j >= c.x.size[1]:
        return -1
    return (i * c.x.size[1] + j) * c.x.size[2]


cdef inline bint is_depthwise(const Conv* c) noexcept nogil:
    return c.cx == 1 and c.groups > 1 and not c.plain and (c.cy == 1 or not c.last)

# Whether the way back is the way forward with turned weights.
cdef bint is_forward_back(const Conv* c) noexcept nogil
# Channels first: forward, backward (`turned`: room for as many weights), the gradient of the weights.
cdef void depthwise_first(const Conv* c, number* y, const number* x, const number* w) noexcept nogil
cdef void depthwise_back(const Conv* c, number* x, const number* y, const number* w, number* turned) noexcept nogil
cdef void depthwise_of_weight(const Conv* c, number* gw, const number* y, const number* x) noexcept nogil
# Channels last, as many out as in: weights (taps, channels); `taps`: room for two numbers for each in every part; `sums`: as
# for weights.
cdef void depthwise_last(const Conv* c, number* y, const number* x, const number* w, int64_t* taps) noexcept nogil
cdef void depthwise_back_last(const Conv* c, number* x, const number* y, const number* w, number* turned,
                              int64_t* taps) noexcept nogil
cdef void depthwise_of_weight_last(const Conv* c, number* gw, const number* y, const number* x, number* sums) noexcept nogil
