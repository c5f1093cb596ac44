"""Bodies of distances between points: cdist between two sets, pdist within one, and their gradients.

Called by the structured kernels with an output of the right size. One formula for each kind of norm
(`add_term`, `finish`, `gradient`) serves both. Euclidean distances of many points come from one
matrix product, as in PyTorch, whose rounding near 0 that decides.
"""
from cython cimport floating
from libc.math cimport powf, INFINITY, fabs, isnan, pow
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_float32, ST_float64
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, loop, plain, run_floating, run_spans, written_as,
)

from dispatch._ops import ops

cdef extern from "vectorised.h":
    pass

cdef extern from "distance/lines.h" nogil:
    void distances_one_f32(float* out, const float* x, const float* y, int64_t points, int64_t columns)
    void distances_one_f64(double* out, const double* x, const double* y, int64_t points, int64_t columns)
    void distances_two_f32(float* out, const float* x, const float* y, int64_t points, int64_t columns)
    void distances_two_f64(double* out, const double* x, const double* y, int64_t points, int64_t columns)
    ctypedef void (*turned_f32)(float* out, const float* x, const float* y, int64_t points, int64_t stride,
                                int64_t columns) noexcept
    ctypedef void (*turned_f64)(double* out, const double* x, const double* y, int64_t points, int64_t stride,
                                int64_t columns) noexcept
    const turned_f32 TURNED_f32[2][4]
    const turned_f64 TURNED_f64[2][4]
    void add_differences_f32(float* to, const float* x, const float* y, float by, int64_t n)
    void add_differences_f64(double* to, const double* x, const double* y, double by, int64_t n)
    void add_signs_f32(float* to, const float* x, const float* y, float by, int64_t n)
    void add_signs_f64(double* to, const double* x, const double* y, double by, int64_t n)

cdef enum:
    FEW_POINTS = 25              # of a set, above which Euclidean distances are a matrix product
    FEW_COLUMNS = 64             # up to which points are turned into columns
    SLACK = 64                   # elements behind those, which are read and not used
    WORK = 4                     # bytes of a term take as long as so many that are copied

cdef enum Norm:
    NORM_ZERO, NORM_ONE, NORM_TWO, NORM_INF, NORM_OTHER

cdef struct Pairs:
    Norm norm
    double p
    bint skip_nan                # the largest difference passes over NaN
    bint wide                    # float64
    int64_t n, m, columns        # points of the sets; pdist: n of one
    int64_t batches
    const void* x
    const void* y
    void* turned                 # the points of y as columns, `m` apart, in each batch; NULL: as they are
    const void* grads            # of the distances
    const void* distances
    void* out


cdef Norm norm_of(double p) noexcept:
    if p == 0:
        return NORM_ZERO
    if p == 1:
        return NORM_ONE
    if p == 2:
        return NORM_TWO
    return NORM_INF if p == INFINITY else NORM_OTHER


cdef inline floating distance(Pairs* j, const floating* a, const floating* b) noexcept nogil:
    cdef int64_t k
    """By the norms that are neither 1 nor 2."""
    cdef floating sum = 0, d
    for k in range(j.columns):
        d = <floating>fabs(a[k] - b[k])
        if j.norm == NORM_ZERO:
            sum += 1 if d > 0 else d               # NaN stays
        elif j.norm == NORM_OTHER:
            sum += powf(d, <floating>j.p) if floating is float else <floating>pow(d, j.p)
        elif j.skip_nan:
            sum = d if d > sum else sum
        else:
            sum = d if d > sum or isnan(d) else sum
    return <floating>pow(sum, 1 / <floating>j.p) if j.norm == NORM_OTHER else sum


cdef inline void distances(Pairs* j, floating* out, const floating* x, const floating* y, const floating* turned,
                           int64_t points) noexcept nogil:
    """Of a point from others, one after the other, or beside each other if they are turned."""
    cdef int64_t i
    if j.turned != NULL:
        if floating is float:
            TURNED_f32[j.skip_nan][<int>j.norm](out, x, turned, points, j.m, j.columns)
        else:
            TURNED_f64[j.skip_nan][<int>j.norm](out, x, turned, points, j.m, j.columns)
    elif j.norm == NORM_TWO:
        if floating is float:
            distances_two_f32(out, x, y, points, j.columns)
        else:
            distances_two_f64(out, x, y, points, j.columns)
    elif j.norm == NORM_ONE:
        if floating is float:
            distances_one_f32(out, x, y, points, j.columns)
        else:
            distances_one_f64(out, x, y, points, j.columns)
    else:
        for i in range(points):
            out[i] = distance(j, x, y + i * j.columns)


cdef void turn(Pairs* j, floating* to) noexcept:
    cdef int64_t batch, i, k
    cdef const floating* y = <const floating*>j.y
    for batch in range(j.batches):
        for i in range(j.m):
            for k in range(j.columns):
                to[k * j.m + i] = y[k]
            y += j.columns
        to += j.columns * j.m


cdef int new_turned(Pairs* j) except -1:
    """Many points of few columns are turned, where the terms are plain; freed by whoever asked."""
    cdef int64_t n = j.batches * j.m * j.columns
    j.turned = NULL
    if j.columns > FEW_COLUMNS or j.m < SLACK or j.n < 4 or j.norm == NORM_ZERO or j.norm == NORM_OTHER:
        return 0
    j.turned = calloc(n + SLACK, sizeof(double) if j.wide else sizeof(float))
    if j.turned == NULL:
        raise MemoryError
    if j.wide:
        turn(j, <double*>j.turned)
    else:
        turn(j, <float*>j.turned)
    return 0


cdef inline floating gradient(Pairs* j, floating d, floating grad, floating dist) noexcept nogil:
    """What a distance's gradient is to one of its differences, by the norms that are neither 1 nor 2."""
    cdef floating sign = <floating>((d > 0) - (d < 0))
    if j.norm == NORM_INF:
        return grad * sign * (fabs(d) == dist)
    if j.norm == NORM_ZERO or dist == 0:
        return 0
    if j.p < 2:
        if d == 0 and j.p < 1:
            return 0
        return sign * <floating>(pow(fabs(d), j.p - 1) * grad / pow(dist, j.p - 1))
    return d * <floating>(pow(fabs(d), j.p - 2) * grad / pow(dist, j.p - 1))


cdef inline void add_gradient(Pairs* j, floating* to, const floating* x, const floating* y, floating grad,
                              floating dist) noexcept nogil:
    """The gradient of point x by its distance from y."""
    cdef int64_t k
    if j.norm == NORM_TWO and dist != 0:
        if floating is float:
            add_differences_f32(to, x, y, grad / dist, j.columns)
        else:
            add_differences_f64(to, x, y, grad / dist, j.columns)
    elif j.norm == NORM_ONE:
        if floating is float:
            add_signs_f32(to, x, y, grad, j.columns)
        else:
            add_signs_f64(to, x, y, grad, j.columns)
    else:
        for k in range(j.columns):
            to[k] += gradient(j, x[k] - y[k], grad, dist)


# ---- between two sets --------------------------------------------------------------------------

cdef void between(Pairs* j, floating* out, int64_t first, int64_t end) noexcept nogil:
    """Of points first..end of all batches' first sets."""
    cdef int64_t a, batch
    for a in range(first, end):
        batch = a // j.n
        distances(j, out + a * j.m, <const floating*>j.x + a * j.columns, <const floating*>j.y + batch * j.m * j.columns,
                  <const floating*>j.turned + batch * j.m * j.columns, j.m)


cdef void between_part(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Pairs* j = <Pairs*>job
    if j.wide:
        between(j, <double*>j.out, first, end)
    else:
        between(j, <float*>j.out, first, end)


cdef void between_grads(Pairs* j, floating* out, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t a, b
    cdef const floating* x
    cdef const floating* y
    cdef const floating* grads
    cdef const floating* distances
    for a in range(first, end):
        x = <const floating*>j.x + a * j.columns
        y = <const floating*>j.y + a // j.n * j.m * j.columns
        grads, distances = <const floating*>j.grads + a * j.m, <const floating*>j.distances + a * j.m
        for b in range(j.m):
            add_gradient(j, out + a * j.columns, x, y + b * j.columns, grads[b], distances[b])


cdef void between_grads_part(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Pairs* j = <Pairs*>job
    if j.wide:
        between_grads(j, <double*>j.out, first, end)
    else:
        between_grads(j, <float*>j.out, first, end)


cdef inline int64_t work_of(Pairs* j, int64_t n) noexcept:
    """Of `n` distances, as bytes that are copied; powers take much longer."""
    return n * j.columns * (WORK * 16 if j.norm == NORM_OTHER else WORK)


cdef int check_floats(Tensor t) except -1:
    if t.c_dtype != ST_float32 and t.c_dtype != ST_float64:
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return 0


cdef Tensor batched(Tensor t, Tensor out, int code):
    """Without gaps and with all batches, which are those of the output."""
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int d, n = out.c_ndim - 2, lead = out.c_ndim - t.c_ndim
    cdef bint same = lead == 0
    for d in range(out.c_ndim):
        sizes[d] = out.c_sizes[d] if d < n else t.c_sizes[d - lead]
        strides[d] = 0 if d < lead or t.c_sizes[d - lead] != sizes[d] else t.c_strides[d - lead]
        same = same and t.c_sizes[d] == sizes[d]
    return plain(t if same else new_view(t, out.c_ndim, sizes, strides, t.c_offset), code)


cdef void set_sets(Pairs* j, Tensor x1, Tensor x2, double p) noexcept:
    j.n, j.m = x1.c_sizes[x1.c_ndim - 2], x2.c_sizes[x2.c_ndim - 2]
    j.columns, j.p, j.norm, j.skip_nan = x1.c_sizes[x1.c_ndim - 1], p, norm_of(p), True
    j.wide = x1.c_dtype == ST_float64


cdef int cdist(Tensor out, Tensor x1, Tensor x2, double p, object compute_mode) except -1:
    """Distances of all points of x1 from all of x2."""
    cdef Pairs j
    cdef Tensor a, b, made
    if out.c_numel == 0:
        return 0
    set_sets(&j, x1, x2, p)
    if j.columns == 0:
        return fill_values(out, 0)
    if p == 2 and (compute_mode == 1 or not compute_mode and (j.n > FEW_POINTS or j.m > FEW_POINTS)):
        return copy_values(out, ops.aten._euclidean_dist(x1, x2))
    check_floats(x1)
    check_dtype("x2", x2, x1.c_dtype)
    a, b, made = batched(x1, out, x1.c_dtype), batched(x2, out, x1.c_dtype), written_as(out, x1.c_dtype)
    j.batches = out.c_numel // (j.n * j.m)
    j.x, j.y, j.out = address(a), address(b), address(made)
    new_turned(&j)
    try:
        run_spans(between_part, &j, j.batches * j.n, out.c_numel * j.columns, work_of(&j, out.c_numel), (a, b, made))
    finally:
        free(j.turned)
    return finish(out, made)


cdef int cdist_backward(Tensor out, Tensor grad, Tensor x1, Tensor x2, double p, Tensor cdist) except -1:
    """The gradient of x1."""
    cdef Pairs j
    cdef Tensor a, b, grads, distances, made
    fill_values(out, 0)
    set_sets(&j, x1, x2, p)
    if out.c_numel == 0 or grad.c_numel == 0:
        return 0
    check_floats(x1)
    for name, t in (("x2", x2), ("grad", grad), ("cdist", cdist)):
        check_dtype(name, t, x1.c_dtype)
    a, b = batched(x1, out, x1.c_dtype), batched(x2, out, x1.c_dtype)
    grads, distances = plain(grad, x1.c_dtype), plain(cdist, x1.c_dtype)
    made = plain(out, x1.c_dtype)
    j.batches = out.c_numel // (j.n * j.columns)
    j.x, j.y, j.out = address(a), address(b), address(made)
    j.grads, j.distances = address(grads), address(distances)
    run_spans(between_grads_part, &j, j.batches * j.n, grads.c_numel * j.columns, work_of(&j, grads.c_numel),
              (a, b, grads, distances, made))
    return finish(out, made)


# ---- within one set ----------------------------------------------------------------------------

cdef void within(Pairs* j, floating* out, int64_t first, int64_t end) noexcept nogil:
    """Of points as far from the first as from the last: each two of those have as many distances."""
    cdef int64_t i, a, point
    cdef const floating* x = <const floating*>j.x
    for i in range(first, end):
        for point in range(2 if 2 * i + 1 < j.n else 1):
            a = j.n - 1 - i if point else i
            distances(j, out + a * (2 * j.n - a - 1) // 2, x + a * j.columns, x + (a + 1) * j.columns,
                      <const floating*>j.turned + a + 1, j.n - a - 1)


cdef void within_part(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Pairs* j = <Pairs*>job
    if j.wide:
        within(j, <double*>j.out, first, end)
    else:
        within(j, <float*>j.out, first, end)


cdef int64_t within_grads(Pairs* j, floating* typed) noexcept nogil:
    cdef int64_t a, b
    cdef const floating* x = <const floating*>j.x
    cdef const floating* grads = <const floating*>j.grads
    cdef const floating* distances = <const floating*>j.distances
    cdef floating* out = <floating*>j.out
    for a in range(j.n):
        for b in range(a + 1, j.n):
            add_gradient(j, out + a * j.columns, x + a * j.columns, x + b * j.columns, grads[0], distances[0])
            add_gradient(j, out + b * j.columns, x + b * j.columns, x + a * j.columns, grads[0], distances[0])
            grads += 1
            distances += 1
    return 0


cdef void set_one(Pairs* j, Tensor self, double p) noexcept:
    j.n, j.m, j.columns, j.p, j.batches = self.c_sizes[0], self.c_sizes[0], self.c_sizes[1], p, 1
    j.norm, j.skip_nan, j.wide = norm_of(p), False, self.c_dtype == ST_float64


cdef int pdist(Tensor out, Tensor self, double p) except -1:
    """Distances of each point from those after it."""
    cdef Pairs j
    cdef Tensor x, made
    if out.c_numel == 0:
        return 0
    if self.c_numel == 0:
        return fill_values(out, 0)
    check_floats(self)
    set_one(&j, self, p)
    x, made = plain(self, self.c_dtype), written_as(out, self.c_dtype)
    j.x, j.y, j.out = address(x), address(x), address(made)
    new_turned(&j)
    try:
        run_spans(within_part, &j, (j.n + 1) // 2, out.c_numel * j.columns, work_of(&j, out.c_numel), (x, made))
    finally:
        free(j.turned)
    return finish(out, made)


cdef int pdist_backward(Tensor out, Tensor grad, Tensor self, double p, Tensor pdist) except -1:
    """The gradient of the points."""
    cdef Pairs j
    cdef Tensor x, grads, distances, made
    fill_values(out, 0)
    if self.c_numel == 0 or self.c_ndim != 2:
        return 0
    check_floats(self)
    check_dtype("grad", grad, self.c_dtype)
    check_dtype("pdist", pdist, self.c_dtype)
    set_one(&j, self, p)
    x, grads, distances = plain(self, self.c_dtype), plain(grad, self.c_dtype), plain(pdist, self.c_dtype)
    made = plain(out, self.c_dtype)
    j.x, j.out, j.grads, j.distances = address(x), address(made), address(grads), address(distances)
    run_floating(<loop>within_grads[float], <loop>within_grads[double], &j, x,
                 grads.c_numel * j.columns, (x, grads, distances, made))
    return finish(out, made)
