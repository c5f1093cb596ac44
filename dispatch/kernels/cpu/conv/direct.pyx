"""Convolutions of float32 without a matrix of columns: channels first, more than one of them in a group.

Called by `convolution`, without the lock. Some rows of all of a group's planes are copied with their padding, so that each
tap is a shift. `wide`: channels out are lanes of vectors, at some positions of a row at a time. Else positions are: the planes
are split by the stride into phases (every second row and column), so that the windows of neighbouring positions lie side by
side, and positions are numbered through over the padded rows; what lies between two rows is computed and dropped.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from dispatch._C.dtypes cimport ST_float32
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "vectorised.h":
    pass

cdef extern from "conv/direct.h" nogil:
    enum:
        DIRECT_ROWS
        DIRECT_WIDTH
        WIDE_ROWS
        WIDE_LEAST
        WIDE_MOST
    bint has_direct()
    void direct_columns(float* to, const float* w, int64_t row, int64_t channels, int64_t channel, int64_t taps, int64_t step)
    void direct_tile(const float* w, const float* x, int64_t channels, int64_t plane, const int64_t* shifts, int64_t taps,
                     int64_t count, float* to)
    void wide_columns(float* to, const float* w, int64_t row, int64_t count, int64_t step)
    void wide_tile(int64_t n, int64_t s, const float* w, const float* x, int64_t channels, int64_t plane, const int64_t* shifts,
                   int64_t taps, float* y, int64_t channel)

cdef enum:
    LEAST = 1 << 17              # multiplications from which the copies pay
    LONG = 8 * 48                # positions of single elements for which the weights are packed
    BAND = 1 << 20               # bytes of copied planes: they stay in the second cache
    BLOCKS = 4                   # of channels out, from which they are shared by threads

cdef struct Planes:              # how a band of rows lies
    bint wide
    int64_t channels             # out, of a tile
    int64_t positions            # of a wide tile
    int64_t rows                 # of positions, at once
    int64_t split[3]             # elements from one of a phase to the next
    int64_t phases[3]            # along each dimension; along the first each tap has slices of its own
    int64_t height, width        # of a phase
    int64_t plane                # of a channel, with all its phases


cdef inline int64_t span(const Conv* c, int i) noexcept nogil:
    return (c.w.kernel[i] - 1) * c.w.dilation[i]


cdef void lay_planes(const Conv* c, Planes* p) noexcept nogil:
    cdef int64_t n = c.y.size[2], bands, most
    cdef int i
    p.wide = not c.plain and c.cy % WIDE_ROWS == 0 and n >= WIDE_LEAST and c.w.stride[2] <= 2
    p.channels, bands = WIDE_ROWS if p.wide else DIRECT_ROWS, (n + WIDE_MOST - 1) // WIDE_MOST
    p.positions = (n + bands - 1) // bands
    p.phases[0] = c.w.kernel[0]
    for i in range(1, 3):
        p.split[i] = 1 if p.wide else c.w.stride[i]
        p.phases[i] = min(p.split[i], span(c, i) + 1)
    p.width = ((n - 1) * c.w.stride[2] + span(c, 2)) // p.split[2] + 1
    most = BAND // (c.cx * p.phases[0] * p.phases[1] * p.phases[2] * p.width * <int64_t>sizeof(float))
    most = min(max((most * p.split[1] - 1 - span(c, 1)) // c.w.stride[1] + 1, 1), c.y.size[1])
    bands = (c.y.size[1] + most - 1) // most
    p.rows = (c.y.size[1] + bands - 1) // bands
    p.height = ((p.rows - 1) * c.w.stride[1] + span(c, 1)) // p.split[1] + 1
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
    # little is dropped; a row does not fill the cache
    return (p.wide or d.y.size[2] * 5 >= p.width * 4) and p.plane * d.cx <= BAND


cdef inline int64_t blocks_of(const Conv* c, const Planes* p) noexcept nogil:
    """Of channels out: rows of tiles."""
    return (c.cy + p.channels - 1) // p.channels


cdef int64_t direct_parts(const Conv* c, bint back) noexcept nogil:
    """Threads that have images, or slices of them, of their own; 1: whoever works on a band shares it."""
    cdef Conv d = seen(c, back)
    cdef int64_t units = units_of(&d), parts = parts_for(units, units * d.y.size[1] * d.y.size[2] * d.depth * d.y.c // 4)
    return parts if units % parts == 0 or units >= 4 * parts else 1


cdef inline int64_t units_of(const Conv* c) noexcept nogil:
    """Slices of all images: what shares no copy with others."""
    return c.y.n * c.y.size[0]


cdef inline int64_t room_of_planes(const Conv* c, const Planes* p) noexcept nogil:
    """In floats: a thread's own."""
    return 0 if c.plain else c.cx * p.plane + DIRECT_WIDTH


cdef int64_t direct_room(const Conv* c, bint back, int64_t parts) noexcept nogil:
    cdef Conv d = seen(c, back)
    cdef Planes p
    lay_planes(&d, &p)
    return d.taps * sizeof(int64_t) \
        + (blocks_of(&d, &p) * p.channels * d.depth + parts * room_of_planes(&d, &p)) * sizeof(float)


cdef void pack_few(const Conv* c, float* to, const float* w, int64_t n, int64_t row, int64_t column, int64_t step) noexcept nogil:
    """Zeros where there are fewer than DIRECT_ROWS."""
    cdef int64_t e, t, i
    for e in range(c.cx):
        for t in range(c.taps):
            for i in range(n):
                to[i] = w[i * row + e * column + t * step]
            for i in range(n, DIRECT_ROWS):
                to[i] = 0
            to += DIRECT_ROWS


cdef void pack_weights(const Conv* c, const Planes* p, float* to, const float* w, int64_t block, bint back) noexcept nogil:
    """Those of a block of channels out, beside each other."""
    cdef int64_t e, n = min(p.channels, c.cy - block * p.channels), row = c.depth, column = c.taps, step = 1
    if back:
        row, column, step = c.taps, c.cy * c.taps, -1
        w += c.taps - 1
    w += block * p.channels * row
    if p.wide and back:
        for e in range(c.cx):
            wide_columns(to + e * c.taps * WIDE_ROWS, w + e * column, row, c.taps, step)
    elif p.wide:
        wide_columns(to, w, row, c.depth, step)
    elif n == DIRECT_ROWS:
        direct_columns(to, w, row, c.cx, column, c.taps, step)
    else:
        pack_few(c, to, w, n, row, column, step)


cdef void set_shifts(const Conv* c, const Planes* p, int64_t* to) noexcept nogil:
    cdef int64_t d, h, k, i, j
    for d in range(c.w.kernel[0]):
        for h in range(c.w.kernel[1]):
            for k in range(c.w.kernel[2]):
                i, j = h * c.w.dilation[1], k * c.w.dilation[2]
                to[0] = ((d * p.phases[1] + i % p.split[1]) * p.phases[2] + j % p.split[2]) * p.height * p.width \
                    + i // p.split[1] * p.width + j // p.split[2]
                to += 1


cdef inline void copy_row(const Conv* c, float* to, const float* line, int64_t s, int64_t phase, int64_t width) noexcept nogil:
    """A phase of a line: every s elements, zeros outside."""
    cdef int64_t at = phase - c.w.padding[2], low, high, i
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


cdef struct Band:
    const Conv* c
    const Planes* p
    float* y
    const float* x               # the group's, of an image
    float* planes
    const float* w               # the group's, as they are
    float* packed
    const int64_t* shifts
    int64_t slice, row           # of positions, the first
    int64_t plane, count         # of a channel; positions, or tiles of them
    bint by_blocks               # tiles of positions are walked inside those of channels
    bint once                    # and the weights packed just before they are used: they stay in the second cache
    bint back


cdef void copy_planes(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """What the windows of a band's rows see, of channels first..end."""
    cdef const Band* b = <const Band*>context
    cdef const Conv* c = b.c
    cdef const Planes* p = b.p
    cdef const float* x = b.x + first * c.x.plane
    cdef float* to = b.planes + first * p.plane
    cdef int64_t e, d, u, v, r, i, j
    for e in range(first, end):
        for d in range(p.phases[0]):
            i = b.slice * c.w.stride[0] - c.w.padding[0] + d * c.w.dilation[0]
            for u in range(p.phases[1]):
                for v in range(p.phases[2]):
                    for r in range(p.height):
                        j = b.row * c.w.stride[1] + r * p.split[1] + u - c.w.padding[1]
                        if i < 0 or i >= c.x.size[0] or j < 0 or j >= c.x.size[1]:
                            memset(to, 0, p.width * sizeof(float))
                        else:
                            copy_row(c, to, x + (i * c.x.size[1] + j) * c.x.size[2], p.split[2], v, p.width)
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


cdef inline void multiply_tile(const Band* b, int64_t block, int64_t i, const float* w) noexcept nogil:
    """The i-th tile of positions."""
    cdef const Conv* c = b.c
    cdef const Planes* p = b.p
    cdef float tile[DIRECT_ROWS * DIRECT_WIDTH]
    cdef int64_t at, row, tiles
    cdef float* y = b.y + block * p.channels * c.y.plane
    if p.wide:
        tiles = (c.y.size[2] + p.positions - 1) // p.positions
        row = i // tiles
        at = min((i - row * tiles) * p.positions, c.y.size[2] - p.positions)
        wide_tile(p.positions, c.w.stride[2], w, b.planes + row * c.w.stride[1] * p.width + at * c.w.stride[2], c.cx, b.plane,
                  b.shifts, c.taps, y + row * c.y.size[2] + at, c.y.plane)
        return
    at = i * DIRECT_WIDTH
    if c.plain:                  # x itself, behind which nothing is read
        at = min(at, b.count - DIRECT_WIDTH)
    direct_tile(w, b.planes + at, c.cx, b.plane, b.shifts, c.taps, b.count - at, tile)
    put_tile(c, y, tile, min(DIRECT_ROWS, c.cy - block * DIRECT_ROWS), at, min(DIRECT_WIDTH, b.count - at), p.width)


cdef inline int64_t tiles_of(const Band* b) noexcept nogil:
    return b.count if b.p.wide else (b.count + DIRECT_WIDTH - 1) // DIRECT_WIDTH


cdef inline float* packed_of(const Band* b, int64_t block) noexcept nogil:
    return b.packed + block * b.p.channels * b.c.depth


cdef void pack_blocks(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef const Band* b = <const Band*>context
    cdef int64_t block
    for block in range(first, end):
        pack_weights(b.c, b.p, packed_of(b, block), b.w, block, b.back)


cdef void multiply_blocks(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef const Band* b = <const Band*>context
    cdef float* w
    cdef int64_t block, i
    for block in range(first, end):
        w = packed_of(b, part if b.once else block)
        if b.once:
            pack_weights(b.c, b.p, w, b.w, block, b.back)
        for i in range(tiles_of(b)):
            multiply_tile(b, block, i, w)


cdef void multiply_positions(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef const Band* b = <const Band*>context
    cdef int64_t block, i
    for i in range(first, end):
        for block in range(blocks_of(b.c, b.p)):
            multiply_tile(b, block, i, packed_of(b, block))


cdef void multiply_band(Band* b, int64_t rows) noexcept nogil:
    """Tiles of positions and of channels; the larger side is walked once, by several threads."""
    cdef const Conv* c = b.c
    cdef const Planes* p = b.p
    cdef int64_t outer
    if not c.plain:
        in_spans(copy_planes, b, c.cx, parts_for(c.cx, c.cx * p.plane * sizeof(float)))
    b.count = rows * ((c.y.size[2] + p.positions - 1) // p.positions) if p.wide else (rows - 1) * p.width + c.y.size[2]
    outer = blocks_of(c, p) if b.by_blocks else tiles_of(b)
    in_spans(multiply_blocks if b.by_blocks else multiply_positions, b, outer,
             parts_for(outer, rows * c.y.size[2] * c.depth * c.cy // 4))


cdef struct Images:              # of a group
    Band band                    # that of the first thread
    const float* x               # of all images
    float* y
    int64_t planes               # from one thread's copies to the next


cdef void take_units(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Slices of images, band by band."""
    cdef Images* j = <Images*>context
    cdef Band b = j.band
    cdef const Conv* c = b.c
    cdef const Planes* p = b.p
    cdef int64_t u, n
    b.planes += part * j.planes
    if not c.plain:
        memset(b.planes + c.cx * p.plane, 0, DIRECT_WIDTH * sizeof(float))   # read behind the last position, never kept
    for u in range(first, end):
        n, b.slice, b.row = u // c.y.size[0], u % c.y.size[0], 0
        b.x = j.x + n * c.x.c * c.x.plane
        b.y = j.y + n * c.y.c * c.y.plane
        if c.plain:
            b.planes = <float*>b.x                                           # which are only read
            multiply_band(&b, 1)
            continue
        while b.row < c.y.size[1]:
            b.y = j.y + n * c.y.c * c.y.plane + (b.slice * c.y.size[1] + b.row) * c.y.size[2]
            multiply_band(&b, min(p.rows, c.y.size[1] - b.row))
            b.row += p.rows


cdef void direct(const Conv* convolution, float* y, const float* x, const float* w, char* room, bint back,
                 int64_t parts) noexcept nogil:
    cdef Conv d = seen(convolution, back)
    cdef const Conv* c = &d
    cdef Planes p
    cdef Images j
    cdef Band* b = &j.band
    cdef int64_t g, blocks
    cdef int64_t* shifts = <int64_t*>room
    lay_planes(c, &p)
    set_shifts(c, &p, shifts)
    blocks, j.planes = blocks_of(c, &p), room_of_planes(c, &p)
    b.c, b.p, b.shifts, b.packed, b.back = c, &p, shifts, <float*>(shifts + c.taps), back
    b.plane = c.x.plane if c.plain else p.plane
    b.by_blocks = blocks >= BLOCKS and blocks * p.channels * c.taps > b.plane
    b.once = b.by_blocks and c.y.n == 1 and (c.plain or c.y.size[0] == 1 and p.rows == c.y.size[1])
    b.planes = b.packed + blocks * p.channels * c.depth
    for g in range(c.groups):
        b.w = w + g * c.cy * c.depth
        if not b.once:
            in_spans(pack_blocks, b, blocks, parts_for(blocks, blocks * p.channels * c.depth * sizeof(float)))
        j.x, j.y = x + g * c.cx * c.x.plane, y + g * c.cy * c.y.plane
        in_spans(take_units, &j, units_of(c), parts)
