"""Windows of a convolution copied into columns, and columns added to where they were taken from.

Called by `convolution`, without the lock, for a block of rows of positions at a time. Channels first give columns (channels and
taps, positions), channels last lines (positions, taps and channels).
"""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from dispatch.kernels.cpu.conv.depthwise cimport Conv, line_of, number, reach

cdef extern from "vectorised.h":
    pass

cdef extern from "conv/columns.h" nogil:
    void add_columns_f32(float* x, const float* columns, int64_t n, int64_t s)
    void add_columns_f64(double* x, const double* columns, int64_t n, int64_t s)
    void add_columns_i64(int64_t* x, const int64_t* columns, int64_t n, int64_t s)
    void add_pairs_f32(float* x, const float* a, const float* b, int64_t n)
    void add_pairs_f64(double* x, const double* a, const double* b, int64_t n)
    void add_pairs_i64(int64_t* x, const int64_t* a, const int64_t* b, int64_t n)


cdef inline void clear_ends(word* to, int64_t low, int64_t high, int64_t width) noexcept nogil:
    """What of a row is outside."""
    cdef int64_t i
    for i in range(low):
        to[i] = 0
    for i in range(high, width):
        to[i] = 0


cdef int64_t lay_run(const Conv* c, word* to, const word* x, int64_t row, int64_t end, int64_t d, int64_t h, int64_t low,
                     int64_t high, int64_t shift) noexcept nogil:
    """Rows from `row` on whose lines follow each other in x as they do in the columns, in one copy; how many.

    That is so where windows lie side by side and there are as many as elements: between two rows only what is cleared lies
    elsewhere.
    """
    cdef int64_t width = c.y.size[2], line = line_of(c, row, d, h), n = 1, r = row % c.y.size[1]
    if c.w.stride[1] == 1:
        n = min(end - row, c.y.size[1] - r, c.x.size[1] - (r - c.w.padding[1] + h * c.w.dilation[1]))
    memcpy(to + low, x + line + low + shift, (n * width - low - (width - high)) * sizeof(word))
    for r in range(n):
        clear_ends(to + r * width, low, high, width)
    return n


cdef void lay_out(const Conv* c, word* to, const word* x, int64_t first, int64_t end) noexcept nogil:
    """Columns (channels and taps, positions) of rows first..end of positions."""
    cdef int64_t e, d, h, k, row, line, i, n, low, high, shift, width = c.y.size[2], s = c.w.stride[2]
    cdef bint in_runs = s == 1 and c.x.size[2] == width
    for e in range(c.cx):
        for d in range(c.w.kernel[0]):
            for h in range(c.w.kernel[1]):
                for k in range(c.w.kernel[2]):
                    reach(c, k, &low, &high)
                    shift = k * c.w.dilation[2] - c.w.padding[2]
                    row = first
                    while row < end:
                        line, n = line_of(c, row, d, h), 1
                        if line < 0 or low >= high:
                            memset(to, 0, width * sizeof(word))
                        elif in_runs:
                            n = lay_run(c, to, x, row, end, d, h, low, high, shift)
                        else:
                            clear_ends(to, low, high, width)
                            if s == 1:
                                memcpy(to + low, x + line + low + shift, (high - low) * sizeof(word))
                            else:
                                for i in range(low, high):
                                    to[i] = x[line + i * s + shift]
                        to += n * width
                        row += n
        x += c.x.plane


cdef inline void add_columns(const Conv* c, number* line, const number* columns, int64_t k, int64_t low,
                             int64_t high) noexcept nogil:
    """Those of tap k at positions low..high, to a line."""
    cdef int64_t s = c.w.stride[2]
    line += low * s + k * c.w.dilation[2] - c.w.padding[2]
    if number is float:
        add_columns_f32(line, columns + low, high - low, s)
    elif number is double:
        add_columns_f64(line, columns + low, high - low, s)
    else:
        add_columns_i64(line, columns + low, high - low, s)


cdef inline void add_pairs(const Conv* c, number* line, const number* a, const number* b, int64_t k, int64_t low,
                           int64_t high) noexcept nogil:
    """The same of taps k and k + 1."""
    line += 2 * low + k - c.w.padding[2]
    if number is float:
        add_pairs_f32(line, a + low, b + low, high - low)
    elif number is double:
        add_pairs_f64(line, a + low, b + low, high - low)
    else:
        add_pairs_i64(line, a + low, b + low, high - low)


cdef void take_back(const Conv* c, number* x, const number* columns, int64_t first, int64_t end) noexcept nogil:
    """Adds columns to where they were taken from."""
    cdef int64_t e, d, h, k, row, line, width = c.y.size[2], tap = (end - first) * width
    cdef int64_t low, high, next_low = 0, next_high = 0
    cdef bint by_two
    for e in range(c.cx):
        for d in range(c.w.kernel[0]):
            for h in range(c.w.kernel[1]):
                k = 0
                while k < c.w.kernel[2]:
                    reach(c, k, &low, &high)
                    by_two = k + 1 < c.w.kernel[2] and c.w.stride[2] == 2 and c.w.dilation[2] == 1
                    if by_two:
                        reach(c, k + 1, &next_low, &next_high)     # begins no later, and ends no later
                    for row in range(first, end):
                        line = line_of(c, row, d, h)
                        if line >= 0 and by_two and low < next_high:
                            add_columns(c, x + line, columns + tap, k + 1, next_low, low)
                            add_pairs(c, x + line, columns, columns + tap, k, low, next_high)
                            add_columns(c, x + line, columns, k, next_high, high)
                        elif line >= 0:
                            add_columns(c, x + line, columns, k, low, high)
                            if by_two:
                                add_columns(c, x + line, columns + tap, k + 1, next_low, next_high)
                        columns += width
                    columns += tap if by_two else 0
                    k += 2 if by_two else 1
        x += c.x.plane


cdef void lay_out_last(const Conv* c, word* to, const word* x, int64_t first, int64_t end) noexcept nogil:
    """Lines (positions, taps and channels); x begins at the group's first channel."""
    cdef int64_t d, h, k, row, line, i, at
    cdef size_t pixel = c.cx * sizeof(word)
    for row in range(first, end):
        for i in range(c.y.size[2]):
            for d in range(c.w.kernel[0]):
                for h in range(c.w.kernel[1]):
                    line = line_of(c, row, d, h)
                    for k in range(c.w.kernel[2]):
                        at = i * c.w.stride[2] - c.w.padding[2] + k * c.w.dilation[2]
                        if line < 0 or at < 0 or at >= c.x.size[2]:
                            memset(to, 0, pixel)
                        else:
                            memcpy(to, x + (line + at) * c.x.c, pixel)
                        to += c.cx


cdef void lay_out_any(const Conv* c, void* to, const void* x, int64_t first, int64_t end) noexcept nogil:
    """Columns, or lines where channels are last."""
    if c.item == 2 and c.last:
        lay_out_last(c, <uint16_t*>to, <const uint16_t*>x, first, end)
    elif c.item == 2:
        lay_out(c, <uint16_t*>to, <const uint16_t*>x, first, end)
    elif c.item == 4 and c.last:
        lay_out_last(c, <uint32_t*>to, <const uint32_t*>x, first, end)
    elif c.item == 4:
        lay_out(c, <uint32_t*>to, <const uint32_t*>x, first, end)
    elif c.last:
        lay_out_last(c, <uint64_t*>to, <const uint64_t*>x, first, end)
    else:
        lay_out(c, <uint64_t*>to, <const uint64_t*>x, first, end)
