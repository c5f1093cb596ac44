"""Convolutions of float32 without a matrix of columns: channels first, more than one of them in a group.

Called by `convolution`, without the lock. Some rows of all of a group's planes are copied with their padding, split by the
stride into phases (every second row and column), so that the windows of neighbouring positions lie side by side and each tap
is a shift. Positions are numbered through over the padded rows; what lies between two rows is computed and dropped.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from dispatch._C.dtypes cimport ST_float32
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "conv/direct.h" nogil:
    enum:
        DIRECT_ROWS
        DIRECT_WIDTH
    bint has_direct()
    void direct_columns(float* to, const float* w, int64_t row, int64_t channels, int64_t channel, int64_t taps, int64_t step)
    void direct_tile(const float* w, const float* x, int64_t channels, int64_t plane, const int64_t* shifts, int64_t taps,
                     int64_t count, float* to)

cdef enum:
    LEAST = 1 << 17              # multiplications from which the copies pay
    LONG = 8 * 48                # positions of single elements for which the weights are packed
    BAND = 1 << 20               # bytes of copied planes: they stay in the second cache

cdef struct Planes:              # how a band of rows lies
    int64_t rows                 # of positions, at once
    int64_t phases[3]            # along each dimension; along the first each tap has slices of its own
    int64_t height, width        # of a phase
    int64_t plane                # of a channel, with all its phases


cdef inline int64_t span(const Conv* c, int i) noexcept nogil:
    return (c.w.kernel[i] - 1) * c.w.dilation[i]


cdef void lay_planes(const Conv* c, Planes* p) noexcept nogil:
    cdef int64_t bands, most
    p.phases[0] = c.w.kernel[0]
    p.phases[1], p.phases[2] = min(c.w.stride[1], span(c, 1) + 1), min(c.w.stride[2], span(c, 2) + 1)
    p.width = c.y.size[2] + span(c, 2) // c.w.stride[2]
    most = BAND // (c.cx * p.phases[0] * p.phases[1] * p.phases[2] * p.width * <int64_t>sizeof(float))
    most = min(max(most - span(c, 1) // c.w.stride[1], 1), c.y.size[1])
    bands = (c.y.size[1] + most - 1) // most
    p.rows = (c.y.size[1] + bands - 1) // bands
    p.height = p.rows + span(c, 1) // c.w.stride[1]
    p.plane = p.phases[0] * p.phases[1] * p.phases[2] * p.height * p.width


cdef Conv seen(const Conv* c, bint back) noexcept nogil:
    """The convolution forward, which leads from y to x where windows lie side by side; single elements are one line."""
    cdef Conv d = c[0]
    cdef int i
    if back:
        d.x, d.y, d.cx, d.cy = c.y, c.x, c.cy, c.cx
        d.depth = d.cx * c.taps
        for i in range(3):
            d.w.padding[i] = span(c, i) - c.w.padding[i]
    if c.plain:
        for i in range(2):
            d.x.size[i] = d.y.size[i] = 1
        d.x.size[2] = d.y.size[2] = c.y.plane
    return d


cdef bint is_direct(const Conv* c, bint back) noexcept nogil:
    cdef Conv d
    cdef Planes p
    cdef int i
    if c.code != ST_float32 or c.operand != ST_float32 or c.last or c.x.plane == 0 or not has_direct():
        return False
    for i in range(3):
        if back and c.w.stride[i] != 1:
            return False
    d = seen(c, back)
    if d.depth < 8 or d.cy < DIRECT_ROWS // 2 or d.y.plane * d.depth * d.cy < LEAST:
        return False
    if d.plain:
        return d.y.plane >= LONG
    lay_planes(&d, &p)
    return d.y.size[2] * 5 >= p.width * 4 and p.plane * d.cx <= BAND     # little is dropped; a row does not fill the cache


cdef inline int64_t packed_rows(const Conv* c) noexcept nogil:
    return (c.cy + DIRECT_ROWS - 1) // DIRECT_ROWS


cdef int64_t direct_room(const Conv* c, bint back) noexcept nogil:
    cdef Conv d = seen(c, back)
    cdef Planes p
    lay_planes(&d, &p)
    return d.taps * sizeof(int64_t) \
        + (packed_rows(&d) * DIRECT_ROWS * d.depth + (0 if d.plain else d.cx * p.plane + DIRECT_WIDTH)) * sizeof(float)


cdef void pack_weights(const Conv* c, float* to, const float* w, bint back) noexcept nogil:
    """A group's weights, those of DIRECT_ROWS channels out beside each other; zeros where there are fewer."""
    cdef int64_t o, e, t, i, n, row = c.depth, column = c.taps, step = 1
    if back:
        row, column, step = c.taps, c.cy * c.taps, -1
        w += c.taps - 1
    for o in range(packed_rows(c)):
        n = min(DIRECT_ROWS, c.cy - o * DIRECT_ROWS)
        if n == DIRECT_ROWS:
            direct_columns(to, w + o * DIRECT_ROWS * row, row, c.cx, column, c.taps, step)
            to += DIRECT_ROWS * c.depth
            continue
        for e in range(c.cx):
            for t in range(c.taps):
                for i in range(n):
                    to[i] = w[(o * DIRECT_ROWS + i) * row + e * column + t * step]
                for i in range(n, DIRECT_ROWS):
                    to[i] = 0
                to += DIRECT_ROWS


cdef void set_shifts(const Conv* c, const Planes* p, int64_t* to) noexcept nogil:
    cdef int64_t d, h, k, i, j
    for d in range(c.w.kernel[0]):
        for h in range(c.w.kernel[1]):
            for k in range(c.w.kernel[2]):
                i, j = h * c.w.dilation[1], k * c.w.dilation[2]
                to[0] = ((d * p.phases[1] + i % c.w.stride[1]) * p.phases[2] + j % c.w.stride[2]) * p.height * p.width \
                    + i // c.w.stride[1] * p.width + j // c.w.stride[2]
                to += 1


cdef inline void copy_row(const Conv* c, float* to, const float* line, int64_t phase, int64_t width) noexcept nogil:
    """A phase of a line: every `stride` elements, zeros outside."""
    cdef int64_t s = c.w.stride[2], at = phase - c.w.padding[2], low, high, i
    low = min(0 if at >= 0 else (s - 1 - at) // s, width)
    high = min(max(0 if c.x.size[2] <= at else (c.x.size[2] - at + s - 1) // s, low), width)
    for i in range(low):
        to[i] = 0
    for i in range(high, width):
        to[i] = 0
    if s == 1:
        memcpy(to + low, line + low + at, (high - low) * sizeof(float))
    elif s == 2:
        for i in range(low, high):
            to[i] = line[2 * i + at]
    else:
        for i in range(low, high):
            to[i] = line[i * s + at]


cdef void copy_planes(const Conv* c, const Planes* p, float* to, const float* x, int64_t slice, int64_t first) noexcept nogil:
    """What the windows of rows `first` and on of a slice of positions see, channel by channel."""
    cdef int64_t e, d, a, b, r, i, j
    for e in range(c.cx):
        for d in range(p.phases[0]):
            i = slice * c.w.stride[0] - c.w.padding[0] + d * c.w.dilation[0]
            for a in range(p.phases[1]):
                for b in range(p.phases[2]):
                    for r in range(p.height):
                        j = (first + r) * c.w.stride[1] + a - c.w.padding[1]
                        if i < 0 or i >= c.x.size[0] or j < 0 or j >= c.x.size[1]:
                            memset(to, 0, p.width * sizeof(float))
                        else:
                            copy_row(c, to, x + (i * c.x.size[1] + j) * c.x.size[2], b, p.width)
                        to += p.width
        x += c.x.plane


cdef inline void put_tile(const Conv* c, float* y, const float* tile, int64_t rows, int64_t at, int64_t count,
                          int64_t width) noexcept nogil:
    """Positions at..at+count of some channels to where they belong, but for those between rows."""
    cdef int64_t row = at // width, column = at % width, n, i, done = 0
    while done < count:
        n = min(count - done, width - column)
        if column < c.y.size[2]:
            for i in range(rows):
                memcpy(y + i * c.y.plane + row * c.y.size[2] + column, tile + i * DIRECT_WIDTH + done,
                       min(n, c.y.size[2] - column) * sizeof(float))
        done, row, column = done + n, row + 1, 0


cdef struct Band:
    const Conv* c
    float* y
    const float* planes
    const float* w
    const int64_t* shifts
    int64_t plane, width, count  # of a channel; of a row; positions
    bint by_rows                 # tiles of positions are walked inside those of channels


cdef void multiply_tiles(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Band* b = <Band*>context
    cdef float tile[DIRECT_ROWS * DIRECT_WIDTH]
    cdef int64_t i, j, o, at, inner = (b.count + DIRECT_WIDTH - 1) // DIRECT_WIDTH if b.by_rows else packed_rows(b.c)
    for i in range(first, end):
        for j in range(inner):
            o, at = (i if b.by_rows else j) * DIRECT_ROWS, (j if b.by_rows else i) * DIRECT_WIDTH
            if b.c.plain:                # x itself, behind which nothing is read
                at = min(at, b.count - DIRECT_WIDTH)
            direct_tile(b.w + o * b.c.depth, b.planes + at, b.c.cx, b.plane, b.shifts, b.c.taps, b.count - at, tile)
            put_tile(b.c, b.y + o * b.c.y.plane, tile, min(DIRECT_ROWS, b.c.cy - o), at, min(DIRECT_WIDTH, b.count - at), b.width)


cdef void multiply_band(const Conv* c, const Planes* p, float* y, const float* planes, const float* w, const int64_t* shifts,
                        int64_t rows) noexcept nogil:
    """Tiles of positions and of channels; the larger side is walked once, by several threads."""
    cdef Band b
    cdef int64_t outer
    b.c, b.y, b.planes, b.w, b.shifts, b.plane, b.width = c, y, planes, w, shifts, c.x.plane if c.plain else p.plane, p.width
    b.count = (rows - 1) * p.width + c.y.size[2]
    b.by_rows = packed_rows(c) * DIRECT_ROWS * c.taps > b.plane
    outer = packed_rows(c) if b.by_rows else (b.count + DIRECT_WIDTH - 1) // DIRECT_WIDTH
    in_spans(multiply_tiles, &b, outer, parts_for(outer, b.count * c.depth * c.cy // 4))


cdef void direct(const Conv* convolution, float* y, const float* x, const float* w, char* room, bint back) noexcept nogil:
    cdef Conv d = seen(convolution, back)
    cdef const Conv* c = &d
    cdef Planes p
    cdef int64_t n, g, slice, row, rows
    cdef int64_t* shifts = <int64_t*>room
    cdef float* packed = <float*>(shifts + c.taps)
    cdef float* planes = packed + packed_rows(c) * DIRECT_ROWS * c.depth
    cdef const float* group
    lay_planes(c, &p)
    set_shifts(c, &p, shifts)
    if not c.plain:
        memset(planes + c.cx * p.plane, 0, DIRECT_WIDTH * sizeof(float))     # read behind the last position, never kept
    for g in range(c.groups):
        pack_weights(c, packed, w + g * c.cy * c.depth, back)
        for n in range(c.y.n):
            group = x + (n * c.x.c + g * c.cx) * c.x.plane
            if c.plain:
                multiply_band(c, &p, y + (n * c.y.c + g * c.cy) * c.y.plane, group, packed, shifts, 1)
                continue
            for slice in range(c.y.size[0]):
                row = 0
                while row < c.y.size[1]:
                    rows = min(p.rows, c.y.size[1] - row)
                    copy_planes(c, &p, planes, group, slice, row)
                    multiply_band(c, &p, y + (n * c.y.c + g * c.cy) * c.y.plane + (slice * c.y.size[1] + row) * c.y.size[2],
                                  planes, packed, shifts, rows)
                    row += rows
