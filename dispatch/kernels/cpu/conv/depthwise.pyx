"""Loops of depthwise convolutions and of their gradients: rows, scaled and shifted, added up.

Called by `convolution`, without the lock. Small planes are laid out with their padding, and are long runs then (`planes.h`).
In others windows of 3 by 3 that lie side by side are made a row at a time from three lines, which is also the way back, with
turned weights. Threads share the planes.
"""
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C.dtypes cimport ST_float32, ST_float64, ST_int64
from dispatch.kernels.cpu.dense cimport Image
from dispatch.kernels.cpu.pixels cimport (
    LANES, add_lanes_f32, add_lanes_f64, add_scaled_f32, add_scaled_f64,
    add_scaled_halves_f32, add_scaled_halves_f64, add_three_f32, add_three_f64, mix_nine_f32, mix_nine_f64,
    mix_products_f32, mix_products_f64, sum_products_f32, sum_products_f64,
)

from dispatch.kernels.cpu.threads cimport in_spans, parts_for, span_fn

cdef extern from "vectorised.h":
    pass

cdef extern from "planes.h" nogil:
    enum:
        PLANE_ROOM, PLANE_SLACK, PLANE_TAPS
    ctypedef struct plane_layout:
        int64_t rows, columns, down, right, first
    void lay_plane_f32(float* to, const float* x, const plane_layout* l) noexcept
    void lay_plane_f64(double* to, const double* x, const plane_layout* l) noexcept
    void take_plane_f32(float* to, const float* x, const plane_layout* l) noexcept
    void take_plane_f64(double* to, const double* x, const plane_layout* l) noexcept
    void mix_taps_f32(float* to, const float* x, const float* w, const int64_t* at, int64_t taps, int64_t n, int64_t runs,
                      int64_t step) noexcept
    void mix_taps_f64(double* to, const double* x, const double* w, const int64_t* at, int64_t taps, int64_t n, int64_t runs,
                      int64_t step) noexcept
    void sum_taps_f32(float* sums, const float* g, const float* x, const float* mask, const int64_t* at, int64_t taps,
                      int64_t n) noexcept
    void sum_taps_f64(double* sums, const double* g, const double* x, const double* mask, const int64_t* at, int64_t taps,
                      int64_t n) noexcept
    void set_mask_f32(float* mask, const plane_layout* l) noexcept
    void set_mask_f64(double* mask, const plane_layout* l) noexcept

cdef enum:
    MOST_TAPS = 64               # of a window whose weights' gradients are added up in lanes


cdef inline void add_scaled(number* to, const number* x, number weight, int64_t n, int64_t step) noexcept nogil:
    cdef int64_t i
    if number is float:
        if step == 1:
            add_scaled_f32(to, x, weight, n)
            return
        if step == 2:
            add_scaled_halves_f32(to, x, weight, n)
            return
    elif number is double:
        if step == 1:
            add_scaled_f64(to, x, weight, n)
            return
        if step == 2:
            add_scaled_halves_f64(to, x, weight, n)
            return
    for i in range(n):
        to[i] += weight * x[i * step]


cdef inline void add_three(number* to, const number* x, const number* w, int64_t n) noexcept nogil:
    cdef int64_t i
    if number is float:
        add_three_f32(to, x, w, n)
    elif number is double:
        add_three_f64(to, x, w, n)
    else:
        for i in range(n):
            to[i] += w[0] * x[i] + w[1] * x[i + 1] + w[2] * x[i + 2]


cdef void add_taps(const Conv* c, number* y, const number* x, const number* w) noexcept nogil:
    """A row of one channel: what a line of x gives it. Three neighbours at once where all three are inside."""
    cdef int64_t k, low, high, shift, inner, last = c.w.kernel[2], first = 0
    if last == 3 and c.w.stride[2] == 1 and c.w.dilation[2] == 1:
        reach(c, 0, &inner, &high)
        reach(c, 2, &low, &high)
        if inner < high:
            add_three(y + inner, x + inner - c.w.padding[2], w, high - inner)
            for k in range(3):                       # the rest, at both ends
                reach(c, k, &low, &last)
                shift = k - c.w.padding[2]
                for first in range(low, min(inner, last)):
                    y[first] += w[k] * x[first + shift]
                for first in range(max(high, low), last):
                    y[first] += w[k] * x[first + shift]
            return
    for k in range(c.w.kernel[2]):
        reach(c, k, &low, &high)
        if low < high:
            add_scaled(y + low, x + low * c.w.stride[2] + k * c.w.dilation[2] - c.w.padding[2], w[k], high - low, c.w.stride[2])


cdef bint mix_lines(const Conv* c, int64_t row, int64_t d, number* y, const number* x, const number* w) noexcept nogil:
    """A row of windows of 3 by 3 side by side, at once: y's for the first slice `d`, added to it for others.

    False: they are other windows, or one of their lines is outside.
    """
    cdef int64_t low, high, last, a, b, e, i, k
    if number is int64_t:
        return False
    else:
        if c.w.kernel[2] != 3 or c.w.kernel[1] != 3 or c.w.stride[2] != 1 or c.w.dilation[2] != 1:
            return False
        a, b, e = line_of(c, row, d, 0), line_of(c, row, d, 1), line_of(c, row, d, 2)
        reach(c, 0, &low, &last)
        reach(c, 2, &i, &high)
        if a < 0 or b < 0 or e < 0 or low >= high:
            return False
        i = low - c.w.padding[2]
        if number is float:
            mix_nine_f32(y + low, x + a + i, x + b + i, x + e + i, w, high - low, d > 0)
        else:
            mix_nine_f64(y + low, x + a + i, x + b + i, x + e + i, w, high - low, d > 0)
        i = 0
        while i < c.y.size[2]:                       # the rest, at both ends
            if i == low:
                i = high
                continue
            if d == 0:
                y[i] = 0
            for k in range(3):
                last = i + k - c.w.padding[2]
                if 0 <= last < c.x.size[2]:
                    y[i] += w[k] * x[a + last] + w[3 + k] * x[b + last] + w[6 + k] * x[e + last]
            i += 1
        return True


# ---- small planes ------------------------------------------------------------------------------

cdef struct Plan:                # how a plane is laid out, and its windows are read
    plane_layout seen, made
    int64_t at[PLANE_TAPS]       # of each tap from where a window begins
    int64_t n, runs, step


cdef bint set_plan(const Conv* c, Plan* p, bint back) noexcept nogil:
    """Forward: x is seen and y made; back: y, as far apart as its windows were, and x. False: the plane is not small."""
    cdef int64_t pad_h = c.w.padding[1], pad_w = c.w.padding[2], far_h = (c.w.kernel[1] - 1) * c.w.dilation[1]
    cdef int64_t far_w = (c.w.kernel[2] - 1) * c.w.dilation[2], down = c.w.stride[1], right = c.w.stride[2], high, wide, h, k
    cdef const Image* of = &c.y if back else &c.x
    cdef const Image* to = &c.x if back else &c.y
    if c.code == ST_int64 or c.w.kernel[0] != 1 or c.x.size[0] != 1 or c.y.size[0] != 1 or c.taps > PLANE_TAPS:
        return False
    if back:
        pad_h, pad_w = far_h - pad_h, far_w - pad_w
    if pad_h < 0 or pad_w < 0:
        return False
    p.seen.rows, p.seen.columns, p.made.rows, p.made.columns = of.size[1], of.size[2], to.size[1], to.size[2]
    p.seen.down = p.seen.right = p.made.down = p.made.right = 1
    if back:
        p.seen.down, p.seen.right = down, right
    else:
        p.made.down, p.made.right = down, right
    high = max(pad_h + (of.size[1] - 1) * p.seen.down + 1, (to.size[1] - 1) * p.made.down + far_h + 1)
    wide = max(pad_w + (of.size[2] - 1) * p.seen.right + 1, (to.size[2] - 1) * p.made.right + far_w + 1)
    if high > PLANE_ROOM or wide > PLANE_ROOM or high * wide > PLANE_ROOM:
        return False
    p.seen.first, p.made.first = pad_h * wide + pad_w, 0
    p.n, p.runs, p.step = (to.size[2] - 1) * p.made.right + 1, to.size[1], p.made.down * wide
    if p.made.down == 1:         # one run through all rows
        p.n, p.runs = p.n + (to.size[1] - 1) * wide, 1
    p.seen.down *= wide
    p.made.down *= wide
    for h in range(c.w.kernel[1]):
        for k in range(c.w.kernel[2]):
            p.at[h * c.w.kernel[2] + k] = h * c.w.dilation[1] * wide + k * c.w.dilation[2]
    return True


cdef void lay(number* to, const number* x, const plane_layout* l) noexcept nogil:
    if number is float:
        lay_plane_f32(to, x, l)
    elif number is double:
        lay_plane_f64(to, x, l)


cdef void mix_plane(number* to, number* run, const number* seen, const number* w, const Plan* p, int64_t taps) noexcept nogil:
    if number is float:
        mix_taps_f32(run, seen, w, p.at, taps, p.n, p.runs, p.step)
        take_plane_f32(to, run, &p.made)
    elif number is double:
        mix_taps_f64(run, seen, w, p.at, taps, p.n, p.runs, p.step)
        take_plane_f64(to, run, &p.made)


cdef struct Layer:               # what threads share
    const Conv* c
    const Plan* plan             # NULL: planes are not small
    void* to
    const void* of
    const void* w
    bint back
    int64_t* taps                # of channels last: room


cdef void small_planes(const Layer* j, number* to, const number* of, const number* w, int64_t first, int64_t end) noexcept nogil:
    cdef number seen[PLANE_ROOM + PLANE_SLACK]
    cdef number run[PLANE_ROOM + PLANE_SLACK]
    cdef const Conv* c = j.c
    cdef const Image* made = &c.x if j.back else &c.y
    cdef int64_t i, o, plane, of_plane = c.y.plane if j.back else c.x.plane
    memset(seen, 0, sizeof(seen))
    for i in range(first, end):
        o = i % made.c
        plane = i // made.c * c.x.c + o // c.cy
        lay(seen, of + plane * of_plane, &j.plan.seen)
        mix_plane(to + i * made.plane, run, seen, w + o * c.taps, j.plan, c.taps)


cdef bint try_bands(const Conv* c, number* y, const number* x, const number* w) noexcept nogil:
    """A plane as small ones, cut between rows of positions. False: three of its lines' windows are one vector's work, or even a
    few of its lines are no small plane."""
    cdef number seen[PLANE_ROOM + PLANE_SLACK]
    cdef number run[PLANE_ROOM + PLANE_SLACK]
    cdef Conv band = c[0]
    cdef Plan plan
    cdef int64_t far = (c.w.kernel[1] - 1) * c.w.dilation[1], down = c.w.stride[1], row = 0, top, rows, wide
    if c.w.kernel[1] == 3 and c.w.kernel[2] == 3 and c.w.stride[2] == 1 and c.w.dilation[2] == 1:
        return False
    wide = max(c.w.padding[2] + c.x.size[2], (c.y.size[2] - 1) * c.w.stride[2] + (c.w.kernel[2] - 1) * c.w.dilation[2] + 1)
    rows = (PLANE_ROOM // wide - far - 1) // down + 1 if PLANE_ROOM // wide > far else 0
    while row < c.y.size[1]:
        top = row * down - c.w.padding[1]
        band.y.size[1], band.w.padding[1] = min(rows, c.y.size[1] - row), max(-top, 0)
        top = max(top, 0)
        band.x.size[1] = min((rows - 1) * down + far + 1 - band.w.padding[1], max(c.x.size[1] - top, 0))
        if rows < 1 or not set_plan(&band, &plan, False):
            return False         # at the first of them, if at all
        memset(seen, 0, sizeof(seen))
        lay(seen, x + top * c.x.size[2], &plan.seen)
        mix_plane(y + row * c.y.size[2], run, seen, w, &plan, c.taps)
        row += rows
    return True


cdef void planes(const Layer* j, number* to, const number* of, const number* w, int64_t first, int64_t end) noexcept nogil:
    cdef const Conv* c = j.c
    cdef const number* x
    cdef int64_t i, o
    if j.plan != NULL:
        small_planes(j, to, of, w, first, end)
        return
    for i in range(first, end):
        o = i % c.y.c
        x = of + (i // c.y.c * c.x.c + o // c.cy) * c.x.plane
        if not try_bands(c, to + i * c.y.plane, x, w + o * c.taps):
            wide_plane(c, to + i * c.y.plane, x, w + o * c.taps)


cdef void take_planes(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Layer* j = <Layer*>job
    if j.c.code == ST_float32:
        planes(j, <float*>j.to, <const float*>j.of, <const float*>j.w, first, end)
    elif j.c.code == ST_float64:
        planes(j, <double*>j.to, <const double*>j.of, <const double*>j.w, first, end)
    else:
        planes(j, <int64_t*>j.to, <const int64_t*>j.of, <const int64_t*>j.w, first, end)


cdef void share(Layer* j, span_fn fn, int64_t n) noexcept nogil:
    cdef const Conv* c = j.c
    in_spans(fn, j, n, parts_for(n, c.y.n * c.y.c * (c.x.plane + c.y.plane) * c.wide))


# ---- channels first ----------------------------------------------------------------------------

cdef void wide_plane(const Conv* c, number* y, const number* x, const number* w) noexcept nogil:
    """Rows, scaled and shifted, added up."""
    cdef int64_t d, h, row, line
    for row in range(c.y.size[0] * c.y.size[1]):
        for d in range(c.w.kernel[0]):
            if mix_lines(c, row, d, y, x, w + d * c.w.kernel[1] * c.w.kernel[2]):
                continue
            if d == 0:
                memset(y, 0, c.y.size[2] * sizeof(number))
            for h in range(c.w.kernel[1]):
                line = line_of(c, row, d, h)
                if line >= 0:
                    add_taps(c, y, x + line, w + (d * c.w.kernel[1] + h) * c.w.kernel[2])
        y += c.y.size[2]


cdef void depthwise_first(const Conv* c, number* y, const number* x, const number* w) noexcept nogil:
    """One input channel for each group."""
    cdef Layer j
    cdef Plan plan
    j.c, j.to, j.of, j.w, j.back = c, y, x, w, False
    j.plan = &plan if set_plan(c, &plan, False) else NULL
    share(&j, take_planes, c.y.n * c.y.c)


cdef bint is_forward_back(const Conv* c) noexcept nogil:
    """Whether the way back is the way forward with turned weights: one channel for one, windows side by side."""
    return c.cy == 1 and c.w.stride[0] == 1 and c.w.stride[1] == 1 and c.w.stride[2] == 1


cdef void turn(const Conv* c, number* turned, const number* w) noexcept nogil:
    cdef int64_t o, t
    for o in range(c.y.c):
        for t in range(c.taps):
            turned[o * c.taps + t] = w[(o + 1) * c.taps - 1 - t]


cdef void depthwise_turned(const Conv* c, number* x, const number* y, const number* turned) noexcept nogil:
    cdef Conv back = c[0]
    cdef int i
    back.x, back.y = c.y, c.x
    for i in range(3):
        back.w.padding[i] = (c.w.kernel[i] - 1) * c.w.dilation[i] - c.w.padding[i]
    depthwise_first(&back, x, y, turned)


cdef void depthwise_back(const Conv* c, number* x, const number* y, const number* w, number* turned) noexcept nogil:
    """The same backwards: rows of y, scaled and shifted, added to the lines that they saw."""
    cdef int64_t n, o, d, h, k, i, row, line, low, high, shift, s = c.w.stride[2]
    cdef number weight
    cdef number* to
    cdef Layer j
    cdef Plan plan
    if c.cy == 1:
        turn(c, turned, w)
    if is_forward_back(c):
        depthwise_turned(c, x, y, turned)
        return
    if c.cy == 1 and set_plan(c, &plan, True):
        j.c, j.plan, j.to, j.of, j.w, j.back = c, &plan, x, y, turned, True
        share(&j, take_planes, c.x.n * c.x.c)
        return
    memset(x, 0, c.x.n * c.x.c * c.x.plane * sizeof(number))
    for n in range(c.y.n):
        for o in range(c.y.c):
            for row in range(c.y.size[0] * c.y.size[1]):
                for d in range(c.w.kernel[0]):
                    for h in range(c.w.kernel[1]):
                        line = line_of(c, row, d, h)
                        if line < 0:
                            continue
                        for k in range(c.w.kernel[2]):
                            reach(c, k, &low, &high)
                            shift = k * c.w.dilation[2] - c.w.padding[2]
                            weight = w[o * c.taps + (d * c.w.kernel[1] + h) * c.w.kernel[2] + k]
                            to = x + (n * c.x.c + o // c.cy) * c.x.plane + line + shift
                            if s == 1 and low < high:
                                add_scaled(to + low, y + low, weight, high - low, 1)
                            else:
                                for i in range(low, high):
                                    to[i * s] += weight * y[i]
                y += c.y.size[2]


cdef inline void add_lanes(number* lanes, const number* x, const number* y, int taps, int64_t n) noexcept nogil:
    """y * x to the lanes of a tap, or of three neighbours."""
    cdef int64_t i
    cdef int k
    if number is float:
        add_lanes_f32(lanes, x, y, taps, n)
    elif number is double:
        add_lanes_f64(lanes, x, y, taps, n)
    else:
        for k in range(taps):
            for i in range(n):
                lanes[k * LANES] += x[i + k] * y[i]


cdef void add_line(const Conv* c, number* lanes, const number* x, const number* y, int64_t first, int64_t end) noexcept nogil:
    """What a line of x and a row of y give the lanes of the taps first..end along them."""
    cdef int64_t k, i, low, high, inner, last, shift, s = c.w.stride[2]
    cdef const number* of
    if c.w.kernel[2] == 3 and s == 1 and c.w.dilation[2] == 1:
        reach(c, 0, &inner, &high)
        reach(c, 2, &low, &high)
        if inner < high:
            add_lanes(lanes, x + inner - c.w.padding[2], y + inner, 3, high - inner)
            for k in range(3):                       # the rest, at both ends
                reach(c, k, &low, &last)
                shift = k - c.w.padding[2]
                for i in range(low, min(inner, last)):
                    lanes[k * LANES] += x[i + shift] * y[i]
                for i in range(max(high, low), last):
                    lanes[k * LANES] += x[i + shift] * y[i]
            return
    for k in range(first, end):
        reach(c, k, &low, &high)
        of = x + k * c.w.dilation[2] - c.w.padding[2]
        if s == 1:
            add_lanes(lanes, of + low, y + low, 1, high - low)
        else:
            for i in range(low, high):
                lanes[0] += of[i * s] * y[i]
        lanes += LANES


cdef void add_rows(const Conv* c, number* gw, const number* y, const number* x, int64_t first, int64_t end) noexcept nogil:
    """The gradient of the taps first..end of a window, which are some of a line's, or lines."""
    cdef number lanes[MOST_TAPS * LANES]
    cdef int64_t row, line, d, h, k, i, wide = c.w.kernel[2]
    memset(lanes, 0, sizeof(lanes))
    for i in range(first // wide, (end + wide - 1) // wide):
        d, h = i // c.w.kernel[1], i % c.w.kernel[1]
        for row in range(c.y.size[0] * c.y.size[1]):
            line = line_of(c, row, d, h)
            if line >= 0:
                add_line(c, lanes + max(i * wide - first, 0) * LANES, x + line, y + row * c.y.size[2], max(first - i * wide, 0),
                         min(end - i * wide, wide))
    for k in range(end - first):
        for i in range(LANES):
            gw[first + k] += lanes[k * LANES + i]


cdef void small_of_weight(const Layer* j, number* gw, const number* y, const number* x, int64_t first, int64_t end) noexcept nogil:
    cdef number seen[PLANE_ROOM + PLANE_SLACK]
    cdef number grads[PLANE_ROOM + PLANE_SLACK]
    cdef number mask[PLANE_ROOM + PLANE_SLACK]
    cdef const Conv* c = j.c
    cdef int64_t i, o, n = (j.plan.made.rows - 1) * j.plan.made.down + (j.plan.made.columns - 1) * j.plan.made.right + 1
    memset(seen, 0, sizeof(seen))
    memset(grads, 0, sizeof(grads))
    memset(mask, 0, sizeof(mask))
    if number is float:
        set_mask_f32(mask, &j.plan.made)
    elif number is double:
        set_mask_f64(mask, &j.plan.made)
    for o in range(first, end):
        for i in range(c.y.n):
            lay(seen, x + (i * c.x.c + o // c.cy) * c.x.plane, &j.plan.seen)
            lay(grads, y + (i * c.y.c + o) * c.y.plane, &j.plan.made)
            if number is float:
                sum_taps_f32(gw + o * c.taps, grads, seen, mask, j.plan.at, c.taps, n)
            elif number is double:
                sum_taps_f64(gw + o * c.taps, grads, seen, mask, j.plan.at, c.taps, n)


cdef void wide_of_weight(const Conv* c, number* gw, const number* y, const number* x, int64_t o) noexcept nogil:
    """In lanes, some taps at a time."""
    cdef int64_t n, first, end, line, wide = c.w.kernel[2], step = MOST_TAPS // wide * wide
    if wide > MOST_TAPS:
        step = MOST_TAPS
    for n in range(c.y.n):
        first = 0
        while first < c.taps:
            line = (first // wide + 1) * wide            # a part of a line ends with it
            end = min(first + step, c.taps if wide <= MOST_TAPS else line)
            add_rows(c, gw + o * c.taps, y + (n * c.y.c + o) * c.y.plane, x + (n * c.x.c + o // c.cy) * c.x.plane, first, end)
            first = end


cdef void of_weights(const Layer* j, number* gw, const number* y, const number* x, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t o
    memset(gw + first * j.c.taps, 0, (end - first) * j.c.taps * sizeof(number))
    if j.plan != NULL:
        small_of_weight(j, gw, y, x, first, end)
        return
    for o in range(first, end):
        wide_of_weight(j.c, gw, y, x, o)


cdef void take_weights(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Layer* j = <Layer*>job
    if j.c.code == ST_float32:
        of_weights(j, <float*>j.to, <const float*>j.of, <const float*>j.w, first, end)
    elif j.c.code == ST_float64:
        of_weights(j, <double*>j.to, <const double*>j.of, <const double*>j.w, first, end)
    else:
        of_weights(j, <int64_t*>j.to, <const int64_t*>j.of, <const int64_t*>j.w, first, end)


cdef void depthwise_of_weight(const Conv* c, number* gw, const number* y, const number* x) noexcept nogil:
    """The gradient of each weight: the sum of all rows of y times what they saw through it."""
    cdef Layer j
    cdef Plan plan
    j.c, j.to, j.of, j.w, j.back = c, gw, y, x, False
    j.plan = &plan if set_plan(c, &plan, False) else NULL
    share(&j, take_weights, c.y.c)


# ---- channels last -----------------------------------------------------------------------------

cdef inline void mix_products(number* to, const number* x, const int64_t* at, const number* weights, const int64_t* by,
                              int64_t rows, int64_t n, int64_t places, int64_t step) noexcept nogil:
    cdef int64_t i, r, p
    if number is float:
        mix_products_f32(to, x, at, weights, by, rows, n, places, step)
    elif number is double:
        mix_products_f64(to, x, at, weights, by, rows, n, places, step)
    else:
        for p in range(places):
            for i in range(n):
                to[p * n + i] = 0
                for r in range(rows):
                    to[p * n + i] += weights[by[r] + i] * x[p * step + at[r] + i]


cdef inline void sum_products(number* to, const number* y, const number* x, int64_t step, int64_t rows, int64_t n) noexcept nogil:
    cdef int64_t i, r
    if number is float:
        sum_products_f32(to, y, x, step, rows, n)
    elif number is double:
        sum_products_f64(to, y, x, step, rows, n)
    else:
        for r in range(rows):
            for i in range(n):
                to[i] += y[r * n + i] * x[r * step + i]


cdef int64_t taps_of(const Conv* c, int64_t row, int64_t i, int64_t* taps, int64_t* by) noexcept nogil:
    """Places of x, and of the weights, that position i of a row sees; how many."""
    cdef int64_t d, h, k, line, at, count = 0
    for d in range(c.w.kernel[0]):
        for h in range(c.w.kernel[1]):
            line = line_of(c, row, d, h)
            if line < 0:
                continue
            for k in range(c.w.kernel[2]):
                at = i * c.w.stride[2] - c.w.padding[2] + k * c.w.dilation[2]
                if 0 <= at < c.x.size[2]:
                    taps[count] = (line + at) * c.x.c
                    by[count] = ((d * c.w.kernel[1] + h) * c.w.kernel[2] + k) * c.y.c
                    count += 1
    return count


cdef void last_rows(const Layer* j, number* y, const number* x, const number* w, int64_t* taps, int64_t first,
                    int64_t end) noexcept nogil:
    cdef const Conv* c = j.c
    cdef int64_t rows = c.y.size[0] * c.y.size[1], q, i, count, low, high, some
    cdef int64_t* by = taps + c.taps
    cdef const number* image
    reach(c, 0, &low, &high)
    reach(c, c.w.kernel[2] - 1, &some, &high)        # from `low` on to `high` windows see the same taps, one step further each
    y += first * c.y.size[2] * c.y.c
    for q in range(first, end):
        image = x + q // rows * c.x.plane * c.x.c
        i = 0
        while i < c.y.size[2]:
            some = high - i if low <= i < high else 1
            count = taps_of(c, q % rows, i, taps, by)
            mix_products(y, image, taps, w, by, count, c.y.c, some, c.w.stride[2] * c.x.c)
            y += some * c.y.c
            i += some


cdef void take_last_rows(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Layer* j = <Layer*>job
    cdef int64_t* taps = j.taps + part * 2 * j.c.taps
    if j.c.code == ST_float32:
        last_rows(j, <float*>j.to, <const float*>j.of, <const float*>j.w, taps, first, end)
    elif j.c.code == ST_float64:
        last_rows(j, <double*>j.to, <const double*>j.of, <const double*>j.w, taps, first, end)
    else:
        last_rows(j, <int64_t*>j.to, <const int64_t*>j.of, <const int64_t*>j.w, taps, first, end)


cdef void depthwise_last(const Conv* c, number* y, const number* x, const number* w, int64_t* taps) noexcept nogil:
    """As many channels out as in; weights (taps, channels). `taps`: room for two numbers for each of every part."""
    cdef Layer j
    j.c, j.plan, j.to, j.of, j.w, j.back, j.taps = c, NULL, y, x, w, False, taps
    share(&j, take_last_rows, c.y.n * c.y.size[0] * c.y.size[1])


cdef void depthwise_back_last(const Conv* c, number* x, const number* y, const number* w, number* turned,
                              int64_t* taps) noexcept nogil:
    """The way back where it is the way forward with turned weights; `turned`: room for them as (taps, channels)."""
    cdef Conv back = c[0]
    cdef int64_t e, t
    cdef int i
    for e in range(c.y.c):
        for t in range(c.taps):
            turned[t * c.y.c + e] = w[(e + 1) * c.taps - 1 - t]
    back.x, back.y = c.y, c.x
    for i in range(3):
        back.w.padding[i] = (c.w.kernel[i] - 1) * c.w.dilation[i] - c.w.padding[i]
    depthwise_last(&back, x, y, turned, taps)


cdef void depthwise_of_weight_last(const Conv* c, number* gw, const number* y, const number* x, number* sums) noexcept nogil:
    """The gradient of each weight, a row of positions at a time; `sums`: room for as many as (taps, channels)."""
    cdef int64_t n, d, h, k, row, line, low, high, e, t, channels = c.y.c
    memset(sums, 0, channels * c.taps * sizeof(number))
    for n in range(c.y.n):
        for row in range(c.y.size[0] * c.y.size[1]):
            for d in range(c.w.kernel[0]):
                for h in range(c.w.kernel[1]):
                    line = line_of(c, row, d, h)
                    if line < 0:
                        continue
                    for k in range(c.w.kernel[2]):
                        reach(c, k, &low, &high)
                        if low < high:
                            sum_products(sums + ((d * c.w.kernel[1] + h) * c.w.kernel[2] + k) * channels, y + low * channels,
                                         x + (line + low * c.w.stride[2] + k * c.w.dilation[2] - c.w.padding[2]) * channels,
                                         c.w.stride[2] * channels, high - low, channels)
            y += c.y.size[2] * channels
        x += c.x.plane * channels
    for e in range(channels):
        for t in range(c.taps):
            gw[e * c.taps + t] = sums[t * channels + e]
