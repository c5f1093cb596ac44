"""Bodies of sampling on a grid, and of its gradients: images at positions between -1 and 1.

Called by the structured kernels with outputs of the right size. For each place of the grid the
corners around its position and their weights are worked out once, and applied to all channels. In
16 bits PyTorch rounds after every step, positions included, and so do these loops, in float32;
where its formulas for volumes round otherwise than those for images, each has its own here.
"""
from libc.math cimport fabs, floor, fmod, isnan, rint
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, MF_contiguous, ST_float32, ST_float64
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.dense cimport (
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, image_of, pinned, target,
)
from dispatch.kernels.cpu.resample.taps cimport real, rounded
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "vectorised.h":
    pass

cdef extern from "resample/corners.h" nogil:
    enum:
        CORNER_BLOCK, CORNERS_MOST, CUBIC_BLOCK
    ctypedef struct grid_space:
        int dims
        bint nearest, border, reflection, align
        int64_t size[3]
    bint corners_f32(const grid_space* s, int64_t n, const float* grid, int64_t* at, float* weight)
    bint corners_f64(const grid_space* s, int64_t n, const double* grid, int64_t* at, double* weight)
    bint HAS_GATHERS
    void gather_mix(int code, int corners, int64_t n, const int64_t* at, const float* weight, int64_t step, float* out,
                    const float* x)
    void gather_cubic(int64_t n, const int64_t* at, const float* wx, const float* wy, float* out, const float* x)
    void pick_f32(int64_t n, const int64_t* at, bint inside, float* out, const float* x)
    void pick_f64(int64_t n, const int64_t* at, bint inside, double* out, const double* x)
    void mix_f32(int corners, int64_t n, const int64_t* at, const float* weight, bint inside, float* out, const float* x)
    void mix_f64(int corners, int64_t n, const int64_t* at, const double* weight, bint inside, double* out, const double* x)
    void cubic_f32(int64_t n, const int64_t* at, const float* wx, const float* wy, float* out, const float* x)
    void cubic_f64(int64_t n, const int64_t* at, const double* wx, const double* wy, double* out, const double* x)
    void drop_f32(int64_t n, const int64_t* at, const float* grad, float* to)
    void drop_f64(int64_t n, const int64_t* at, const double* grad, double* to)

cdef enum:
    BILINEAR = 0
    NEAREST = 1
    BICUBIC = 2
    BORDER = 1                   # padding modes; 0: zeros outside
    REFLECTION = 2
    MOST_CORNERS = 16
    CORNER_WORK = 8              # a place takes as long as copying so many
    FEW = 128                    # places whose corners are found before channels are walked

cdef struct Job:
    int dims, mode, padding, code    # code: the dtype to round to
    bint align
    Image x
    int64_t places               # of the grid, for each image
    void* out                    # or the gradient of the input, or NULL
    void* input
    void* grid
    void* grad                   # of the output
    void* grad_grid

cdef struct Corners:
    int n
    int64_t at[MOST_CORNERS]             # in a plane; -1: outside, where all is 0
    double weight[MOST_CORNERS]
    double near[3]               # distances along x, y, z to the far and the near corners: linear weights
    double far[3]
    double scale[3]              # of the position by the grid's number
    double slope[MOST_CORNERS][2]        # of a cubic weight by the position along x, y


# ---- positions ---------------------------------------------------------------------------------

cdef inline real clipped(real x, int64_t size, int dims) noexcept nogil:
    """Into the input; NaN becomes its beginning in images, its end in volumes."""
    cdef real last = <real>(size - 1)
    if isnan(x):
        return last if dims == 3 else <real>0
    return min(max(x, <real>0), last)


cdef real reflected(real x, int64_t size, bint align, int code, real* slope) noexcept nogil:
    """Thrown back at the outer elements' centres, or their outer edges."""
    cdef real low = 0 if align else <real>-0.5
    cdef real span = <real>(size - 1) if align else <real>size
    cdef real distance, extra
    if span == 0:
        slope[0] = 0
        return 0
    distance = rounded_real(x - low, code)
    if distance < 0:
        slope[0] = -slope[0]
    distance = <real>fabs(distance)
    extra = <real>fmod(distance, 2 * span)
    if extra > span:
        slope[0] = -slope[0]
        extra = rounded_real(2 * span - extra, code)
    return rounded_real(extra + low, code)


cdef inline real rounded_real(real x, int code) noexcept nogil:
    return <real>rounded(<float>x, code) if real is float else x


cdef real unnormalised(real g, int64_t size, Job* j, real* slope) noexcept nogil:
    """-1..1 as a position: of the outer elements' centres, or of their outer edges."""
    cdef int code = j.code
    slope[0] = <real>(size - 1) / 2 if j.align else <real>size / 2
    g = rounded_real(g + 1, code)
    if j.dims == 2:
        g = rounded_real(g * rounded_real(slope[0], code), code)
        return g if j.align else rounded_real(g - <real>0.5, code)
    if j.align:
        return rounded_real(rounded_real(g / 2, code) * <real>(size - 1), code)
    return rounded_real(rounded_real(rounded_real(g * <real>size, code) - 1, code) / 2, code)


cdef real bounded(real x, int64_t size, Job* j, real* slope) noexcept nogil:
    if j.padding == REFLECTION:
        x = reflected(x, size, j.align, j.code, slope)
    if j.padding != 0:
        if not (x > 0 and x < <real>(size - 1)):
            slope[0] = 0
        x = clipped(x, size, j.dims)
    return x


cdef inline bint inside(real x, int64_t size) noexcept nogil:
    return x >= 0 and x < <real>size         # not NaN


cdef void find_corners(Job* j, Corners* c, const real* g) noexcept nogil:
    """The 1, 4 or 8 elements around a place; dimension 0 is the innermost (x)."""
    cdef real scale
    cdef real low[3]
    cdef real near[3]
    cdef real far[3]
    cdef real x, w
    cdef int d, k
    cdef int64_t at, size
    c.n = 1 if j.mode == NEAREST else 1 << j.dims
    for d in range(j.dims):
        size = j.x.size[2 - d]
        x = bounded(unnormalised(g[d], size, j, &scale), size, j, &scale)
        if j.mode == NEAREST:
            low[d], far[d], near[d] = <real>rint(x), 0, 1
        else:
            low[d] = <real>floor(x)
            far[d] = rounded_real(x - low[d], j.code)
            near[d] = rounded_real(1 - far[d], j.code)
        c.near[d], c.far[d], c.scale[d] = near[d], far[d], scale
    for k in range(c.n):
        at, w = 0, 1
        for d in range(j.dims - 1, -1, -1):
            x = low[d] + (k >> d & 1)
            if at < 0 or not inside(x, j.x.size[2 - d]):
                at = -1
            else:
                at = at * j.x.size[2 - d] + <int64_t>x
        for d in range(j.dims):
            w = rounded_real(w * (far[d] if k >> d & 1 else near[d]), j.code)
        c.at[k], c.weight[k] = at, w


cdef inline real near_weight(real x, int code) noexcept nogil:
    cdef real y = rounded_real(rounded_real(<real>1.25 * x, code) - <real>2.25, code)
    return rounded_real(rounded_real(rounded_real(y * x, code) * x, code) + 1, code)


cdef inline real far_weight(real x, int code) noexcept nogil:
    cdef real y = rounded_real(rounded_real(<real>-0.75 * x, code) + <real>3.75, code)
    y = rounded_real(rounded_real(y * x, code) - 6, code)
    return rounded_real(rounded_real(y * x, code) + 3, code)


cdef void cubic(real* weight, real* slope, real t, int code) noexcept nogil:
    """Weights of four neighbours and their derivatives; t: distance from the second."""
    cdef real u = rounded_real(1 - t, code), x = rounded_real(1 + t, code), y = rounded_real(2 - t, code)
    weight[0], weight[1] = far_weight(x, code), near_weight(t, code)
    weight[2], weight[3] = near_weight(u, code), far_weight(y, code)
    slope[0] = (<real>-2.25 * x + <real>7.5) * x - 6
    slope[1] = (<real>3.75 * t - <real>4.5) * t
    slope[2] = -(<real>3.75 * u - <real>4.5) * u
    slope[3] = -((<real>-2.25 * y + <real>7.5) * y - 6)


cdef void find_sixteen(Job* j, Corners* c, const real* g, real* wx, real* wy) noexcept nogil:
    """The 4 x 4 elements around a place, rows outside; their weights are wy * wx."""
    cdef real scale, ignored
    cdef real low[2]
    cdef real dx[4]
    cdef real dy[4]
    cdef real x, y
    cdef int d, k, i
    cdef int64_t height = j.x.size[1], width = j.x.size[2]
    c.n = 16
    for d in range(2):
        x = unnormalised(g[d], j.x.size[2 - d], j, &scale)
        c.scale[d] = scale
        low[d] = <real>floor(x)
        x = rounded_real(x - low[d], j.code)
        if d == 0:
            cubic(wx, dx, x, j.code)
        else:
            cubic(wy, dy, x, j.code)
    for i in range(4):
        y = bounded(low[1] + (i - 1), height, j, &ignored)
        for k in range(4):
            x = bounded(low[0] + (k - 1), width, j, &ignored)
            c.at[4 * i + k] = <int64_t>y * width + <int64_t>x if inside(y, height) and inside(x, width) else -1
            c.weight[4 * i + k] = wy[i] * wx[k]
            c.slope[4 * i + k][0] = wy[i] * dx[k]
            c.slope[4 * i + k][1] = dy[i] * wx[k]


# ---- the same in float or double, where nothing is rounded in between ----------------------------

cdef inline bint is_exact(const Job* j) noexcept nogil:
    return j.code == ST_float32 or j.code == ST_float64


cdef int find_exact(Job* j, int64_t* at, real* weight, real* slope, const real* g) noexcept nogil:
    """Corners, weights and slopes (three numbers each) of a place, which are not its nearest element; how many corners."""
    cdef Corners c
    cdef real wx[4]
    cdef real wy[4]
    cdef int d, e, k
    cdef real part
    if j.mode == BICUBIC:
        find_sixteen(j, &c, g, wx, wy)
    else:
        find_corners(j, &c, g)
    for k in range(c.n):
        at[k], weight[k] = c.at[k], <real>c.weight[k]
        slope[2] = 0
        if j.mode == BICUBIC:
            slope[0], slope[1] = <real>(c.slope[k][0] * c.scale[0]), <real>(c.slope[k][1] * c.scale[1])
        elif j.dims == 2:
            part = <real>((c.far[1] if k & 2 else c.near[1]) * c.scale[0])
            slope[0] = part if k & 1 else -part
            part = <real>((c.far[0] if k & 1 else c.near[0]) * c.scale[1])
            slope[1] = part if k & 2 else -part
        else:
            for d in range(3):
                part = <real>(c.scale[d] if k >> d & 1 else -c.scale[d])
                for e in range(3):
                    if e != d:
                        part *= <real>(c.far[e] if k >> e & 1 else c.near[e])
                slope[d] = part
        slope += 3
    return c.n


cdef inline void spread_place(int corners, real part, const int64_t* at, const real* weight, const real* slope, real* to,
                              const real* plane, real* sums) noexcept nogil:
    """Of one place in one plane; `to` may be NULL. A corner outside adds nothing."""
    cdef real u = 0, v = 0, w = 0, value
    cdef int k
    for k in range(corners):
        if at[k] < 0:
            continue
        if to != NULL:
            to[at[k]] += part * weight[k]
        value = part * plane[at[k]]
        u += value * slope[3 * k]
        v += value * slope[3 * k + 1]
        w += value * slope[3 * k + 2]
    sums[0] += u
    sums[1] += v
    sums[2] += w


cdef inline void spread_four(real part, const int64_t* at, const real* weight, const real* slope, real* to, const real* plane,
                             real* sums) noexcept nogil:
    """The same of an image's corners, all of them inside."""
    cdef real a = part * plane[at[0]], b = part * plane[at[1]], c = part * plane[at[2]], d = part * plane[at[3]]
    sums[0] += a * slope[0] + b * slope[3] + (c * slope[6] + d * slope[9])
    sums[1] += a * slope[1] + b * slope[4] + (c * slope[7] + d * slope[10])
    if to != NULL:
        to[at[0]] += part * weight[0]
        to[at[1]] += part * weight[1]
        to[at[2]] += part * weight[2]
        to[at[3]] += part * weight[3]


cdef void spread_exact(Job* j, real* grad_input, real* grad_grid, const real* g, const real* x, const real* grid) noexcept nogil:
    """As `spread`, corner by corner: what each adds to the input's gradient and to those of the position."""
    cdef int64_t at[FEW * MOST_CORNERS]
    cdef real weight[FEW * MOST_CORNERS]
    cdef real slope[FEW * MOST_CORNERS * 3]
    cdef real sums[FEW][3]
    cdef bint four[FEW]
    cdef real part
    cdef real* to
    cdef int64_t n, p, e, left
    cdef int d, i, k, count, corners = 1
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            left = j.places - p
            count = <int>min(<int64_t>FEW, left)
            for i in range(count):
                k = i * corners              # as many for every place
                corners = find_exact(j, at + k, weight + k, slope + 3 * k, grid + i * j.dims)
                four[i] = corners == 4 and at[k] >= 0 and at[k + 1] >= 0 and at[k + 2] >= 0 and at[k + 3] >= 0
                sums[i][0] = sums[i][1] = sums[i][2] = 0
            for e in range(j.x.c):
                to = NULL if grad_input == NULL else grad_input + e * j.x.plane
                for i in range(count):
                    part, k = g[e * j.places + p + i], i * corners
                    if four[i]:
                        spread_four(part, at + k, weight + k, slope + 3 * k, to, x + e * j.x.plane, sums[i])
                    else:
                        spread_place(corners, part, at + k, weight + k, slope + 3 * k, to, x + e * j.x.plane, sums[i])
            for i in range(count):
                for d in range(j.dims):
                    grad_grid[d] = sums[i][d]
                grad_grid += j.dims
            grid += count * j.dims
            p += count
        x += j.x.c * j.x.plane
        g += j.x.c * j.places
        if grad_input != NULL:
            grad_input += j.x.c * j.x.plane


# ---- forward -----------------------------------------------------------------------------------

cdef inline real weighted(Job* j, Corners* c, const real* plane) noexcept nogil:
    """Outside, a volume has nothing to add; an image has 0 times the weight, which may be NaN."""
    cdef real total = 0, value
    cdef int k
    for k in range(c.n):
        if c.at[k] >= 0:
            value = plane[c.at[k]]
        elif j.dims == 3:
            continue
        else:
            value = 0
        total = rounded_real(total + rounded_real(value * <real>c.weight[k], j.code), j.code)
    return total


cdef inline real weighted_cubic(Job* j, Corners* c, const real* plane, const real* wx, const real* wy) noexcept nogil:
    cdef real total = 0, line, value
    cdef int i, k
    for i in range(4):
        line = 0
        for k in range(4):
            value = plane[c.at[4 * i + k]] if c.at[4 * i + k] >= 0 else <real>0
            line = rounded_real(line + rounded_real(value * wx[k], j.code), j.code)
        total = rounded_real(total + rounded_real(line * wy[i], j.code), j.code)
    return total


cdef grid_space space_of(const Job* j) noexcept nogil:
    cdef grid_space s
    cdef int d
    s.dims, s.nearest, s.align = j.dims, j.mode == NEAREST, j.align
    s.border, s.reflection = j.padding == BORDER, j.padding == REFLECTION
    for d in range(3):
        s.size[d] = j.x.size[2 - d]
    return s


cdef inline bint find_block(const grid_space* s, int64_t n, const real* grid, int64_t* at, real* weight) noexcept nogil:
    if real is float:
        return corners_f32(s, n, grid, at, weight)
    else:
        return corners_f64(s, n, grid, at, weight)


cdef void sample_blocks(Job* j, real* out, const real* x, const real* grid) noexcept nogil:
    """In float or double the nearest elements, an image's four corners or a volume's eight; those outside it add nothing."""
    cdef grid_space s = space_of(j)
    cdef int64_t at[CORNERS_MOST * CORNER_BLOCK]
    cdef real weight[CORNERS_MOST * CORNER_BLOCK]
    cdef real* to
    cdef const real* plane
    cdef int64_t n, p, e, count
    cdef bint inside
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            count = min(<int64_t>CORNER_BLOCK, j.places - p)
            inside = find_block(&s, count, grid + (n * j.places + p) * j.dims, at, weight)
            for e in range(j.x.c):
                plane, to = x + (n * j.x.c + e) * j.x.plane, out + (n * j.x.c + e) * j.places + p
                if real is float:
                    if s.nearest:
                        pick_f32(count, at, inside, to, plane)
                    elif HAS_GATHERS:
                        gather_mix(j.code, 1 << j.dims, count, at, weight, CORNER_BLOCK, to, plane)
                    else:
                        mix_f32(1 << j.dims, count, at, weight, inside, to, plane)
                elif s.nearest:
                    pick_f64(count, at, inside, to, plane)
                else:
                    mix_f64(1 << j.dims, count, at, weight, inside, to, plane)
            p += count


cdef void sample_cubic(Job* j, real* out, const real* x, const real* grid) noexcept nogil:
    """In float or double sixteen elements of an image."""
    cdef Corners c
    cdef int64_t at[MOST_CORNERS * CUBIC_BLOCK]
    cdef real wx[4 * CUBIC_BLOCK]
    cdef real wy[4 * CUBIC_BLOCK]
    cdef real u[4]
    cdef real v[4]
    cdef int64_t n, p, e, i, count
    cdef int k
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            count = min(<int64_t>CUBIC_BLOCK, j.places - p)
            for i in range(count):
                find_sixteen(j, &c, grid, u, v)
                for k in range(16):
                    at[k * CUBIC_BLOCK + i] = c.at[k]
                for k in range(4):
                    wx[k * CUBIC_BLOCK + i], wy[k * CUBIC_BLOCK + i] = u[k], v[k]
                grid += 2
            for e in range(n * j.x.c, (n + 1) * j.x.c):
                if real is float and HAS_GATHERS:
                    gather_cubic(count, at, wx, wy, out + e * j.places + p, x + e * j.x.plane)
                elif real is float:
                    cubic_f32(count, at, wx, wy, out + e * j.places + p, x + e * j.x.plane)
                else:
                    cubic_f64(count, at, wx, wy, out + e * j.places + p, x + e * j.x.plane)
            p += count


cdef void drop_blocks(Job* j, real* grad_input, const real* g, const real* grid) noexcept nogil:
    """The gradient of the nearest elements, in float or double."""
    cdef grid_space s = space_of(j)
    cdef int64_t at[CORNER_BLOCK]
    cdef real weight[CORNER_BLOCK]
    cdef int64_t n, p, e, count
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            count = min(<int64_t>CORNER_BLOCK, j.places - p)
            find_block(&s, count, grid + (n * j.places + p) * j.dims, at, weight)
            for e in range(n * j.x.c, (n + 1) * j.x.c):
                if real is float:
                    drop_f32(count, at, g + e * j.places + p, grad_input + e * j.x.plane)
                else:
                    drop_f64(count, at, g + e * j.places + p, grad_input + e * j.x.plane)
            p += count


cdef void sample_rounded(Job* j, float* out, const float* x, const float* grid) noexcept nogil:
    """The same of 16-bit floats, which are rounded after every step."""
    cdef Corners c
    cdef int64_t at[CORNERS_MOST * CORNER_BLOCK]
    cdef float weight[CORNERS_MOST * CORNER_BLOCK]
    cdef int64_t n, p, e, i, count
    cdef int k
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            count = min(<int64_t>CORNER_BLOCK, j.places - p)
            for i in range(count):
                find_corners(j, &c, grid)
                grid += j.dims
                for k in range(c.n):
                    at[k * CORNER_BLOCK + i] = c.at[k]
                    weight[k * CORNER_BLOCK + i] = 0 if c.at[k] < 0 and j.dims == 3 else <float>c.weight[k]
            for e in range(n * j.x.c, (n + 1) * j.x.c):
                gather_mix(j.code, c.n, count, at, weight, CORNER_BLOCK, out + e * j.places + p, x + e * j.x.plane)
            p += count


cdef void sample(Job* j, real* out, const real* x, const real* grid) noexcept nogil:
    cdef Corners c[FEW]
    cdef real wx[4 * FEW]
    cdef real wy[4 * FEW]
    cdef int64_t n, p, e, left
    cdef int i, count
    if j.mode != BICUBIC and is_exact(j):
        sample_blocks(j, out, x, grid)
        return
    if is_exact(j):
        sample_cubic(j, out, x, grid)
        return
    if real is float and j.mode != BICUBIC and HAS_GATHERS:
        sample_rounded(j, out, x, grid)
        return
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            left = j.places - p
            count = <int>min(<int64_t>FEW, left)
            for i in range(count):
                if j.mode == BICUBIC:
                    find_sixteen(j, &c[i], grid, wx + 4 * i, wy + 4 * i)
                else:
                    find_corners(j, &c[i], grid)
                grid += j.dims
            for e in range(j.x.c):
                for i in range(count):
                    if j.mode == BICUBIC:
                        out[e * j.places + p + i] = weighted_cubic(j, &c[i], x + e * j.x.plane, wx + 4 * i, wy + 4 * i)
                    else:
                        out[e * j.places + p + i] = weighted(j, &c[i], x + e * j.x.plane)
            p += count
        x += j.x.c * j.x.plane
        out += j.x.c * j.places


# ---- the way back ------------------------------------------------------------------------------

cdef inline void add_image_slopes(Job* j, Corners* c, real* sums, real g, const real* plane) noexcept nogil:
    """The gradient of a position in an image by its four corners."""
    cdef real v[4]
    cdef real a, b
    cdef int k, code = j.code
    for k in range(4):
        v[k] = plane[c.at[k]] if c.at[k] >= 0 else <real>0
    a = rounded_real(rounded_real(v[1] - v[0], code) * <real>c.near[1], code)
    b = rounded_real(rounded_real(v[3] - v[2], code) * <real>c.far[1], code)
    sums[0] = rounded_real(sums[0] + rounded_real(rounded_real(a + b, code) * g, code), code)
    a = rounded_real(rounded_real(v[2] - v[0], code) * <real>c.near[0], code)
    b = rounded_real(rounded_real(v[3] - v[1], code) * <real>c.far[0], code)
    sums[1] = rounded_real(sums[1] + rounded_real(rounded_real(a + b, code) * g, code), code)


cdef inline void add_volume_slopes(Job* j, Corners* c, real* sums, real g, const real* plane) noexcept nogil:
    """The gradient of a position in a volume by its eight corners."""
    cdef real part
    cdef int d, e, k, code = j.code
    for k in range(8):
        if c.at[k] < 0:
            continue
        for d in range(3):
            part = plane[c.at[k]]
            for e in range(3):
                if e != d:
                    part = rounded_real(part * <real>(c.far[e] if k >> e & 1 else c.near[e]), code)
            part = rounded_real(part * g, code)
            sums[d] = rounded_real(sums[d] + (part if k >> d & 1 else -part), code)


cdef inline void add_cubic_slopes(Job* j, Corners* c, real* sums, real g, const real* plane) noexcept nogil:
    cdef int d, k
    for k in range(16):
        if c.at[k] >= 0:
            for d in range(2):
                sums[d] = rounded_real(sums[d] + g * plane[c.at[k]] * <real>c.slope[k][d], j.code)


cdef inline void add_corners(Job* j, const Corners* c, real* plane, real g) noexcept nogil:
    cdef int k
    cdef real* to
    for k in range(c.n):
        if c.at[k] >= 0:
            to = plane + c.at[k]
            to[0] = rounded_real(to[0] + rounded_real(g * <real>c.weight[k], j.code), j.code)


cdef void spread(Job* j, real* grad_input, real* grad_grid, const real* g, const real* x, const real* grid) noexcept nogil:
    """`grad_input` is added to, if it is there; `grad_grid` written. Some places at a time, so that planes stay in the cache."""
    cdef Corners c[FEW]
    cdef real wx[4]
    cdef real wy[4]
    cdef real sums[FEW][3]
    cdef real part
    cdef int64_t n, p, e, left
    cdef int d, i, count
    if is_exact(j) and j.mode == NEAREST:
        memset(grad_grid, 0, j.x.n * j.places * j.dims * sizeof(real))
        if grad_input != NULL:
            drop_blocks(j, grad_input, g, grid)
        return
    if is_exact(j):
        spread_exact(j, grad_input, grad_grid, g, x, grid)
        return
    for n in range(j.x.n):
        p = 0
        while p < j.places:
            left = j.places - p
            count = <int>min(<int64_t>FEW, left)
            for i in range(count):
                if j.mode == BICUBIC:
                    find_sixteen(j, &c[i], grid + i * j.dims, wx, wy)
                else:
                    find_corners(j, &c[i], grid + i * j.dims)
                sums[i][0] = sums[i][1] = sums[i][2] = 0
            for e in range(j.x.c):
                for i in range(count):
                    part = g[e * j.places + p + i]
                    if grad_input != NULL:
                        add_corners(j, &c[i], grad_input + e * j.x.plane, part)
                    if j.mode == BICUBIC:
                        add_cubic_slopes(j, &c[i], sums[i], part, x + e * j.x.plane)
                    elif j.mode == BILINEAR and j.dims == 2:
                        add_image_slopes(j, &c[i], sums[i], part, x + e * j.x.plane)
                    elif j.mode == BILINEAR:
                        add_volume_slopes(j, &c[i], sums[i], part, x + e * j.x.plane)
            for i in range(count):
                for d in range(j.dims):
                    grad_grid[d] = 0 if j.mode == NEAREST else sums[i][d] * rounded_real(<real>c[i].scale[d], j.code)
                grad_grid += j.dims
            grid += count * j.dims
            p += count
        x += j.x.c * j.x.plane
        g += j.x.c * j.places
        if grad_input != NULL:
            grad_input += j.x.c * j.x.plane


# ---- operators ---------------------------------------------------------------------------------

cdef int prepare(Job* j, Tensor input, Tensor grid, int64_t mode, int64_t padding, bint align) except -1:
    cdef int i
    check_kernel(input.c_dtype, DTYPES_FLOATING)
    memset(j, 0, sizeof(Job))
    j.dims, j.mode, j.padding, j.align = input.c_ndim - 2, <int>mode, <int>padding, align
    j.code = input.c_dtype
    j.x = image_of(input, j.dims)
    j.places = 1
    for i in range(1, grid.c_ndim - 1):
        j.places *= grid.c_sizes[i]
    return 0


cdef void run(Job* j, int code) noexcept nogil:
    if j.grad != NULL:
        if code == ST_float32:
            spread[float](j, <float*>j.out, <float*>j.grad_grid, <float*>j.grad, <float*>j.input, <float*>j.grid)
        else:
            spread[double](j, <double*>j.out, <double*>j.grad_grid, <double*>j.grad, <double*>j.input, <double*>j.grid)
    elif code == ST_float32:
        sample[float](j, <float*>j.out, <float*>j.input, <float*>j.grid)
    else:
        sample[double](j, <double*>j.out, <double*>j.input, <double*>j.grid)


cdef struct Share:
    const Job* j
    int code, itemsize
    bint by_channels             # of the one image there is


cdef inline void* moved(void* data, int64_t elements, int itemsize) noexcept nogil:
    return NULL if data == NULL else <char*>data + elements * itemsize


cdef void run_share(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Share* s = <Share*>context
    cdef Job j = s.j[0]
    cdef int64_t planes = first if s.by_channels else first * j.x.c, to = j.places if j.grad == NULL else j.x.plane
    j.input, j.out = moved(j.input, planes * j.x.plane, s.itemsize), moved(j.out, planes * to, s.itemsize)
    if s.by_channels:
        j.x.c = end - first
    else:
        j.x.n = end - first
        j.grid = moved(j.grid, first * j.places * j.dims, s.itemsize)
        j.grad_grid = moved(j.grad_grid, first * j.places * j.dims, s.itemsize)
        j.grad = moved(j.grad, planes * j.places, s.itemsize)
    run(&j, s.code)


cdef void run_shared(const Job* j, int code) noexcept nogil:
    """Images, or the channels of one, whose gradient they would share."""
    cdef Share s
    cdef int64_t n
    s.j, s.code, s.itemsize = j, code, 8 if code == ST_float64 else 4
    s.by_channels = j.x.n == 1 and j.grad == NULL
    n = j.x.c if s.by_channels else j.x.n
    in_spans(run_share, &s, n, parts_for(n, CORNER_WORK * j.x.n * j.x.c * j.places * s.itemsize))


cdef int grid_sampler(Tensor out, Tensor input, Tensor grid, int64_t interpolation_mode,
                      int64_t padding_mode, bint align_corners) except -1:
    cdef int code = computed_in(input.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x, g, y
    cdef Job j
    if out.c_numel == 0:
        return 0
    prepare(&j, input, grid, interpolation_mode, padding_mode, align_corners)
    x, g = dense(input, code, MF_contiguous), dense(grid, code, MF_contiguous)
    y = target(out, code, MF_contiguous)
    j.input, j.grid, j.out = data_of(x, itemsize), data_of(g, itemsize), data_of(y, itemsize)
    kept = pinned(out.c_numel, x, g, y)
    if out.c_numel >= LONG_RUN:
        with nogil:
            run_shared(&j, code)
    else:
        run(&j, code)
    return finish(out, y)


cdef int grid_sampler_backward(Tensor grad_input, Tensor grad_grid, Tensor grad_output, Tensor input,
                               Tensor grid, int64_t interpolation_mode, int64_t padding_mode,
                               bint align_corners, object output_mask) except -1:
    cdef int code = computed_in(input.c_dtype), itemsize = dtypes.itemsize_table()[code]
    cdef Tensor x, g, dy, dx = None, dg
    cdef Job j
    prepare(&j, input, grid, interpolation_mode, padding_mode, align_corners)
    x, g = dense(input, code, MF_contiguous), dense(grid, code, MF_contiguous)
    dy, dg = dense(grad_output, code, MF_contiguous), target(grad_grid, code, MF_contiguous)
    j.input, j.grid = data_of(x, itemsize), data_of(g, itemsize)
    j.grad, j.grad_grid = data_of(dy, itemsize), data_of(dg, itemsize)
    if grad_input is not None:
        dx = target(grad_input, code, MF_contiguous)
        j.out = data_of(dx, itemsize)
        if dx.c_numel:
            memset(j.out, 0, dx.c_numel * itemsize)
    if dg.c_numel and j.grad == NULL:                    # no channels
        memset(j.grad_grid, 0, dg.c_numel * itemsize)
    elif dg.c_numel:
        kept = pinned(LONG_RUN, x, g, dy, dg), None if dx is None else pinned(LONG_RUN, dx, dx)
        with nogil:
            run_shared(&j, code)
    if dx is not None:
        finish(grad_input, dx)
    return finish(grad_grid, dg)
