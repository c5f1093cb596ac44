"""Bodies of convolution and its gradients: windows laid out as a matrix, then BLAS.

Called by the structured kernels with outputs of the right size. `x` is the side that windows see,
`y` the one that they lead to: a transposed convolution goes from y to x, as the gradient of a plain
one does. Windows of one element are a product of their own; depthwise layers add up rows (`depthwise`); float32 whose
windows lie side by side is read where it lies, or padded (`direct`); everything else copies windows into columns, a block
at a time. Channels are first, or last where the output of
a plain convolution has them last.
"""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_BOOL, DTYPES_COMPLEX, DTYPES_FLOATING, DTYPES_INTEGRAL, MF_channels_last, MF_channels_last_3d, MF_contiguous,
    ST_bfloat16, ST_float32, ST_float64, ST_int64, is_complex_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS, read_ints
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.conv.columns cimport lay_out_any, rows_at_once, take_back
from dispatch.kernels.cpu.conv.depthwise cimport (
    Conv, depthwise_back, depthwise_back_last, depthwise_first, depthwise_last, depthwise_of_weight, depthwise_of_weight_last,
    is_depthwise, number,
)
from dispatch.kernels.cpu.conv.direct cimport direct, direct_parts, direct_room, is_direct
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.dense cimport (
    LONG_RUN, Image, check_kernel, computed_in, dense, finish, image_of, pinned, target,
)
from dispatch.kernels.cpu.matrix.bfloat cimport bfloat_matrix, bfloat_product, has_bfloat_product
from dispatch.kernels.cpu.matrix.gemm cimport product
from dispatch.kernels.cpu.reduction.fold cimport FOLD_SUM, fold_into
from dispatch.kernels.cpu.threads cimport MAX_PARTS, blas_parts_for, in_blas_spans
from dispatch.kernels.meta.pool.windows cimport Windows, handed_windows, output_length, read_dilation, read_windows

cdef extern from "vectorised.h":
    pass


cdef int read_conv(Conv* c, Tensor x, Tensor y, Tensor weight, const Windows* windows, int64_t groups, int code,
                   int operand) except -1:
    cdef int i, dims = <int>windows.dims
    if dims > 3:
        raise refused(f"expected at most 3 dimensions beside batch and channels, got weight {list(weight.shape)}")
    c.w = windows[0]
    c.x, c.y, c.groups, c.code = image_of(x, dims), image_of(y, dims), groups, code
    c.operand, c.wide = operand, dtypes.itemsize_table()[code]
    c.item, c.failed = dtypes.itemsize_table()[operand], False
    c.cx, c.cy = weight.c_sizes[1], weight.c_sizes[0] // groups
    c.taps, c.plain, c.last = c.w.kernel[0] * c.w.kernel[1] * c.w.kernel[2], True, False
    c.depth = c.cx * c.taps
    for i in range(3):
        c.plain = c.plain and c.w.kernel[i] == 1 and c.w.stride[i] == 1 and c.w.padding[i] == 0 \
            and c.x.size[i] == c.y.size[i]
    return 0


# ---- products ----------------------------------------------------------------------------------

cdef void multiply(Conv* c, int64_t m, int64_t k, int64_t n, const void* a, int64_t a_row, int64_t a_column, const void* b,
                   int64_t b_row, int64_t b_column, void* out, int64_t out_row) noexcept nogil:
    cdef bfloat_matrix left, right
    if c.operand != ST_bfloat16:
        product(c.code, m, k, n, a, a_row, a_column, b, b_row, b_column, out, out_row)
        return
    left.data, left.row, left.column = <const uint16_t*>a, a_row, a_column
    right.data, right.row, right.column = <const uint16_t*>b, b_row, b_column
    if not bfloat_product(m, k, n, left, right, <float*>out, out_row, NULL, NULL):
        c.failed = True


# ---- forward -----------------------------------------------------------------------------------

cdef void add_bias(number* y, const number* bias, int64_t rows, int64_t n, int64_t step) noexcept nogil:
    cdef int64_t r, i
    for r in range(rows):
        for i in range(n):
            y[r * step + i] += bias[r]


cdef void add_biases(number* y, const number* bias, const Image* m) noexcept nogil:
    """To all images; NULL: there are none."""
    cdef int64_t n
    for n in range(0 if bias == NULL else m.n):
        add_bias(y + n * m.c * m.plane, bias, m.c, m.plane, m.plane)


cdef void add_row(number* y, const number* bias, int64_t rows, int64_t n) noexcept nogil:
    cdef int64_t r, i
    for r in range(rows):
        for i in range(n):
            y[r * n + i] += bias[i]


cdef enum:
    MANY_PLACES = 700            # of an image, from which its direct product pays

cdef struct Share:               # of a way: what its threads have in common
    Conv* c
    char* to
    const char* x
    const char* y
    const char* w
    char* columns                # rooms of `room` bytes, one for each part
    int64_t room
    char* sums                   # of a weight's gradient, for each part a product and, but for the first, a sum


cdef inline int64_t blocks_of(const Conv* c, int64_t step) noexcept nogil:
    return 1 if c.plain else (c.y.size[0] * c.y.size[1] + step - 1) // step


cdef void forward_first(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Blocks of rows of positions, by image and group."""
    cdef Share* s = <Share*>context
    cdef Conv* c = s.c
    cdef int64_t u, row, last, count, rows = c.y.size[0] * c.y.size[1], step = rows_at_once(c, c.item), blocks = blocks_of(c, step)
    cdef const char* x
    cdef const char* w
    cdef char* y
    cdef char* columns = s.columns + part * s.room
    for u in range(first, end):
        x, y = s.x + u // blocks * c.cx * c.x.plane * c.item, s.to + u // blocks * c.cy * c.y.plane * c.wide
        w = s.w + u // blocks % c.groups * c.cy * c.depth * c.item
        if c.plain:
            multiply(c, c.cy, c.depth, c.y.plane, w, c.depth, 1, x, c.y.plane, 1, y, c.y.plane)
            continue
        row = u % blocks * step
        last = min(row + step, rows)
        count = (last - row) * c.y.size[2]
        lay_out_any(c, columns, x, row, last)
        multiply(c, c.cy, c.depth, count, w, c.depth, 1, columns, count, 1, y + row * c.y.size[2] * c.wide, c.y.plane)


cdef void forward_last(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Weights (groups, channels out, taps and channels): channels are last there too."""
    cdef Share* s = <Share*>context
    cdef Conv* c = s.c
    cdef int64_t u, n, g, row, last, count, rows = c.y.size[0] * c.y.size[1], step = rows_at_once(c, c.item)
    cdef int64_t blocks = blocks_of(c, step)
    cdef const char* x
    cdef const char* w
    cdef char* y
    cdef char* columns = s.columns + part * s.room
    for u in range(first, end):
        n, g = u // blocks // c.groups, u // blocks % c.groups
        x, y = s.x + (n * c.x.plane * c.x.c + g * c.cx) * c.item, s.to + (n * c.y.plane * c.y.c + g * c.cy) * c.wide
        w = s.w + g * c.cy * c.depth * c.item
        if c.plain:
            multiply(c, c.y.plane, c.depth, c.cy, x, c.x.c, 1, w, 1, c.depth, y, c.y.c)
            continue
        row = u % blocks * step
        last = min(row + step, rows)
        count = (last - row) * c.y.size[2]
        lay_out_any(c, columns, x, row, last)
        multiply(c, count, c.depth, c.cy, columns, c.depth, 1, w, 1, c.depth, y + row * c.y.size[2] * c.y.c * c.wide, c.y.c)


cdef void forward(Share* s, number* y, void* turned, const number* bias, int64_t parts) noexcept nogil:
    cdef Conv* c = s.c
    cdef int64_t n
    cdef number* by_taps = <number*>turned
    if c.last:
        if is_depthwise(c):          # one channel a group: (groups, taps) is what is to be turned
            for n in range(c.y.c * c.taps):
                by_taps[n % c.taps * c.y.c + n // c.taps] = (<const number*>s.w)[n]
            depthwise_last(c, y, <const number*>s.x, <const number*>turned, <int64_t*>s.columns)
        else:
            in_blas_spans(forward_last, s, units_of(c), parts)
        if bias != NULL:
            add_row(y, bias, c.y.n * c.y.plane, c.y.c)
        return
    if is_depthwise(c):
        depthwise_first(c, y, <const number*>s.x, <const number*>s.w)
    elif is_direct(c, False):
        direct(c, <float*>y, <const float*>s.x, <const float*>s.w, s.columns, False, parts)
    else:
        in_blas_spans(forward_first, s, units_of(c), parts)
    add_biases(y, bias, &c.y)


cdef inline int64_t units_of(const Conv* c) noexcept nogil:
    return c.y.n * c.groups * blocks_of(c, rows_at_once(c, c.item))


# ---- the way back ------------------------------------------------------------------------------

cdef void backward(Share* s, number* like, int64_t first, int64_t end, number* columns) noexcept nogil:
    """From y, or its gradient, to channels of x, by image and group: the weights' transpose, and columns to where they were taken
    from."""
    cdef Conv* c = s.c
    cdef Conv some = c[0]
    cdef int64_t u = first, g, e, row, last, count, rows = c.y.size[0] * c.y.size[1], step = rows_at_once(c, c.wide)
    cdef number* x
    cdef const char* y
    cdef const char* w
    while u < end:
        e, g = u % c.cx, u // c.cx
        some.cx = min(c.cx - e, end - u)
        x, y = <number*>s.to + u * c.x.plane, s.y + g * c.cy * c.y.plane * c.item
        w = s.w + (g % c.groups * c.cy * c.depth + e * c.taps) * c.item
        u += some.cx
        if c.plain:
            multiply(c, some.cx, c.cy, c.y.plane, w, 1, c.depth, y, c.y.plane, 1, x, c.x.plane)
            continue
        memset(x, 0, some.cx * c.x.plane * sizeof(number))
        row = 0
        while row < rows:
            last = min(row + step, rows)
            count = (last - row) * c.y.size[2]
            multiply(c, some.cx * c.taps, c.cy, count, w, 1, c.depth, y + row * c.y.size[2] * c.item, c.y.plane, 1, columns, count)
            take_back(&some, x, columns, row, last)
            row = last


cdef void backward_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Share* s = <Share*>context
    cdef void* columns = s.columns + part * s.room
    if s.c.code == ST_float32:
        backward(s, <float*>NULL, first, end, <float*>columns)
    elif s.c.code == ST_float64:
        backward(s, <double*>NULL, first, end, <double*>columns)
    else:
        backward(s, <int64_t*>NULL, first, end, <int64_t*>columns)


cdef void of_weight(Share* s, number* sum, number* product, int64_t first, int64_t end, char* columns) noexcept nogil:
    """Sum over batch and positions of the gradients y times what their windows saw of x.

    Channels last: a row of the sum has (taps, channels).
    """
    cdef Conv* c = s.c
    cdef int64_t u, n, g, i, row, last, count, rows = c.y.size[0] * c.y.size[1], step = rows_at_once(c, c.item)
    cdef int64_t blocks = (rows + step - 1) // step
    cdef const char* x
    cdef const char* y
    cdef number* to
    memset(sum, 0, c.groups * c.cy * c.depth * sizeof(number))
    for u in range(first, end):
        n, g = u // blocks // c.groups, u // blocks % c.groups
        row = u % blocks * step
        last = min(row + step, rows)
        count = (last - row) * c.y.size[2]
        if c.last:
            x = s.x + (n * c.x.plane * c.x.c + g * c.cx) * c.item
            y = s.y + ((n * c.y.plane + row * c.y.size[2]) * c.y.c + g * c.cy) * c.item
        else:
            x = s.x + u // blocks * c.cx * c.x.plane * c.item
            y = s.y + (u // blocks * c.cy * c.y.plane + row * c.y.size[2]) * c.item
        if c.plain and c.last:
            multiply(c, c.cy, count, c.depth, y, 1, c.y.c, x + row * c.y.size[2] * c.x.c * c.item, c.x.c, 1, product, c.depth)
        elif c.plain:
            multiply(c, c.cy, count, c.depth, y, c.y.plane, 1, x + row * c.y.size[2] * c.item, 1, c.x.plane, product, c.depth)
        else:
            lay_out_any(c, columns, x, row, last)
            if c.last:
                multiply(c, c.cy, count, c.depth, y, 1, c.y.c, columns, c.depth, 1, product, c.depth)
            else:
                multiply(c, c.cy, count, c.depth, y, c.y.plane, 1, columns, 1, count, product, c.depth)
        to = sum + g * c.cy * c.depth
        for i in range(c.cy * c.depth):
            to[i] += product[i]


cdef void of_weight_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Share* s = <Share*>context
    cdef int64_t size = s.c.groups * s.c.cy * s.c.depth * s.c.wide
    cdef void* product = s.sums + 2 * part * size
    cdef void* sum = s.sums + (2 * part + 1) * size if part else s.to
    cdef char* columns = s.columns + part * s.room
    if s.c.code == ST_float32:
        of_weight(s, <float*>sum, <float*>product, first, end, columns)
    elif s.c.code == ST_float64:
        of_weight(s, <double*>sum, <double*>product, first, end, columns)
    else:
        of_weight(s, <int64_t*>sum, <int64_t*>product, first, end, columns)


cdef void of_weight_in_parts(Share* s, number* gw, int64_t parts) noexcept nogil:
    cdef Conv* c = s.c
    cdef int64_t step = rows_at_once(c, c.item), blocks = (c.y.size[0] * c.y.size[1] + step - 1) // step
    cdef int64_t i, part, size = c.groups * c.cy * c.depth
    cdef number* sum
    for part in range(1, parts):             # one that nobody comes to
        memset(<number*>s.sums + (2 * part + 1) * size, 0, size * sizeof(number))
    in_blas_spans(of_weight_part, s, c.y.n * c.groups * blocks, parts)
    for part in range(1, parts):
        sum = <number*>s.sums + (2 * part + 1) * size
        for i in range(size):
            gw[i] += sum[i]
    if c.last:
        channels_first(c, gw, <number*>s.sums)


cdef void channels_first(const Conv* c, number* weights, number* room) noexcept nogil:
    """(channels out, taps, channels in) as (channels out, channels in, taps)."""
    cdef int64_t o, e, t
    memcpy(room, weights, c.groups * c.cy * c.depth * sizeof(number))
    for o in range(c.groups * c.cy):
        for e in range(c.cx):
            for t in range(c.taps):
                weights[e * c.taps + t] = room[t * c.cx + e]
        weights += c.depth
        room += c.depth


cdef void fold(const Conv* c, number* x, const number* columns) noexcept nogil:
    cdef int64_t n
    memset(x, 0, c.x.n * c.x.c * c.x.plane * sizeof(number))
    for n in range(c.x.n):
        take_back(c, x, columns, 0, c.y.size[0] * c.y.size[1])
        x += c.x.c * c.x.plane
        columns += c.x.c * c.taps * c.y.plane


# ---- by dtype ----------------------------------------------------------------------------------

cdef enum Way:
    FORWARD
    BACKWARD
    WEIGHT
    COLUMNS                      # col2im: `y` are columns already

cdef struct Job:
    Conv c
    Way way
    Share s
    int64_t parts
    void* bias
    void* spare                  # turned weights of a depthwise one, or parts of a weight's gradient


cdef void work(Job* j, number like) noexcept nogil:
    cdef Share* s = &j.s
    if j.way == FORWARD:
        forward(s, <number*>s.to, j.spare, <number*>j.bias, j.parts)
    elif j.way == BACKWARD and j.c.last:
        depthwise_back_last(&j.c, <number*>s.to, <number*>s.y, <number*>s.w, <number*>j.spare, <int64_t*>s.columns)
    elif j.way == WEIGHT and j.c.last and is_depthwise(&j.c):
        depthwise_of_weight_last(&j.c, <number*>s.to, <number*>s.y, <number*>s.x, <number*>j.spare)
    elif j.way == BACKWARD:
        if is_depthwise(&j.c):
            depthwise_back(&j.c, <number*>s.to, <number*>s.y, <number*>s.w, <number*>j.spare)
        elif is_direct(&j.c, True):
            direct(&j.c, <float*>s.to, <float*>s.y, <float*>s.w, s.columns, True, j.parts)
        else:
            in_blas_spans(backward_part, s, j.c.x.n * j.c.x.c, j.parts)
        add_biases(<number*>s.to, <number*>j.bias, &j.c.x)
    elif j.way == WEIGHT and is_depthwise(&j.c):
        depthwise_of_weight(&j.c, <number*>s.to, <number*>s.y, <number*>s.x)
    elif j.way == WEIGHT:
        of_weight_in_parts(s, <number*>s.to, j.parts)
    else:
        fold(&j.c, <number*>s.to, <number*>s.y)


cdef void work_typed(Job* j) noexcept nogil:
    if j.c.code == ST_float32:
        work[float](j, 0)
    elif j.c.code == ST_float64:
        work[double](j, 0)
    else:
        work[int64_t](j, 0)


cdef int64_t parts_of(const Job* j, int64_t work) noexcept:
    """How many threads share it: of what columns and products make."""
    cdef const Conv* c = &j.c
    cdef int64_t rows = c.y.size[0] * c.y.size[1], step = rows_at_once(c, c.item), images = c.y.n * c.groups
    if j.way == COLUMNS or is_depthwise(c):
        return 1
    if j.way != WEIGHT and is_direct(c, j.way == BACKWARD):
        return direct_parts(c, j.way == BACKWARD)
    if j.way == BACKWARD:
        return blas_parts_for(c.x.n * c.x.c, work)
    return blas_parts_for(images * ((rows + step - 1) // step) if j.way == WEIGHT else images * blocks_of(c, step), work)


cdef int run(Job* j) except -1:
    """Makes the room that the way needs, and lets go of the lock for a long one."""
    cdef int64_t item = j.c.wide if j.way == BACKWARD else j.c.item
    cdef int64_t columns = 0, spare = 0, work = j.c.y.n * j.c.y.c * j.c.y.plane * j.c.depth
    cdef char* taken
    cdef char* room
    j.parts = parts_of(j, work)
    if j.way <= BACKWARD and not is_depthwise(&j.c) and is_direct(&j.c, j.way == BACKWARD):
        columns = (direct_room(&j.c, j.way == BACKWARD, j.parts) + j.parts - 1) // j.parts
    elif j.c.last and is_depthwise(&j.c):
        columns = MAX_PARTS * 2 * j.c.taps * <int64_t>sizeof(int64_t)
    elif not (j.way == COLUMNS or j.c.plain and j.way != WEIGHT or is_depthwise(&j.c)):
        columns = rows_at_once(&j.c, item) * j.c.y.size[2] * j.c.depth * item
    if j.way == WEIGHT or is_depthwise(&j.c) and (j.way == BACKWARD or j.way == FORWARD and j.c.last):
        spare = j.c.groups * j.c.cy * j.c.depth * j.c.wide * (2 * j.parts if j.way == WEIGHT else 1)
    columns = (columns + 63) // 64 * 64              # vectors that cross no line of the cache
    taken = <char*>malloc(j.parts * columns + spare + 64)
    if taken == NULL:
        raise MemoryError
    room = <char*>((<size_t>taken + 63) & ~<size_t>63)
    j.s.c, j.s.columns, j.s.room, j.spare = &j.c, room, columns, room + j.parts * columns
    j.s.sums = <char*>j.spare
    if work >= LONG_RUN:
        with nogil:
            work_typed(j)
    else:
        work_typed(j)
    free(taken)
    if j.c.failed:
        raise MemoryError
    return 0


cdef inline bint has_none(Tensor t) noexcept:
    return t.c_numel == 0


cdef inline void* at(Tensor t) except? NULL:
    return data_of(t, dtypes.itemsize_table()[t.c_dtype])


# ---- operators ---------------------------------------------------------------------------------

cdef int image_format(Tensor t) except -1:
    """Channels last where memory is so, and not contiguous too."""
    if t.c_flags & TF_CONTIGUOUS or t.c_ndim < 4:
        return MF_contiguous
    if t.c_ndim == 4:
        return MF_channels_last if is_contiguous_as(t, MF_channels_last) else MF_contiguous
    return MF_channels_last_3d if is_contiguous_as(t, MF_channels_last_3d) else MF_contiguous


cdef bint is_dilated(const Windows* w) noexcept:
    return w.dilation[0] > 1 or w.dilation[1] > 1 or w.dilation[2] > 1


cdef bint is_side_by_side(const Windows* w) noexcept:
    """Windows of more than one element, a step apart."""
    return w.stride[0] == w.stride[1] == w.stride[2] == 1 and w.kernel[0] * w.kernel[1] * w.kernel[2] > 1


cdef int empty_sum(Tensor out, Tensor bias) except -1:
    """Nothing is added up: the bias alone."""
    fill_values(out, 0)
    if bias is not None:
        copy_values(out, bias.reshape([-1] + [1] * (out.c_ndim - 2)).expand(out.shape))
    return 0


cdef int operand_of(Tensor like, Tensor weight, int64_t positions, int code, int64_t groups) noexcept:
    """bfloat16 where that is multiplied as it is; `positions`: elements of the output."""
    cdef int64_t depth = weight.c_numel // weight.c_sizes[0]
    if like.c_dtype == ST_bfloat16 and weight.c_dtype == ST_bfloat16 and weight.c_sizes[1] > 1 and weight.c_sizes[0] > groups \
            and has_bfloat_product(positions * depth):
        return ST_bfloat16
    return code


cdef bint is_better_first(const Conv* c) noexcept:
    """Whether copies of an image and its result, whose channels are last, cost less than the columns of a direct product."""
    cdef int64_t copies = c.x.c * c.x.plane + c.y.c * c.y.plane
    return (c.groups == 1 and c.y.plane >= MANY_PLACES and 4 * c.y.plane * c.depth > 7 * copies and not is_depthwise(c)
            and is_direct(c, False))


cdef int convolution(Tensor out, Tensor input, Tensor weight, Tensor bias, IntArray stride, IntArray padding, IntArray dilation,
                     bint transposed, IntArray output_padding, int64_t groups, const int64_t* handed) except -1:
    """Forward; transposed: what is backward for the other."""
    cdef Windows w
    handed_windows(&w, handed)
    return convolve(out, input, weight, bias, &w, transposed, groups)


cdef int convolve(Tensor out, Tensor input, Tensor weight, Tensor bias, const Windows* windows, bint transposed,
                  int64_t groups) except -1:
    cdef int code = computed_in(input.c_dtype), memory_format, operand
    cdef Tensor x, w, y, b
    cdef Job j
    if has_none(out):
        return 0
    if transposed or is_dilated(windows):
        check_kernel(input.c_dtype, DTYPES_FLOATING | <int64_t>1 << ST_int64)
    else:
        check_kernel(input.c_dtype, DTYPES_FLOATING | DTYPES_INTEGRAL)
    if has_none(input) or has_none(weight):
        return empty_sum(out, bias)
    memory_format = MF_contiguous if transposed else image_format(out)
    operand = operand_of(input, weight, out.c_numel, code, groups)
    memset(&j, 0, sizeof(Job))
    read_conv(&j.c, out if transposed else input, input if transposed else out, weight, windows, groups, code,
              operand)
    if memory_format != MF_contiguous and is_better_first(&j.c):
        memory_format = MF_contiguous
    x, y = dense(input, operand, memory_format), target(out, code, memory_format)
    w = dense(weight, operand, MF_contiguous if is_depthwise(&j.c) else memory_format)
    b = None if bias is None else dense(bias, code, MF_contiguous)
    j.c.last = memory_format != MF_contiguous
    j.way, j.s.to, j.s.w = BACKWARD if transposed else FORWARD, <char*>at(y), <char*>at(w)
    j.s.x = j.s.y = <char*>at(x)
    if b is not None:
        j.bias = at(b)
    kept = pinned(LONG_RUN, x, w, y, b)
    run(&j)
    return finish(out, y)


cdef int gradient(Tensor out, int way, Tensor x, Tensor y, Tensor w, Tensor x_side, Tensor y_side, Tensor weight,
                  const Windows* windows, int64_t groups, int code, int operand, int memory_format) except -1:
    """`x`, `y` and `w`: what is read; `x_side`, `y_side` and `weight` have the sizes. The way back of others than depthwise ones
    has channels first."""
    cdef Tensor made = target(out, code, memory_format if way == BACKWARD else MF_contiguous)
    cdef Job j
    memset(&j, 0, sizeof(Job))
    read_conv(&j.c, x_side, y_side, weight, windows, groups, code, operand)
    j.way, j.s.to, j.c.last = <Way>way, <char*>at(made), memory_format != MF_contiguous
    if x is not None:
        j.s.x = <char*>at(x)
    if y is not None:
        j.s.y = <char*>at(y)
    if w is not None:
        j.s.w = <char*>at(w)
    kept = pinned(LONG_RUN, made, made, x, y), pinned(LONG_RUN, made, made, w)
    run(&j)
    return finish(out, made)


cdef int convolution_backward(Tensor grad_input, Tensor grad_weight, Tensor grad_bias, Tensor grad_output, Tensor input,
                              Tensor weight, object bias_sizes, IntArray stride, IntArray padding, IntArray dilation,
                              bint transposed, IntArray output_padding, int64_t groups, object output_mask,
                              const int64_t* handed) except -1:
    """Whichever of the three are there."""
    cdef int code, operand, memory_format = MF_contiguous, last = MF_contiguous, d
    cdef int64_t all_but_channels[64]
    cdef Tensor g, x, w, seen, there             # the side that windows see, the one that they lead to
    cdef Windows windows
    if has_none(grad_output) or has_none(input) or has_none(weight):
        for made in (grad_input, grad_weight, grad_bias):
            if made is not None:
                fill_values(<Tensor>made, 0)
        return 0
    handed_windows(&windows, handed)
    if is_dilated(&windows) and not transposed:
        check_kernel(grad_output.c_dtype, DTYPES_FLOATING | <int64_t>1 << ST_int64)
    else:
        check_kernel(grad_output.c_dtype, DTYPES_FLOATING)
    code = computed_in(grad_output.c_dtype)
    operand = operand_of(input, weight, grad_output.c_numel, code, groups) if grad_output.c_dtype == input.c_dtype else code
    if not transposed and image_format(input) == image_format(grad_output):
        last = image_format(input)
    if weight.c_sizes[1] > 1:                    # the way back is shorter from channels first
        if grad_weight is not None and last != MF_contiguous:
            gradient(grad_weight, WEIGHT, dense(input, operand, last), dense(grad_output, operand, last), None, input, grad_output,
                     weight, &windows, groups, code, operand, last)
            grad_weight = None
    elif weight.c_sizes[0] == groups > 1 and is_side_by_side(&windows):
        memory_format = last
    if grad_input is not None or grad_weight is not None:
        g = dense(grad_output, operand, memory_format)
    if grad_input is not None:
        w = dense(weight, operand, MF_contiguous)
        if transposed:
            gradient(grad_input, FORWARD, g, None, w, g, input, weight, &windows, groups, code, operand, MF_contiguous)
        else:
            gradient(grad_input, BACKWARD, None, g, w, input, g, weight, &windows, groups, code, operand, memory_format)
    if grad_weight is not None:
        x = dense(input, operand, memory_format)
        seen, there = (g, x) if transposed else (x, g)
        gradient(grad_weight, WEIGHT, seen, there, None, seen, there, weight, &windows, groups, code, operand, memory_format)
    if grad_bias is not None:
        for d in range(grad_output.c_ndim - 1):
            all_but_channels[d] = d + (d > 0)
        fold_into(FOLD_SUM, grad_bias, None, grad_output, all_but_channels, grad_output.c_ndim - 1, 0)
    return 0


def slow_conv_transpose2d(Tensor out not None, Tensor self not None, Tensor weight not None, kernel_size, Tensor bias or None,
                          stride, padding, output_padding, dilation):
    """An unbatched self counts as a batch of one."""
    cdef Windows w
    read_plane(&w, kernel_size, stride, padding, dilation)
    convolve(out, self if self.c_ndim == 4 else self.unsqueeze(0), weight, bias, &w, True, 1)


cdef int read_plane(Windows* w, kernel_size, stride, padding, dilation) except -1:
    """Windows of two dimensions, from lists."""
    cdef int64_t numbers[4][64]
    cdef IntArray given[4]
    cdef int i
    for i, values in enumerate((kernel_size, stride, padding, dilation)):
        given[i].data, given[i].len = numbers[i], read_ints(values, numbers[i], "geometry")
    read_windows(w, 2, given[0], given[1], given[2])
    return read_dilation(w, given[3])


def col2im(Tensor out not None, Tensor self not None, output_size, kernel_size, dilation, padding, stride):
    """Columns added up where their windows lie."""
    cdef int code = computed_in(self.c_dtype), i
    cdef Tensor x, y
    cdef Job j
    check_kernel(self.c_dtype, DTYPES_FLOATING | DTYPES_BOOL | DTYPES_COMPLEX)
    if has_none(out):
        return
    if is_complex_code(self.c_dtype):
        for part in ("real", "imag"):
            col2im(getattr(out, part), getattr(self, part), output_size, kernel_size, dilation, padding, stride)
        return
    memset(&j, 0, sizeof(Job))
    read_plane(&j.c.w, kernel_size, stride, padding, dilation)
    j.c.x = j.c.y = image_of(out, 2)
    for i in range(1, 3):
        j.c.y.size[i] = output_length(&j.c.w, i, j.c.x.size[i], False)
    j.c.y.plane = j.c.y.size[1] * j.c.y.size[2]
    j.c.wide = j.c.item = dtypes.itemsize_table()[code]
    j.c.code, j.c.operand, j.c.cx, j.c.taps = code, code, j.c.x.c, j.c.w.kernel[1] * j.c.w.kernel[2]
    j.c.depth = j.c.cx * j.c.taps
    x, y = dense(self, code, MF_contiguous), target(out, code, MF_contiguous)
    j.way, j.s.to, j.s.y = COLUMNS, <char*>at(y), <char*>at(x)
    kept = pinned(LONG_RUN, x, y)
    run(&j)
    finish(out, y)
