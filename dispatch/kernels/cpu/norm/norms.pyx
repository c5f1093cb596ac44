"""Bodies of batch, group, layer and weight normalisation on the CPU, and of their gradients.

Called by the structured kernels with outputs of the right sizes and dtypes; the loops are those of
`norm.h`. 16-bit floats are computed in float32 and rounded once, and may come with float32 weights
and running statistics, as PyTorch's (`check_mixed`). A loop sees [outer, channels, inner]: what has other strides is copied first.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, DTYPES_REDUCED_FLOATING, MF_contiguous, ST_float32, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.read_only cimport check_writable
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as, new_view_dtype
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.along cimport row_of, row_step_fn, rows_threads, walk_along
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.dense cimport computed_in, dense, finish, format_of, held, target
from dispatch.kernels.cpu.threads cimport MAX_PARTS, in_spans, length_of_part, parts_for
from dispatch.kernels.meta cimport rules

from dispatch._ops import ops

cdef extern from "norm.h" nogil:
    ctypedef struct norm_rows:
        double eps
        const void* weight
        const void* bias
        double* mean
        double* rstd
        double* of_weight
        double* of_bias
        void* some_weight
        void* some_bias
        int64_t* row
        int64_t rows
    const row_step_fn LAYER_STEPS[2][2]
    void load_doubles(int code, const char* from_, Py_ssize_t step, int64_t n, double* to)
    void store_doubles(int code, char* to, Py_ssize_t step, int64_t n, const double* from_)
    ctypedef struct channel_job:
        const void* from_ "from"
        const void* grads
        void* to
        int64_t outer, channels, inner
        bint given, more
        int half
        float* room
        double* mean
        double* results
        double* sums
        const double* scale
        const double* shift
        const double* of_x
    ctypedef void (*channel_fn)(const channel_job* j, int64_t first, int64_t end) noexcept nogil
    # By type of computation: elements as [outer, channels, inner], what a channel has in doubles.
    const channel_fn CHANNEL_MOMENTS[2]
    const channel_fn CHANNEL_AFFINE[2]
    const channel_fn CHANNEL_DOTS[2]
    const channel_fn CHANNEL_GRADIENT[2]
    ctypedef struct channel_share:
        const channel_job* j
        channel_fn each
        int64_t row
        double* own
    void channel_halves(const channel_job* j, int64_t first, int64_t end)
    void take_channels(void* share, int64_t part, int64_t first, int64_t end)
    void take_halves(void* job, int64_t part, int64_t first, int64_t end)
    void take_half_channels(void* job, int64_t part, int64_t first, int64_t end)
    ctypedef struct group_job:
        channel_job sums, maps
        channel_fn moments, affine
        int half, itemsize
        float* room
        double eps
        int64_t size, channels, sample
        double* mean
        double* rstd
        double* scale
        double* shift
        const double* weight
        const double* bias
    void take_groups(void* job, int64_t part, int64_t first, int64_t end)
    void take_samples(void* job, int64_t part, int64_t first, int64_t end)
    void merge_spans(const channel_job* j, const double* own, int64_t parts)

cdef struct Channels:            # a tensor as [outer, channels, inner]
    int64_t outer, channels, inner

cdef object BATCH_NORM_OUT = ops.aten.native_batch_norm.out


# ---- what the bodies share -----------------------------------------------------------------------

cdef class Numbers:
    """Rows of doubles, one for each channel (or row); freed with the object."""
    cdef double* data
    cdef int64_t count

    def __cinit__(self, int rows, int64_t count):
        self.count = count
        self.data = <double*>malloc(rows * (count if count else 1) * sizeof(double))
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    cdef double* row(self, int i) noexcept:
        return self.data + i * self.count


cdef int check_floating(int code) except -1:
    if not is_in(DTYPES_FLOATING, code):
        raise unserved(dtypes.get_dtype(code))
    return 0


cdef int check_mixed(Tensor input, tuple parameters) except -1:
    """Parameters are of input's dtype, or all float32 beside half precision."""
    cdef int code = input.c_dtype
    cdef Tensor t
    for item in parameters:
        if item is not None:
            if (<Tensor>item).c_dtype == ST_float32 and is_in(DTYPES_REDUCED_FLOATING, code):
                code = ST_float32
            break
    for item in parameters:
        t = item
        if t is not None and t.c_dtype != code:
            raise refused(f"expected weights and statistics to be {dtypes.get_dtype(code)!r} beside an input of "
                          f"{dtypes.get_dtype(input.c_dtype)!r}, got {dtypes.get_dtype(t.c_dtype)!r}")
    return 0


cdef int load(Tensor t, int64_t n, double default, double* to) except -1:
    """A parameter of n elements, of one that counts for all, or what stands for none."""
    cdef int64_t i
    cdef Tensor flat
    if t is None:
        for i in range(n):
            to[i] = default
        return 0
    check_floating(t.c_dtype)
    if t.c_numel != n and (t.c_numel != 1 or n == 0):
        raise refused(f"expected parameters and statistics of {n} elements, got {list(t.shape)}")
    flat = t if t.c_ndim == 1 else dense(t, t.c_dtype, MF_contiguous)
    load_doubles(t.c_dtype, data_of(flat, dtypes.itemsize_table()[t.c_dtype]),
                 (flat.c_strides[0] if flat.c_ndim == 1 else 1) * dtypes.itemsize_table()[t.c_dtype], t.c_numel, to)
    for i in range(t.c_numel, n):
        to[i] = to[0]
    return 0


cdef int save(Tensor t, const double* from_) except -1:
    """Into an output or a running statistic of any strides; None: not wanted."""
    cdef Tensor flat
    if t is None or t.c_numel == 0:
        return 0
    flat = t if t.c_ndim == 1 else target(t, t.c_dtype, MF_contiguous)
    store_doubles(t.c_dtype, data_of(flat, dtypes.itemsize_table()[t.c_dtype]),
                  (flat.c_strides[0] if flat.c_ndim == 1 else 1) * dtypes.itemsize_table()[t.c_dtype], t.c_numel, from_)
    return finish(t, flat)


cdef Channels channels_of(Tensor t, int memory_format) noexcept:
    """Dimension 1 has the channels; dimension 0 of a vector."""
    cdef Channels s
    cdef int d, axis = 1 if t.c_ndim > 1 else 0
    s.outer = s.inner = 1
    s.channels = t.c_sizes[axis]
    for d in range(t.c_ndim):
        if d < axis or (d > axis and memory_format != MF_contiguous):
            s.outer *= t.c_sizes[d]
        elif d > axis:
            s.inner *= t.c_sizes[d]
    return s


cdef int clear(tuple outputs) except -1:
    for out in outputs:
        if out is not None:
            fill_values(out, 0)
    return 0


cdef int walk_channels(const channel_fn* loops, channel_job* j, Channels s, Tensor x, Tensor grad=None, Tensor to=None) except -1:
    """One of the loops; each thread has channels of its own, or rows where channels are last."""
    cdef channel_share share
    cdef int size = dtypes.itemsize_table()[x.c_dtype]
    cdef bint rows = s.inner == 1
    cdef Numbers own = None
    cdef object kept = held(x, x, grad, to)
    cdef int64_t lead = s.outer if rows else s.channels, parts = parts_for(lead, 2 * x.c_numel * size)
    j.from_ = data_of(x, size)
    j.grads = NULL if grad is None else data_of(grad, size)
    j.to = NULL if to is None else data_of(to, size)
    j.outer, j.channels, j.inner = s.outer, s.channels, s.inner
    j.half = x.c_dtype if is_in(DTYPES_REDUCED_FLOATING, x.c_dtype) else 0
    share.j, share.row = j, s.channels * size if rows and parts > 1 else 0
    share.each = channel_halves if j.half else loops[row_of(x.c_dtype)]
    if share.row and to is None:
        own = Numbers(2 * <int>parts, s.channels)
    share.own = NULL if own is None else own.data
    if rows and parts == 1:
        lead = s.channels
    with nogil:
        in_spans(take_channels, &share, lead, parts)
    if own is not None:
        merge_spans(j, own.data, parts)
    return 0


cdef int moments(Tensor x, Channels s, bint given, double* mean, double* squares) except -1:
    cdef channel_job j
    j.given, j.mean, j.results, j.sums = given, mean, squares, NULL
    return walk_channels(CHANNEL_MOMENTS, &j, s, x)


cdef int affine(Tensor x, Tensor y, Channels s, const double* scale, const double* shift) except -1:
    cdef channel_job j
    j.scale, j.shift = scale, shift
    return walk_channels(CHANNEL_AFFINE, &j, s, x, None, y)


cdef int half_moments(Tensor x, Channels s, bint given, double* mean, double* squares) except -1:
    """`moments` of 16-bit planes without gaps."""
    cdef channel_job j
    cdef int64_t parts = parts_for(s.channels, 8 * x.c_numel)
    kept = held(x, x)
    j.from_, j.outer, j.channels, j.inner, j.half = data_of(x, 2), s.outer, s.channels, s.inner, x.c_dtype
    j.given, j.mean, j.results = given, mean, squares
    j.room = <float*>malloc(parts * s.outer * s.inner * sizeof(float))
    if j.room == NULL:
        raise MemoryError
    with nogil:
        in_spans(take_half_channels, &j, s.channels, parts)
    free(j.room)
    return 0


cdef bint are_halves(Tensor x, Tensor y, int memory_format) except -1:
    """Whether both are 16-bit numbers of one dtype that lie without gaps."""
    return (is_in(DTYPES_REDUCED_FLOATING, x.c_dtype) and y.c_dtype == x.c_dtype
            and dense(x, x.c_dtype, memory_format) is x and target(y, x.c_dtype, memory_format) is y)


cdef int computed_for(Tensor x, Tensor grad, Tensor to, int memory_format) except -1:
    """The dtype in which a gradient is computed: 16-bit floats are read and written as they lie, if all do so without gaps."""
    if are_halves(x, grad, memory_format) and (to is None or are_halves(x, to, memory_format)):
        return x.c_dtype
    return computed_in(x.c_dtype)


cdef int map_halves(Tensor x, Tensor y, Channels s, const double* scale, const double* shift) except -1:
    """`affine` of 16-bit numbers that lie without gaps in both."""
    cdef channel_job j
    cdef int64_t planes = s.outer * s.channels if s.inner > 1 else s.outer
    kept = held(x, y)
    j.from_, j.to, j.channels, j.inner, j.half = data_of(x, 2), data_of(y, 2), s.channels, s.inner, x.c_dtype
    j.scale, j.shift = scale, shift
    with nogil:
        in_spans(take_halves, &j, planes, parts_for(planes, 8 * x.c_numel))
    return 0


cdef int dots(Tensor grad, Tensor x, Channels s, const double* mean, double* sums, double* products) except -1:
    cdef channel_job j
    j.given, j.more, j.mean, j.sums, j.results = False, False, <double*>mean, sums, products
    return walk_channels(CHANNEL_DOTS, &j, s, x, grad)


cdef int gradient(Tensor grad, Tensor x, Tensor to, Channels s, const double* mean, const double* a, const double* b,
                  const double* d) except -1:
    cdef channel_job j
    j.mean, j.scale, j.of_x, j.shift = <double*>mean, a, b, d
    return walk_channels(CHANNEL_GRADIENT, &j, s, x, grad, to)


# ---- batch normalisation -------------------------------------------------------------------------

cdef int update(Tensor running, const double* value, int64_t n, double momentum, double* scratch) except -1:
    cdef int64_t i
    if running is None:
        return 0
    check_writable(running.c_storage)        # the schema does not say that it is written to
    load(running, n, 0, scratch)
    for i in range(n):
        scratch[i] = momentum * value[i] + (1 - momentum) * scratch[i]
    return save(running, scratch)


cdef int check_batch_norm(Tensor input, bint training, Tensor running_mean, Tensor running_var, Tensor weight,
                          Tensor bias) except -1:
    check_floating(input.c_dtype)
    check_mixed(input, (weight, bias, running_mean, running_var))
    if (running_mean is None) != (running_var is None):
        raise refused("expected running_mean and running_var both or neither", ValueError)
    if training and input.c_numel == 0:
        raise refused(f"expected input to have at least one element, got shape {list(input.shape)}")
    return 0


cdef int normalise(Tensor out, Tensor save_mean, Tensor save_rstd, Tensor input, Tensor weight, Tensor bias,
                   Tensor running_mean, Tensor running_var, bint training, double momentum, double eps,
                   bint mean_given) except -1:
    """Each channel; training updates the running statistics, by the unbiased variance."""
    cdef int memory_format, code = computed_in(input.c_dtype)
    cdef Channels s
    cdef Tensor x, y
    cdef Numbers numbers
    cdef double *mean
    cdef double *rstd
    cdef double *scale
    cdef double *shift
    cdef double *scratch
    cdef double count
    cdef int64_t c
    cdef bint halves
    check_batch_norm(input, training, running_mean, running_var, weight, bias)
    if input.c_numel == 0:
        return 0
    memory_format = format_of(input)
    s = channels_of(input, memory_format)
    halves = are_halves(input, out, memory_format)
    x = input if halves and (s.inner > 1 or not training) else dense(input, code, memory_format)
    y = out if halves else target(out, code, memory_format)
    numbers = Numbers(5, s.channels)
    mean, rstd, scale, shift, scratch = (numbers.row(0), numbers.row(1), numbers.row(2), numbers.row(3), numbers.row(4))
    if training:
        count = <double>(s.outer * s.inner)
        if mean_given:
            load(save_mean, s.channels, 0, mean)
        if x.c_dtype == code:
            moments(x, s, mean_given, mean, shift)
        else:
            half_moments(x, s, mean_given, mean, shift)
        for c in range(s.channels):
            rstd[c] = 1 / sqrt(shift[c] / count + eps)
            shift[c] = shift[c] / (count - 1)
        save(save_mean, mean)
        save(save_rstd, rstd)
        update(running_mean, mean, s.channels, momentum, scratch)
        update(running_var, shift, s.channels, momentum, scratch)
    else:
        load(running_mean, s.channels, 0, mean)
        load(running_var, s.channels, 1, rstd)
        for c in range(s.channels):
            rstd[c] = 1 / sqrt(rstd[c] + eps)
    load(weight, s.channels, 1, scale)
    load(bias, s.channels, 0, shift)
    for c in range(s.channels):
        scale[c] *= rstd[c]
        shift[c] -= mean[c] * scale[c]
    if halves:
        return map_halves(input, y, s, scale, shift)
    affine(x, y, s, scale, shift)
    return finish(out, y)


def batch_norm(Tensor out not None, Tensor save_mean or None, Tensor save_rstd or None, Tensor input not None,
               Tensor weight or None, Tensor bias or None, Tensor running_mean or None, Tensor running_var or None,
               bint training, double momentum, double eps):
    """Normalise each channel, by its own statistics in training."""
    normalise(out, save_mean, save_rstd, input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def batch_norm_out(Tensor out not None, Tensor save_mean or None, Tensor save_rstd or None, Tensor input not None,
                   Tensor weight or None, Tensor bias or None, Tensor running_mean or None, Tensor running_var or None,
                   bint training, double momentum, double eps):
    """batch_norm into given tensors.

    PyTorch computes no mean of an input that is not contiguous here: what is in save_mean counts.
    """
    cdef bint packed = is_contiguous_as(input, rules.suggest_memory_format(input))
    normalise(out, save_mean, save_rstd, input, weight, bias, running_mean, running_var, training, momentum, eps, not packed)


def legit_out(*args, out, save_mean, save_invstd):
    """native_batch_norm.out for `_native_batch_norm_legit`, with running statistics or without."""
    if len(args) == 6:
        args = (*args[:3], None, None, *args[3:])
    BATCH_NORM_OUT(*args, out=out, save_mean=save_mean, save_invstd=save_invstd)
    return out, save_mean, save_invstd


def batch_norm_no_stats(Tensor out not None, Tensor save_mean or None, Tensor save_rstd or None, Tensor input not None,
                        Tensor weight or None, Tensor bias or None, bint training, double momentum, double eps):
    """batch_norm without running statistics."""
    normalise(out, save_mean, save_rstd, input, weight, bias, None, None, training, momentum, eps, False)


def batch_norm_no_training(Tensor out not None, Tensor save_mean or None, Tensor save_rstd or None, Tensor input not None,
                           Tensor weight or None, Tensor bias or None, Tensor running_mean or None, Tensor running_var or None,
                           double momentum, double eps):
    """batch_norm by the running statistics."""
    normalise(out, save_mean, save_rstd, input, weight, bias, running_mean, running_var, False, momentum, eps, False)


def batch_norm_backward(Tensor of_input or None, Tensor of_weight or None, Tensor of_bias or None, Tensor grad_out not None,
                        Tensor input not None, Tensor weight or None, Tensor running_mean or None, Tensor running_var or None,
                        Tensor save_mean or None, Tensor save_invstd or None, bint train, double eps, output_mask):
    """Gradients of input, weight and bias, those that were asked for."""
    cdef int memory_format, code
    cdef Channels s
    cdef Tensor x, grad, to
    cdef Numbers numbers
    cdef double *mean
    cdef double *rstd
    cdef double *sums
    cdef double *products
    cdef double *a
    cdef double count
    cdef int64_t c
    check_floating(input.c_dtype)
    check_mixed(input, (weight, running_mean, running_var, save_mean if train else None))
    if input.c_numel == 0:
        clear((of_input, of_weight, of_bias))
        return
    memory_format = format_of(input)
    s = channels_of(input, memory_format)
    code = computed_for(input, grad_out, of_input, memory_format)
    count = <double>(s.outer * s.inner)
    x, grad = dense(input, code, memory_format), dense(grad_out, code, memory_format)
    numbers = Numbers(5, s.channels)
    mean, rstd, sums, products, a = (numbers.row(0), numbers.row(1), numbers.row(2), numbers.row(3), numbers.row(4))
    if train:
        load(save_mean, s.channels, 0, mean)
        load(save_invstd, s.channels, 1, rstd)
    else:
        load(running_mean, s.channels, 0, mean)
        load(running_var, s.channels, 1, rstd)
        for c in range(s.channels):
            rstd[c] = 1 / sqrt(rstd[c] + eps)
    dots(grad, x, s, mean, sums, products)
    save(of_bias, sums)
    if of_weight is not None:
        for c in range(s.channels):
            a[c] = products[c] * rstd[c]
        save(of_weight, a)
    if of_input is None:
        return
    load(weight, s.channels, 1, a)
    for c in range(s.channels):
        a[c] *= rstd[c]
        products[c] = -products[c] / count * rstd[c] * rstd[c] * a[c] if train else 0
        sums[c] = -sums[c] / count * a[c] if train else 0
    to = target(of_input, code, memory_format)
    gradient(grad, x, to, s, mean, a, products, sums)
    finish(of_input, to)


def batch_norm_update_stats(Tensor input not None, Tensor running_mean or None, Tensor running_var or None, double momentum):
    """Mean and variance of each channel; the running statistics take them up."""
    cdef int memory_format, code = computed_in(input.c_dtype)
    cdef Channels s
    cdef Numbers numbers
    cdef double count
    cdef int64_t c
    check_floating(input.c_dtype)
    check_mixed(input, (running_mean, running_var))
    memory_format = format_of(input)
    s = channels_of(input, memory_format)
    count = <double>(s.outer * s.inner)
    kind = running_mean.dtype if running_mean is not None else input.dtype
    mean, variance = (ops.aten.empty([s.channels], dtype=kind, device=input.device) for _ in range(2))
    if input.c_numel == 0:
        return mean, variance
    numbers = Numbers(3, s.channels)
    moments(dense(input, code, memory_format), s, False, numbers.row(0), numbers.row(1))
    update(running_mean, numbers.row(0), s.channels, momentum, numbers.row(2))
    save(mean, numbers.row(0))
    for c in range(s.channels):
        numbers.row(1)[c] /= count
    save(variance, numbers.row(1))
    for c in range(s.channels):
        numbers.row(1)[c] *= count / (count - 1)
    update(running_var, numbers.row(1), s.channels, momentum, numbers.row(2))
    return mean, variance


# ---- layer normalisation -------------------------------------------------------------------------

cdef Tensor as_rows(Tensor t, int64_t count, int64_t width):
    """A contiguous tensor as a matrix."""
    cdef int64_t sizes[2]
    cdef int64_t strides[2]
    sizes[0], sizes[1] = count, width
    strides[0], strides[1] = width, 1
    return new_view_dtype(t, t.c_dtype, 2, sizes, strides, t.c_offset)


cdef const void* parameter(Tensor t, int code, list kept) except? NULL:
    """The elements of a weight or bias in the dtype of computation; `kept` holds what owns them."""
    cdef Tensor flat
    if t is None:
        return NULL
    flat = dense(t, code, MF_contiguous)
    kept.append(flat)
    return data_of(flat, dtypes.itemsize_table()[code])


cdef int layer_norm(Tensor out, Tensor mean, Tensor rstd, Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                    double eps, const int64_t* handed) except -1:
    """Mean and 1/deviation of each row are kept."""
    cdef int64_t width = handed[0], count
    cdef norm_rows context
    cdef Tensor x, y, means, rstds
    cdef list kept = []
    cdef int code = computed_in(input.c_dtype)
    check_mixed(input, (weight, bias))
    check_floating(input.c_dtype)
    if width == 0:
        fill_values(mean, 0)
        fill_values(rstd, float("nan"))
    if input.c_numel == 0:
        return 0
    count = input.c_numel // width
    x, y = dense(input, input.c_dtype, MF_contiguous), target(out, out.c_dtype, MF_contiguous)
    means, rstds = target(mean, code, MF_contiguous), target(rstd, code, MF_contiguous)
    context.eps = eps
    context.weight, context.bias = parameter(weight, code, kept), parameter(bias, code, kept)
    walk_along(LAYER_STEPS[0][row_of(code)], NULL, &context, 1, as_rows(x, count, width), None, as_rows(y, count, width),
               as_rows(means, count, 1), as_rows(rstds, count, 1))
    finish(out, y)
    finish(mean, means)
    return finish(rstd, rstds)


def layer_norm_backward(Tensor of_input or None, Tensor of_weight or None, Tensor of_bias or None, Tensor grad_out not None,
                        Tensor input not None, normalized_shape, Tensor mean not None, Tensor rstd not None,
                        Tensor weight or None, Tensor bias or None, output_mask, int64_t width):
    """Gradients of input, weight and bias, those that were asked for. `width`: elements that are normalised together."""
    cdef int64_t rows[MAX_PARTS]
    cdef int64_t count, i, k, length, parts
    cdef norm_rows contexts[MAX_PARTS]
    cdef const void* each[MAX_PARTS]
    cdef const void* factors
    cdef Numbers numbers, sums
    cdef Tensor x, grad, to
    cdef list kept = []
    cdef int code = computed_in(input.c_dtype), size = dtypes.itemsize_table()[code]
    if input.c_numel == 0:
        clear((of_input, of_weight, of_bias))
        return
    check_floating(input.c_dtype)
    count = input.c_numel // width
    length = length_of_part(count, max(min(count, rows_threads(input.c_numel * size)), 1))
    parts = (count + length - 1) // length
    numbers, sums = Numbers(2, count), Numbers(<int>(4 * parts), width)
    memset(sums.data, 0, 4 * parts * width * sizeof(double))
    load(mean, count, 0, numbers.row(0))
    load(rstd, count, 1, numbers.row(1))
    x, grad = dense(input, input.c_dtype, MF_contiguous), dense(grad_out, input.c_dtype, MF_contiguous)
    to = dense_like(x) if of_input is None else target(of_input, input.c_dtype, MF_contiguous)
    factors = parameter(weight, code, kept)
    for i in range(parts):
        rows[i], each[i] = i * length, &contexts[i]
        contexts[i].weight, contexts[i].bias = factors, NULL
        contexts[i].mean, contexts[i].rstd, contexts[i].row = numbers.row(0), numbers.row(1), &rows[i]
        contexts[i].rows = min(count, (i + 1) * length)
        contexts[i].of_weight = NULL if of_weight is None else sums.row(<int>i)
        contexts[i].of_bias = NULL if of_bias is None else sums.row(<int>(parts + i))
        contexts[i].some_weight, contexts[i].some_bias = sums.row(<int>(2 * parts + i)), sums.row(<int>(3 * parts + i))
    walk_along(LAYER_STEPS[1][row_of(code)], NULL, NULL, 1, as_rows(grad, count, width), as_rows(x, count, width),
               as_rows(to, count, width), None, None, 0, each, length)
    for k in range(2):
        for i in range(1, parts):
            add(sums.row(<int>(k * parts)), sums.row(<int>(k * parts + i)), width)
    save(of_weight, sums.row(0))
    save(of_bias, sums.row(<int>parts))
    if of_input is not None:
        finish(of_input, to)


cdef void add(double* to, const double* more, int64_t n) noexcept:
    cdef int64_t i
    for i in range(n):
        to[i] += more[i]


cdef Tensor dense_like(Tensor t):
    """Memory for a gradient that nobody asked for: it is made on the way to the others."""
    return ops.aten.empty(list(t.shape), dtype=t.dtype)


# ---- group normalisation -------------------------------------------------------------------------

cdef int check_layout(str name, Tensor t) except -1:
    if not is_contiguous_as(t, rules.suggest_memory_format(t)):
        raise refused(f"expected {name} to be contiguous, got strides {list(t.stride())}")
    return 0


def group_norm(Tensor out not None, Tensor mean not None, Tensor rstd not None, Tensor input not None, Tensor weight or None,
               Tensor bias or None, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps):
    """Normalise each sample's groups of channels; mean and 1/deviation of each are kept."""
    cdef int code = computed_in(input.c_dtype)
    cdef int64_t count = N * group, parts
    cdef int memory_format
    cdef group_job s
    cdef Numbers groups, channels, parameters
    cdef Tensor x, y
    check_mixed(input, (weight, bias))
    check_layout("input", input)
    check_floating(input.c_dtype)
    if input.c_numel == 0:
        fill_values(mean, 0)
        fill_values(rstd, float("nan"))
        return
    memory_format = format_of(input)
    s.half = input.c_dtype if are_halves(input, out, memory_format) else 0
    x, y = (input, out) if s.half else (dense(input, code, memory_format), target(out, code, memory_format))
    kept = held(x, y)
    groups, channels, parameters = Numbers(2, count), Numbers(2, N * C), Numbers(2, C)
    load(weight, C, 1, parameters.row(0))
    load(bias, C, 0, parameters.row(1))
    s.eps, s.size, s.channels = eps, C // group, C
    s.mean, s.rstd, s.scale, s.shift = groups.row(0), groups.row(1), channels.row(0), channels.row(1)
    s.weight, s.bias = parameters.row(0), parameters.row(1)
    s.moments, s.affine = CHANNEL_MOMENTS[row_of(code)], CHANNEL_AFFINE[row_of(code)]
    s.itemsize = dtypes.itemsize_table()[x.c_dtype]
    s.sums.from_, s.sums.outer, s.sums.channels, s.sums.inner = data_of(x, s.itemsize), 1, count, s.size * HxW
    s.sums.given, s.sums.mean, s.sums.results = False, s.mean, s.rstd
    s.maps.from_, s.maps.to, s.maps.outer, s.maps.channels, s.maps.inner = s.sums.from_, data_of(y, s.itemsize), 1, N * C, HxW
    s.maps.scale, s.maps.shift = s.scale, s.shift
    s.sample = C * HxW
    if memory_format != MF_contiguous:
        s.sums.outer, s.sums.channels, s.sums.inner = HxW, C, 1
        s.maps.outer, s.maps.channels, s.maps.inner = HxW, C, 1
        count = N
    parts = parts_for(count, 8 * x.c_numel)
    s.room = <float*>malloc(parts * (s.sample if count == N else s.sums.inner) * sizeof(float)) if s.half else NULL
    if s.half and s.room == NULL:
        raise MemoryError
    with nogil:
        in_spans(take_groups if memory_format == MF_contiguous else take_samples, &s, count, parts)
    free(s.room)
    save(mean, groups.row(0))
    save(rstd, groups.row(1))
    finish(out, y)


cdef Tensor sample_of(Tensor t, int64_t n, int64_t samples):
    return t if samples == 1 else ops.aten.narrow(t, 0, n, 1)


def group_norm_backward(Tensor of_input or None, Tensor of_weight or None, Tensor of_bias or None, Tensor grad_out not None,
                        Tensor input not None, Tensor mean not None, Tensor rstd not None, Tensor weight or None, int64_t N,
                        int64_t C, int64_t HxW, int64_t group, output_mask):
    """Gradients of input, weight and bias, those that were asked for."""
    cdef int memory_format, code
    cdef int64_t i, c, g, size = C // group, samples = 1
    cdef double count = <double>(size * HxW), scale
    cdef Channels s
    cdef Numbers groups, channels, totals
    cdef Tensor x, grad, to
    if input.c_numel == 0:
        clear((of_input, of_weight, of_bias))
        return
    check_floating(input.c_dtype)
    memory_format = format_of(input)
    code = computed_for(input, grad_out, of_input, memory_format)
    x, grad = dense(input, code, memory_format), dense(grad_out, code, memory_format)
    groups, channels, totals = Numbers(4, N * group), Numbers(6, N * C), Numbers(3, C)
    load(mean, N * group, 0, groups.row(0))
    load(rstd, N * group, 1, groups.row(1))
    load(weight, C, 1, totals.row(2))
    memset(totals.data, 0, 2 * C * sizeof(double))
    memset(groups.row(2), 0, 2 * N * group * sizeof(double))
    for i in range(N * C):
        channels.row(0)[i] = groups.row(0)[i // size]
    s.outer, s.channels, s.inner = 1, N * C, HxW
    if memory_format != MF_contiguous:
        s.outer, s.channels, s.inner, samples = HxW, C, 1, N
    for i in range(0, samples * C, C):
        dots(sample_of(grad, i // C, samples), sample_of(x, i // C, samples), s, channels.row(0) + i, channels.row(1) + i,
             channels.row(2) + i)
    for i in range(N * C):
        c, g = i % C, i // size
        totals.row(0)[c] += channels.row(2)[i] * groups.row(1)[g]
        totals.row(1)[c] += channels.row(1)[i]
        groups.row(2)[g] += channels.row(1)[i] * totals.row(2)[c]
        groups.row(3)[g] += channels.row(2)[i] * totals.row(2)[c]
    save(of_weight, totals.row(0))
    save(of_bias, totals.row(1))
    if of_input is None:
        return
    for i in range(N * C):
        c, g = i % C, i // size
        scale = groups.row(1)[g]
        channels.row(3)[i] = scale * totals.row(2)[c]
        channels.row(4)[i] = -groups.row(3)[g] / count * scale * scale * scale
        channels.row(5)[i] = -groups.row(2)[g] / count * scale
    to = target(of_input, code, memory_format)
    for i in range(0, samples * C, C):
        gradient(sample_of(grad, i // C, samples), sample_of(x, i // C, samples), sample_of(to, i // C, samples), s,
                 channels.row(0) + i, channels.row(3) + i, channels.row(4) + i, channels.row(5) + i)
    finish(of_input, to)


# ---- weight normalisation ------------------------------------------------------------------------

cdef Channels slices_of(Tensor v, int64_t dim) noexcept:
    """Channels are along the first dimension or along the last."""
    cdef Channels s
    s.channels = v.c_sizes[dim]
    s.outer = s.inner = 1
    if dim == 0:
        s.inner = v.c_numel // s.channels
    else:
        s.outer = v.c_numel // s.channels
    return s


cdef int check_weight_norm(Tensor v, Tensor g, int64_t dim, str name) except -1:
    if v.c_ndim == 0 or (dim != 0 and dim != v.c_ndim - 1):
        raise refused(f"expected dim to be 0 or {v.c_ndim - 1}, got {dim}")
    check_floating(v.c_dtype)
    if g.c_dtype != v.c_dtype:
        raise refused(f"expected {name} to be {dtypes.get_dtype(v.c_dtype)!r} as v is, got {dtypes.get_dtype(g.c_dtype)!r}")
    return check_slices(name, g, v, dim)


cdef int check_slices(str name, Tensor t, Tensor v, int64_t dim) except -1:
    if t.c_numel != v.c_sizes[dim]:
        raise refused(f"expected {name} to have one element for each of {v.c_sizes[dim]} slices, got {list(t.shape)}")
    return 0


def weight_norm(Tensor out not None, Tensor norm not None, Tensor v not None, Tensor g not None, int64_t dim):
    """v * (g / norm), and the 2-norm of v over all dimensions but the first or the last."""
    cdef int code = computed_in(v.c_dtype)
    cdef int64_t c
    cdef Channels s
    cdef Numbers numbers
    cdef Tensor x, y
    check_weight_norm(v, g, dim, "g")
    if v.c_numel == 0:
        fill_values(norm, 0)
        return
    s = slices_of(v, dim)
    numbers = Numbers(3, s.channels)
    x, y = dense(v, code, MF_contiguous), target(out, code, MF_contiguous)
    memset(numbers.data, 0, s.channels * sizeof(double))
    moments(x, s, True, numbers.row(0), numbers.row(1))
    load(g, s.channels, 1, numbers.row(2))
    for c in range(s.channels):
        numbers.row(1)[c] = sqrt(numbers.row(1)[c])
        numbers.row(2)[c] /= numbers.row(1)[c]
    save(norm, numbers.row(1))
    affine(x, y, s, numbers.row(2), numbers.row(0))
    finish(out, y)


def weight_norm_backward(Tensor of_v not None, Tensor of_g not None, Tensor grad_w not None, Tensor saved_v not None,
                         Tensor saved_g not None, Tensor saved_norms not None, int64_t dim):
    """Gradients of v and g."""
    cdef int code = computed_in(saved_v.c_dtype)
    cdef int64_t c
    cdef Channels s
    cdef Numbers numbers
    cdef Tensor x, grad, to
    check_weight_norm(saved_v, saved_g, dim, "saved_g")
    check_slices("saved_norms", saved_norms, saved_v, dim)
    if grad_w.shape != saved_v.shape:
        raise refused(f"expected grad_w of saved_v's sizes {list(saved_v.shape)}, got {list(grad_w.shape)}")
    if saved_v.c_numel == 0:
        clear((of_g,))
        return
    s = slices_of(saved_v, dim)
    numbers = Numbers(5, s.channels)
    x, grad = dense(saved_v, code, MF_contiguous), dense(grad_w, code, MF_contiguous)
    memset(numbers.data, 0, s.channels * sizeof(double))
    dots(grad, x, s, numbers.row(0), numbers.row(1), numbers.row(2))
    load(saved_g, s.channels, 1, numbers.row(3))
    load(saved_norms, s.channels, 1, numbers.row(4))
    for c in range(s.channels):
        numbers.row(1)[c] = numbers.row(2)[c] / numbers.row(4)[c]
        numbers.row(3)[c] /= numbers.row(4)[c]
    save(of_g, numbers.row(1))
    for c in range(s.channels):
        numbers.row(2)[c] *= -numbers.row(3)[c] / (numbers.row(4)[c] * numbers.row(4)[c])
    to = target(of_v, code, MF_contiguous)
    gradient(grad, x, to, s, numbers.row(0), numbers.row(3), numbers.row(2), numbers.row(0))
    finish(of_v, to)
