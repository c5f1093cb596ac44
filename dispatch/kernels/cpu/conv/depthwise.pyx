"""Loops of depthwise convolutions and of their gradients: rows, scaled and shifted, added up.

Called by `convolution`, without the lock. Windows of 3 by 3 that lie side by side are made a row at a
time from three lines, which is also the way back, with turned weights.
"""
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch.kernels.cpu.pixels cimport (
    LANES, add_lanes_f32, add_lanes_f64, add_scaled_f32, add_scaled_f64,
    add_scaled_halves_f32, add_scaled_halves_f64, add_three_f32, add_three_f64, mix_nine_f32, mix_nine_f64,
    mix_products_f32, mix_products_f64, sum_products_f32, sum_products_f64,
)

cdef extern from "vectorised.h":
    pass

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


cdef void depthwise_first(const Conv* c, number* y, const number* x, const number* w) noexcept nogil:
    """One input channel for each group: rows, scaled and shifted, added up."""
    cdef int64_t n, o, d, h, row, line
    cdef const number* plane
    for n in range(c.y.n):
        for o in range(c.y.c):
            plane = x + (n * c.x.c + o // c.cy) * c.x.plane
            for row in range(c.y.size[0] * c.y.size[1]):
                for d in range(c.w.kernel[0]):
                    if mix_lines(c, row, d, y, plane, w + o * c.taps + d * c.w.kernel[1] * c.w.kernel[2]):
                        continue
                    if d == 0:
                        memset(y, 0, c.y.size[2] * sizeof(number))
                    for h in range(c.w.kernel[1]):
                        line = line_of(c, row, d, h)
                        if line >= 0:
                            add_taps(c, y, plane + line, w + o * c.taps + (d * c.w.kernel[1] + h) * c.w.kernel[2])
                y += c.y.size[2]


cdef bint is_forward_back(const Conv* c) noexcept nogil:
    """Whether the way back is the way forward with turned weights: one channel for one, windows side by side."""
    return c.cy == 1 and c.w.stride[0] == 1 and c.w.stride[1] == 1 and c.w.stride[2] == 1


cdef void depthwise_turned(const Conv* c, number* x, const number* y, const number* w, number* turned) noexcept nogil:
    cdef Conv back = c[0]
    cdef int64_t o, t
    cdef int i
    for o in range(c.y.c):
        for t in range(c.taps):
            turned[o * c.taps + t] = w[(o + 1) * c.taps - 1 - t]
    back.x, back.y = c.y, c.x
    for i in range(3):
        back.w.padding[i] = (c.w.kernel[i] - 1) * c.w.dilation[i] - c.w.padding[i]
    depthwise_first(&back, x, y, turned)


cdef void depthwise_back(const Conv* c, number* x, const number* y, const number* w, number* turned) noexcept nogil:
    """The same backwards: rows of y, scaled and shifted, added to the lines that they saw."""
    cdef int64_t n, o, d, h, k, i, row, line, low, high, shift, s = c.w.stride[2]
    cdef number weight
    cdef number* to
    if is_forward_back(c):
        depthwise_turned(c, x, y, w, turned)
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


cdef void depthwise_of_weight(const Conv* c, number* gw, const number* y, const number* x) noexcept nogil:
    """The gradient of each weight: the sum of all rows of y times what they saw through it, in lanes, some taps at a time."""
    cdef int64_t n, o, first, end, line, wide = c.w.kernel[2], step = MOST_TAPS // wide * wide
    memset(gw, 0, c.y.c * c.taps * sizeof(number))
    if wide > MOST_TAPS:
        step = MOST_TAPS
    for n in range(c.y.n):
        for o in range(c.y.c):
            first = 0
            while first < c.taps:
                line = (first // wide + 1) * wide            # a part of a line ends with it
                end = min(first + step, c.taps if wide <= MOST_TAPS else line)
                add_rows(c, gw + o * c.taps, y, x + (n * c.x.c + o // c.cy) * c.x.plane, first, end)
                first = end
            y += c.y.plane


# ---- channels last -----------------------------------------------------------------------------

cdef inline void mix_products(number* to, const number* x, const int64_t* at, const number* weights, const int64_t* by,
                              int64_t rows, int64_t n) noexcept nogil:
    cdef int64_t i, r
    if number is float:
        mix_products_f32(to, x, at, weights, by, rows, n)
    elif number is double:
        mix_products_f64(to, x, at, weights, by, rows, n)
    else:
        for i in range(n):
            to[i] = 0
            for r in range(rows):
                to[i] += weights[by[r] + i] * x[at[r] + i]


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


cdef void depthwise_last(const Conv* c, number* y, const number* x, const number* w, int64_t* taps) noexcept nogil:
    """As many channels out as in; weights (taps, channels). `taps`: room for two numbers for each."""
    cdef int64_t n, i, d, h, k, row, line, at, count
    cdef int64_t* by = taps + c.taps
    for n in range(c.y.n):
        for row in range(c.y.size[0] * c.y.size[1]):
            for i in range(c.y.size[2]):
                count = 0
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
                mix_products(y, x, taps, w, by, count, c.y.c)
                y += c.y.c
        x += c.x.plane * c.x.c


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
