"""Histograms of points in one dimension or several.

Called for `histogram`, `histc`, and for the parts of `histogramdd`. A bin holds its left edge, the
last one its right edge too; what lies outside, and NaN, is left out. Edges come from the caller, or
divide the given range (else that of the values) into equal parts. Counts are kept in float64.
"""
from cython cimport floating
from libc.math cimport isfinite, isnan
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOAT8, DTYPES_REDUCED_FLOATING, MF_contiguous, ST_float32, ST_float64, get_dtype, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, new_empty, new_view
from dispatch.kernels.cpu.casts cimport cast_loop, get_cast
from dispatch.kernels.cpu.copy.copies cimport copy_values, zero_
from dispatch.kernels.cpu.dense cimport LONG_RUN, computed_in, dense, held
from dispatch.kernels.cpu.runs cimport address
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

from dispatch._ops import ops
from dispatch.kernels.meta.outputs import resize_out

cdef extern from "../kernels/cpu/factory/sequences.h" nogil:
    void dispatch_linspace_f32(float* to, float first, float last, int64_t n) noexcept
    void dispatch_linspace_f64(double* to, double first, double last, int64_t n) noexcept

cdef struct Axis:
    const void* edges
    int64_t bins
    bint uniform                 # the edges divide a range into equal parts: a bin's place can be guessed


# ---- checks ------------------------------------------------------------------------------------

cdef int64_t check_points(Tensor self) except -1:
    """How many coordinates a point has."""
    if self.c_ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got shape {list(self.shape)}")
    return self.c_sizes[self.c_ndim - 1]


cdef int check_weight(Tensor self, Tensor weight, bint flat) except -1:
    """`flat`: each element of self is a point, and weight may have any shape of as many elements."""
    if weight is None:
        return 0
    if weight.c_dtype != self.c_dtype:
        raise refused(f"input tensor and weight tensor should have the same dtype, got {self.dtype} and {weight.dtype}")
    sizes = [weight.numel()] if flat else list(weight.shape) or [1]
    wanted = [self.numel()] if flat else list(self.shape)[:self.c_ndim - 1]
    if sizes != wanted:
        raise refused("if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
                      f"dimension, expected {wanted}, got {sizes}")
    return 0


cdef int check_edges(Tensor self, int64_t count, list edges) except -1:
    cdef Tensor t
    if len(edges) != count:
        raise refused("The size of bins must be equal to the innermost dimension of the input, "
                      f"expected {count}, got {len(edges)}")
    for t in edges:
        if t.c_dtype != self.c_dtype:
            raise refused(f"input tensor and bins tensors should have the same dtype, got {self.dtype} and {t.dtype}")
        if t.c_ndim != 1:
            raise refused(f"bins tensor should have one dimension, got shape {list(t.shape)}")
        if t.c_numel == 0:
            raise refused("bins tensor should have at least 1 element, got none")
    return 0


cdef Tensor points_of(Tensor self, bint edged=False):
    """`edged`: the caller gave the edges or their range; PyTorch finds no range of 16-bit floats. They are counted in float32."""
    if edged and is_in(DTYPES_REDUCED_FLOATING, self.c_dtype):
        return dense(self, ST_float32, MF_contiguous)
    if self.c_dtype != ST_float32 and self.c_dtype != ST_float64:
        raise unserved(self.dtype)
    return dense(self, self.c_dtype, MF_contiguous)


# ---- edges -------------------------------------------------------------------------------------

cdef void find_extremes(const floating* values, int64_t n, int64_t step, double* low, double* high) noexcept nogil:
    """Of every `step`-th of `n` elements; NaN if there is one."""
    cdef int64_t i = 0
    cdef floating least = values[0], most = values[0], v
    while i < n:
        v = values[i]
        i += step
        if isnan(v):
            least = most = v
            break
        least = v if v < least else least
        most = v if v > most else most
    low[0], high[0] = least, most


cdef Tensor equal_parts(Tensor points, int64_t first, int64_t columns, int64_t bins, object range_, int code):
    """The edges of `bins` parts of the range of a coordinate, in the dtype `code`."""
    cdef double low = 0, high = 1
    cdef int64_t n = bins + 1
    cdef Tensor made
    if range_ is not None:
        low, high = range_[2 * first], range_[2 * first + 1]
    elif points.c_numel and points.c_dtype == ST_float32:
        find_extremes(<float*>address(points) + first, points.c_numel - first, columns, &low, &high)
    elif points.c_numel:
        find_extremes(<double*>address(points) + first, points.c_numel - first, columns, &low, &high)
    if not isfinite(low) or not isfinite(high):
        raise refused(f"range [{low}, {high}] is not finite")
    if low > high:
        raise refused(f"min should not exceed max, got {low} and {high}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    if code != points.c_dtype:
        return ops.aten.linspace(low, high, n, dtype=get_dtype(code))
    made = new_empty(code, DEV_CPU, -1, 1, &n, NULL)
    if code == ST_float32:
        dispatch_linspace_f32(<float*>address(made), <float>low, <float>high, n)
    else:
        dispatch_linspace_f64(<double*>address(made), low, high, n)
    return made


cdef list equal_edges(Tensor points, int64_t columns, object bins, object range_, int code):
    cdef int64_t i
    if len(bins) != columns:
        raise refused("The size of bins must be equal to the innermost dimension of the input, "
                      f"expected {columns}, got {len(bins)}")
    for n in bins:
        if n <= 0:
            raise refused(f"bins must be > 0, got {n}")
    if range_ is not None and len(range_) != 2 * columns:
        raise refused(f"expected range to have {2 * columns} numbers, got {len(range_)}")
    return [equal_parts(points, i, columns, bins[i], range_, code) for i in range(columns)]


# ---- counting ----------------------------------------------------------------------------------

cdef inline int64_t place_of(const floating* edges, int64_t n, floating v, bint uniform) noexcept nogil:
    """The bin of a value; -1: none."""
    cdef int64_t low, high, middle
    if not (v >= edges[0] and v <= edges[n]):
        return -1
    if n == 0:
        return -1
    if uniform:
        low = <int64_t>((v - edges[0]) * n / (edges[n] - edges[0]))
        low = 0 if low < 0 else n - 1 if low > n - 1 else low
        while low > 0 and v < edges[low]:
            low -= 1
        while low < n - 1 and v >= edges[low + 1]:
            low += 1
        return low
    low, high = 0, n                         # edges[low] <= v, and v < edges[high] or there is no such bin
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= v:
            low = middle
        else:
            high = middle
    return low


cdef void count_points(const floating* points, int64_t n, int64_t columns, const Axis* axes, const floating* weights,
                       double* to) noexcept nogil:
    cdef int64_t i, k, place, at
    for i in range(n):
        place = 0
        for k in range(columns):
            at = place_of(<const floating*>axes[k].edges, axes[k].bins, points[i * columns + k], axes[k].uniform)
            if at < 0:
                break
            place = place * axes[k].bins + at
        else:
            to[place] += weights[i] if weights != NULL else 1


cdef void divide(double* values, int64_t numel, int64_t columns, const Axis* axes, floating* typed) noexcept nogil:
    """Densities: over the sum of all, and over the width of the bin along each coordinate. `typed` chooses the loop."""
    cdef int64_t i, k, at, rest
    cdef double total = 0
    cdef const floating* edges
    for i in range(numel):
        total += values[i]
    for i in range(numel):
        values[i] /= total
        rest = i
        for k in range(columns - 1, -1, -1):
            at, edges = rest % axes[k].bins, <const floating*>axes[k].edges
            rest //= axes[k].bins
            values[i] /= <double><floating>(edges[at + 1] - edges[at])


cdef Tensor histogram(Tensor points, int64_t columns, list edges, bint uniform, Tensor weight, bint density, int code):
    """A tensor of the dtype `code`, with a dimension for each coordinate."""
    cdef int64_t sizes[64]
    cdef int64_t k, n = points.c_numel // columns if columns else 0
    cdef Tensor found, out, t
    cdef list kept = [dense(t, points.c_dtype, MF_contiguous) for t in edges]
    cdef list owners = [shared_owner((<Tensor>t).c_storage) for t in kept]
    cdef Axis* axes = <Axis*>malloc((columns + 1) * sizeof(Axis))
    if axes == NULL:
        raise MemoryError
    try:
        if columns > 64:
            raise refused(f"expected at most 64 coordinates, got {columns}")
        for k in range(columns):
            t = kept[k]
            axes[k].edges, axes[k].bins, axes[k].uniform = address(t), t.c_numel - 1, uniform
            sizes[k] = axes[k].bins
        found = new_empty(ST_float64, DEV_CPU, -1, <int>columns, sizes, NULL)
        zero_(found)
        weight = None if weight is None else dense(weight, points.c_dtype, MF_contiguous)
        fill(points, n, columns, axes, weight, found, density)
    finally:
        free(axes)
    if code == ST_float64:
        return found
    out = new_empty(code, DEV_CPU, -1, <int>columns, sizes, NULL)
    copy_values(out, found)
    return out


cdef int fill(Tensor points, int64_t n, int64_t columns, const Axis* axes, Tensor weight, Tensor found,
              bint density) except -1:
    cdef object kept = held(points, found, weight)
    cdef void* from_ = address(points)
    cdef void* weights = address(weight)
    cdef double* to = <double*>address(found)
    cdef bint single = points.c_dtype == ST_float32
    if found.c_numel == 0:
        return 0
    with nogil:
        if single:
            count_points[float](<float*>from_, n, columns, axes, <float*>weights, to)
            if density:
                divide[float](to, found.c_numel, columns, axes, NULL)
        else:
            count_points[double](<double*>from_, n, columns, axes, <double*>weights, to)
            if density:
                divide[double](to, found.c_numel, columns, axes, NULL)
    return 0


# ---- several dimensions ------------------------------------------------------------------------

def bin_edges(Tensor self not None, bins, *, range=None, weight=None, density=False):
    """Edges for each coordinate of self, whose last dimension is a point."""
    cdef int64_t columns = check_points(self)
    return equal_edges(points_of(self), columns, bins, range, self.c_dtype)


def from_bin_cts(Tensor self not None, bins, *, range=None, Tensor weight=None, bint density=False):
    """How many points fall into each of a grid of equal cells."""
    cdef int64_t columns = check_points(self)
    cdef Tensor points = points_of(self, range is not None)
    edges = equal_edges(points, columns, bins, range, self.c_dtype)
    check_weight(self, weight, False)
    return histogram(points, columns, edges, True, weight, density, self.c_dtype)


def from_bin_tensors(Tensor self not None, list bins not None, *, Tensor weight=None, bint density=False):
    """The same with given edges."""
    cdef int64_t columns = check_points(self)
    check_edges(self, columns, bins)
    check_weight(self, weight, False)
    return histogram(points_of(self, True), columns, bins, False, weight, density, self.c_dtype)


# ---- one dimension -----------------------------------------------------------------------------

cdef tuple write(tuple outputs, tuple found):
    for name, out, values in zip(("hist", "bin_edges"), outputs, found):
        if out.dtype is not values.dtype:
            raise refused(f"input tensor and {name} tensor should have the same dtype, got {values.dtype} and {out.dtype}")
    for out, values in zip(outputs, found):
        ops.aten.copy_(resize_out(out, values.shape), values)
    return outputs


def histogram_bin_ct(Tensor self not None, bins=100, *, range=None, Tensor weight=None, bint density=False):
    """How many elements fall into each of `bins` equal parts, and the edges."""
    cdef Tensor points = points_of(self, range is not None)
    edges = equal_edges(points, 1, [bins], range, self.c_dtype)
    check_weight(self, weight, True)
    return histogram(points, 1, edges, True, weight, density, self.c_dtype), edges[0]


def histogram_bins_tensor(Tensor self not None, Tensor bins not None, *, Tensor weight=None, bint density=False):
    """How many elements fall between the edges `bins`, and the edges."""
    check_edges(self, 1, [bins])
    check_weight(self, weight, True)
    return histogram(points_of(self, True), 1, [bins], False, weight, density, self.c_dtype), ops.aten.clone(bins)


def histogram_bin_ct_out(Tensor self not None, bins=100, *, range=None, Tensor weight=None, bint density=False,
                         Tensor hist not None, Tensor bin_edges not None):
    """histogram.bin_ct into `hist` and `bin_edges`."""
    return write((hist, bin_edges), histogram_bin_ct(self, bins, range=range, weight=weight, density=density))


def histogram_bins_tensor_out(Tensor self not None, Tensor bins not None, *, Tensor weight=None, bint density=False,
                              Tensor hist not None, Tensor bin_edges not None):
    """histogram.bins_tensor into `hist` and `bin_edges`."""
    return write((hist, bin_edges), histogram_bins_tensor(self, bins, weight=weight, density=density))


# ---- histc: counts alone, of any floats ----------------------------------------------------------

cdef inline int64_t part_at(double place, int64_t bins) noexcept nogil:
    """Which part; the last one is closed."""
    return <int64_t>place if place < bins else bins - 1


cdef void count_parts(const floating* values, int64_t n, int64_t bins, floating first, floating last, double* to) noexcept nogil:
    """Rounded at each step as PyTorch does: which part an element at a border falls into shows it."""
    cdef int64_t i
    cdef floating v, width = last - first
    if not isfinite(width):              # no part has an edge
        return
    for i in range(n):
        v = values[i]                    # read once: another thread may write it
        if v >= first and v <= last:
            to[part_at((v - first) * <floating>bins / width, bins)] += 1


cdef inline float rounded(float v, cast_loop down, cast_loop up) noexcept nogil:
    """To a dtype of 16 bits."""
    cdef char bits[2]
    down(<char*>&v, 0, bits, 0, 1)
    up(bits, 0, <char*>&v, 0, 1)
    return v


cdef void count_narrow(const float* values, int64_t n, int64_t count, float first, float last, cast_loop down, cast_loop up,
                       double* to) noexcept nogil:
    """The same of values of 16 bits."""
    cdef int64_t i
    cdef float v, low = rounded(first, down, up), high = rounded(last, down, up), bins = rounded(<float>count, down, up)
    cdef float width = rounded(high - low, down, up)
    if not isfinite(width):
        return
    for i in range(n):
        v = values[i]
        if v >= low and v <= high:
            to[part_at(rounded(rounded(rounded(v - low, down, up) * bins, down, up) / width, down, up), count)] += 1


cdef struct Parts:               # what threads count together
    int code                     # of the values
    const char* values
    int64_t bins
    double first, last
    cast_loop down, up           # of 16-bit values; NULL: none
    double* to                   # the first part's counts
    double* more                 # the others'


cdef void count_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Parts* p = <Parts*>context
    cdef double* to = p.more + (part - 1) * p.bins if part else p.to
    if p.down != NULL:
        count_narrow(<float*>p.values + first, end - first, p.bins, <float>p.first, <float>p.last, p.down, p.up, to)
    elif p.code == ST_float32:
        count_parts[float](<float*>p.values + first, end - first, p.bins, <float>p.first, <float>p.last, to)
    else:
        count_parts[double](<double*>p.values + first, end - first, p.bins, p.first, p.last, to)


cdef void count_all(Parts* p, int64_t n) noexcept nogil:
    """Each thread has counts of its own, which are added up; few values, or many bins, are one thread's."""
    cdef int64_t i, parts = parts_for(n // (p.bins + 1), n * 16)
    p.more = <double*>calloc((parts - 1) * p.bins, sizeof(double)) if parts > 1 else NULL
    if p.more == NULL:
        parts = 1
    in_spans(count_span, p, n, parts)
    for i in range((parts - 1) * p.bins):
        p.to[i % p.bins] += p.more[i]
    free(p.more)


cdef int histc(Tensor out, Tensor self, int64_t bins, object min, object max) except -1:
    """How many elements fall into each of `bins` equal parts of a range; others are left out."""
    cdef int code = computed_in(self.c_dtype)
    cdef Tensor values, found
    cdef double first, last
    cdef Parts p
    cdef object kept
    if out.c_dtype != self.c_dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    if is_in(DTYPES_FLOAT8, self.c_dtype):
        raise unserved(self.dtype)
    if isinstance(min, complex) or isinstance(max, complex):
        raise refused(f"expected min and max to be real, got {min} and {max}")
    if code != ST_float32:
        code = ST_float64
    first, last = float(min), float(max)
    values = dense(self, code, MF_contiguous)
    if first == last and values.c_numel:
        if values.c_numel >= LONG_RUN:
            first, last = (float(found) for found in ops.aten.aminmax(values))
        elif code == ST_float32:
            find_extremes(<float*>address(values), values.c_numel, 1, &first, &last)
        else:
            find_extremes(<double*>address(values), values.c_numel, 1, &first, &last)
    if not isfinite(first) or not isfinite(last):
        raise refused(f"range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 1, last + 1
    found = new_empty(ST_float64, DEV_CPU, -1, 1, &bins, NULL)
    zero_(found)
    p.code, p.values, p.to = code, <const char*>address(values), <double*>address(found)
    p.bins, p.first, p.last, p.down, p.up = bins, first, last, NULL, NULL
    if self.c_dtype != code:
        p.down, p.up = get_cast(ST_float32, self.c_dtype), get_cast(self.c_dtype, ST_float32)
    kept = held(values, found)
    with nogil:
        count_all(&p, values.c_numel)
    return copy_values(out, found)
