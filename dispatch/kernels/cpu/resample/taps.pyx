"""Input elements and weights of each output element along one dimension: what interpolation is made of.

`upsample` beside this file applies the tables, forwards and backwards. Positions and weights are
computed in float for floats of 32 bits and less, in double for all else, as PyTorch does; elements
outside the input are its outermost ones.
"""
from libc.math cimport ceil, fabs, floor, fma, fmaf, sin
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cdef extern from "vectorised.h":
    pass

cdef enum:
    MOST_BITS = 22               # of a weight in fixed point; less where one would not fit int16

cdef double PI = 3.14159265358979323846


# ---- tables ------------------------------------------------------------------------------------

cdef int allocate(Taps* t, int64_t n, int64_t most, size_t itemsize) except -1:
    t.n, t.most = n, <int>most
    t.index = <int64_t*>malloc(n * most * sizeof(int64_t) or 1)
    t.weight = malloc(n * most * itemsize or 1) if itemsize else NULL
    if t.index == NULL or itemsize and t.weight == NULL:
        free_taps(t)
        raise MemoryError
    return 0


cdef void free_taps(Taps* t) noexcept:
    free(t.index)
    free(t.weight)
    t.index, t.weight = NULL, NULL


cdef real step_between(int64_t size, int64_t n, bint align_corners, double scale, real like) noexcept:
    """Distance of neighbouring output elements in the input (area_pixel_compute_scale)."""
    if align_corners:
        return <real>(size - 1) / <real>(n - 1) if n > 1 else <real>0
    return <real>(1.0 / scale) if scale > 0 else <real>size / <real>n


cdef inline real middle(real step, int64_t i, real like) noexcept:
    """step * (i + 0.5) - 0.5, rounded once."""
    return fmaf(step, <real>i + <real>0.5, <real>-0.5) if real is float else fma(step, <real>i + <real>0.5, <real>-0.5)


cdef void fill_nearest(Taps* t, int64_t size, int mode, bint exact_ratio, double scale, real like) noexcept:
    cdef int64_t i, at
    cdef real x, step = step_between(size, t.n, False, scale, like)
    for i in range(t.n):
        if mode == EXACT:
            x = (<real>i + <real>0.5) * step
        elif exact_ratio and t.n == size:
            x = <real>i
        elif exact_ratio and t.n == 2 * size:
            x = <real>(i >> 1)
        else:
            x = <real>i * step
        at = <int64_t>floor(x)
        t.index[i] = max(min(at, size - 1), 0)


cdef int make_nearest(Taps* t, int64_t size, int64_t n, int mode, bint exact_ratio, double scale, bint in_double) except -1:
    allocate(t, n, 1, 0)
    if in_double:
        fill_nearest[double](t, size, mode, exact_ratio, scale, 0)
    else:
        fill_nearest[float](t, size, mode, exact_ratio, scale, 0)
    return 0


cdef void fill_between(Taps* t, int64_t size, bint cubic, bint align_corners, double scale, real like) noexcept:
    """Two neighbours, or four."""
    cdef int64_t i, j, first
    cdef real x, d, step = step_between(size, t.n, align_corners, scale, like)
    cdef real* w = <real*>t.weight
    cdef int64_t* at = t.index
    for i in range(t.n):
        if t.n == size and not cubic:        # itself, twice: an infinity becomes NaN
            at[0] = at[1] = i
            w[0], w[1] = 1, 0
        else:
            x = step * <real>i if align_corners else middle(step, i, like)
            if x < 0 and not cubic:
                x = 0
            first = min(<int64_t>floor(x), size - 1)
            d = min(max(x - <real>first, <real>0), <real>1)
            if cubic:
                w[0], w[1] = cubic_far(d + 1), cubic_near(d)
                w[2], w[3] = cubic_near(1 - d), cubic_far(2 - d)
                for j in range(4):
                    at[j] = max(min(first - 1 + j, size - 1), 0)
            else:
                w[0], w[1] = 1 - d, d
                at[0], at[1] = first, min(first + 1, size - 1)
        at += t.most
        w += t.most


cdef inline double sinc(double x) noexcept:
    return 1 if x == 0 else sin(PI * x) / (PI * x)


cdef double smooth(int mode, double x) noexcept:
    """The filter at a distance x."""
    x = fabs(x)
    if mode == SMOOTH_LINEAR:
        return 1 - x if x < 1 else 0
    if mode == SMOOTH_LANCZOS:
        return sinc(x) * sinc(x / 3) if x < 3 else 0
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0


cdef inline double reach(int mode) noexcept:
    return 1 if mode == SMOOTH_LINEAR else 2 if mode == SMOOTH_CUBIC else 3


cdef void fill_smooth(Taps* t, int64_t size, int mode, real step, real support) noexcept:
    cdef int64_t i, j, first, count
    cdef real centre, total, inverse = 1 / step if step >= 1 else <real>1
    cdef real* w = <real*>t.weight
    cdef int64_t* at = t.index
    for i in range(t.n):
        centre = step * (<real>i + <real>0.5)
        first = max(<int64_t>(centre - support + <real>0.5), 0)
        count = min(<int64_t>(centre + support + <real>0.5), size) - first
        count = max(min(count, <int64_t>t.most), 0)
        total = 0
        for j in range(count):
            w[j] = <real>smooth(mode, (<real>(j + first) - centre + <real>0.5) * inverse)
            total += w[j]
        for j in range(t.most):
            at[j] = min(first + j, size - 1)
            if j >= count:
                w[j] = 0
            elif total != 0:
                w[j] /= total
        at += t.most
        w += t.most


cdef int make_smooth(Taps* t, int64_t size, int64_t n, int mode, bint align_corners, double scale, real like) except -1:
    cdef real step = step_between(size, n, align_corners, scale, like)
    cdef real support = <real>reach(mode) * step if step >= 1 else <real>reach(mode)
    allocate(t, n, <int64_t>ceil(support) * 2 + 1, sizeof(real))
    fill_smooth[real](t, size, mode, step, support)
    return 0


cdef int make_taps(Taps* t, int64_t size, int64_t n, int mode, bint align_corners, double scale,
                   bint in_double) except -1:
    if mode >= SMOOTH_LINEAR:
        if in_double:
            return make_smooth[double](t, size, n, mode, align_corners, scale, 0)
        return make_smooth[float](t, size, n, mode, align_corners, scale, 0)
    allocate(t, n, 4 if mode == CUBIC else 2, sizeof(double) if in_double else sizeof(float))
    if in_double:
        fill_between[double](t, size, mode == CUBIC, align_corners, scale, 0)
    else:
        fill_between[float](t, size, mode == CUBIC, align_corners, scale, 0)
    return 0


cdef void round_weights(Taps* t, int code) noexcept:
    cdef int64_t i
    cdef float* w = <float*>t.weight
    for i in range(t.n * t.most):
        w[i] = rounded(w[i], code)


cdef void merge_taps(Taps* t) noexcept:
    """Weights of one and the same element are added up at its first tap."""
    cdef int64_t i
    cdef int j, k
    cdef int64_t* at = t.index
    cdef double* w = <double*>t.weight
    for i in range(t.n):
        for j in range(1, t.most):
            for k in range(j):
                if at[k] == at[j]:
                    w[k] += w[j]
                    w[j] = 0
        at += t.most
        w += t.most


cdef int in_fixed_point(Taps* t) noexcept:
    cdef int64_t i
    cdef int bits = 0
    cdef double largest = 0
    cdef double* w = <double*>t.weight
    merge_taps(t)
    for i in range(t.n * t.most):
        largest = max(largest, w[i])
    while bits < MOST_BITS and <int64_t>(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    for i in range(t.n * t.most):
        (<int32_t*>t.weight)[i] = <int32_t>(w[i] * (1 << bits) + (0.5 if w[i] >= 0 else -0.5))
    return bits
