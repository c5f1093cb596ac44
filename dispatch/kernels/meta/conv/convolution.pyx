"""Shapes and layouts of convolutions, forward and backward.

Called by the structured kernels of `convolution` and `convolution_backward`. Sizes and checks are
those of PyTorch's `check_shape_forward`; the layout is the one that its choice of a CPU
implementation leads to (`determine_backend_memory_format`). Tensors on `meta` give contiguous
results, for there is no implementation to choose; a fake tensor shows the device it stands for.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_CUDA, DEV_META, DTYPES_REDUCED_FLOATING, MF_channels_last, MF_channels_last_3d, MF_contiguous,
    ST_bfloat16, ST_float32, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.geometry cimport TF_CONTIGUOUS, read_ints
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport (
    SIZE_ERROR, add, eq, eq_or_false, expect_eq, floordiv, ge, gt, le, lt, mod, mul, ne, size_object, sub,
)
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch.kernels.meta.pool.windows cimport Windows, hand_windows
from dispatch.kernels.meta.rules.numbers cimport example, expect_ge

cdef enum:                       # below these a single thread leaves a convolution to its own loops (PyTorch's use_mkldnn)
    LARGE_IMAGE = 20480
    LARGE_BATCH = 16

cdef struct Parameters:          # a convolution's numbers, one for each spatial dimension
    int dims
    int64_t stride[64]
    int64_t padding[64]
    int64_t dilation[64]
    int64_t output_padding[64]
    bint transposed
    int64_t groups


cdef object as_list(int n, const int64_t* values):
    return list(new_size(n, values))


# ---- checks ------------------------------------------------------------------------------------

cdef int expand(int64_t* to, IntArray values, str name, int dims) except -1:
    """One number serves all dimensions."""
    cdef int i
    if values.len != 1 and values.len != dims:
        raise refused(f"{name} must be one number or {dims}, got {as_list(<int>values.len, values.data)}")
    for i in range(dims):
        to[i] = values.data[0 if values.len == 1 else i]
    return 0


cdef int read_parameters(Parameters* p, Tensor weight, IntArray stride, IntArray padding, IntArray dilation,
                         bint transposed, IntArray output_padding, int64_t groups) except -1:
    p.dims, p.transposed, p.groups = weight.c_ndim - 2, transposed, groups
    if p.dims <= 0:
        raise refused(f"weight should have at least three dimensions, got {sizes_of(weight)}")
    expand(p.stride, stride, "stride", p.dims)
    expand(p.padding, padding, "padding", p.dims)
    expand(p.dilation, dilation, "dilation", p.dims)
    return expand(p.output_padding, output_padding, "output_padding", p.dims)


cdef inline bint all_reach(const int64_t* values, int n, int64_t least) except -1:
    cdef int i
    for i in range(n):
        if lt(values[i], least):
            return False
    return True


cdef int check_numbers(const Parameters* p) except -1:
    if not all_reach(p.padding, p.dims, 0):
        raise refused(f"negative padding is not supported, got {as_list(p.dims, p.padding)}")
    if not all_reach(p.output_padding, p.dims, 0):
        raise refused(f"negative output_padding {as_list(p.dims, p.output_padding)}")
    if not all_reach(p.stride, p.dims, 1):
        raise refused(f"non-positive stride is not supported, got {as_list(p.dims, p.stride)}")
    if not all_reach(p.dilation, p.dims, 0):
        raise refused(f"dilation should be greater than zero, got {as_list(p.dims, p.dilation)}")
    if le(p.groups, 0):
        raise refused(f"non-positive groups is not supported, got {size_object(p.groups)}")
    return 0


cdef int check_channels(Tensor input, Tensor weight, Tensor bias, const Parameters* p) except -1:
    """Channels of input, weight and bias agree, with `groups` between them. On meta PyTorch looks at little of that."""
    cdef int64_t expected, out
    cdef bint thorough = input.c_devtype != DEV_META
    if input.c_ndim != weight.c_ndim:
        raise refused(f"weight {sizes_of(weight)} needs an input of {weight.c_ndim} dimensions, got {sizes_of(input)}")
    if thorough and (lt(weight.c_sizes[0], p.groups) or not expect_eq(mod(weight.c_sizes[0], p.groups), 0)):
        groups = size_object(p.groups)
        raise refused(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
                      f"and divisible by it, but got weight of size {sizes_of(weight)} instead")
    expected = weight.c_sizes[0] if p.transposed else mul(weight.c_sizes[1], p.groups)
    if (thorough or not p.transposed) and not expect_eq(input.c_sizes[1], expected):
        raise refused(f"Given groups={size_object(p.groups)}, weight of size {sizes_of(weight)}, expected "
                      f"input{sizes_of(input)} to have {size_object(expected)} channels, "
                      f"but got {size_object(input.c_sizes[1])} channels instead")
    out = mul(weight.c_sizes[1], p.groups) if p.transposed else weight.c_sizes[0]
    if thorough and bias is not None and (bias.c_ndim != 1 or not expect_eq(bias.c_sizes[0], out)):
        raise refused(f"expected bias to be 1-dimensional with {size_object(out)} elements, got bias of size {sizes_of(bias)}")
    return 0


cdef inline int64_t span(Tensor weight, const Parameters* p, int i) except? SIZE_ERROR:
    """How far apart the first and the last element under the kernel are."""
    return mul(p.dilation[i], sub(weight.c_sizes[i + 2], 1))


cdef int check_shapes(Tensor input, Tensor weight, Tensor bias, const Parameters* p) except -1:
    cdef int i
    check_numbers(p)
    check_channels(input, weight, bias, p)
    for i in range(p.dims):
        if eq_or_false(input.c_sizes[i + 2], 0) and not eq(input.c_sizes[0], 0) and not eq(input.c_sizes[1], 0):
            raise refused(f"only batch and channels of the input may be empty, got {sizes_of(input)}")
    if p.transposed:
        return 0
    for i in range(p.dims):
        if not expect_ge(add(input.c_sizes[i + 2], mul(2, p.padding[i])), add(span(weight, p, i), 1)):
            raise refused(f"Kernel size can't be greater than actual input size: kernel "
                          f"{as_list(p.dims, weight.c_sizes + 2)} with dilation {as_list(p.dims, p.dilation)}, input "
                          f"{as_list(p.dims, input.c_sizes + 2)} with padding {as_list(p.dims, p.padding)}")
    return 0


cdef int check_bias(Tensor input, Tensor bias, const Parameters* p) except -1:
    """Most of PyTorch's kernels convert the bias: those of bfloat16 and of transposed volumes do not."""
    if bias is None or bias.c_dtype == input.c_dtype or not rules.is_eager(input):
        return 0
    if input.c_dtype == ST_bfloat16 or p.transposed and p.dims == 3:
        raise refused(f"input ({dtypes.get_dtype(input.c_dtype)!r}) and bias ({dtypes.get_dtype(bias.c_dtype)!r}) must have "
                      "one dtype")
    return 0


cdef int check_for_cpu(Tensor input, const Parameters* p) except -1:
    """What PyTorch's kernels of the CPU look at, and its shape function does not."""
    cdef int i
    if input.c_devtype != DEV_CPU or not rules.is_eager(input) or not input.c_numel:       # of nothing, no kernel runs
        return 0
    if not all_reach(p.dilation, p.dims, 1):
        raise refused(f"dilation should be greater than zero, got {as_list(p.dims, p.dilation)}")
    for i in range(p.dims if p.transposed else 0):
        if ge(p.output_padding[i], p.stride[i]) and ge(p.output_padding[i], p.dilation[i]):
            raise refused(f"output padding must be smaller than either stride or dilation, got "
                          f"{as_list(p.dims, p.output_padding)}, {as_list(p.dims, p.stride)} and "
                          f"{as_list(p.dims, p.dilation)}")
    return 0


cdef int output_sizes(int64_t* out, Tensor input, Tensor weight, const Parameters* p) except -1:
    cdef int i
    cdef int64_t length, around, reach
    out[0] = input.c_sizes[0]
    out[1] = mul(weight.c_sizes[1], p.groups) if p.transposed else weight.c_sizes[0]
    for i in range(p.dims):
        length, around, reach = input.c_sizes[i + 2], mul(2, p.padding[i]), span(weight, p, i)
        if p.transposed:
            length = sub(mul(sub(length, 1), p.stride[i]), around)
            out[i + 2] = add(add(add(length, reach), p.output_padding[i]), 1)
        else:
            out[i + 2] = add(floordiv(sub(sub(add(length, around), reach), 1), p.stride[i]), 1)
    if eq_or_false(input.c_sizes[1], 0):
        out[1] = 0
    return 0


# ---- layout ------------------------------------------------------------------------------------

cdef bint uses_onednn(Tensor input, Tensor weight, const Parameters* p) except -1:
    """Whether PyTorch's CPU build takes oneDNN for this convolution (use_mkldnn), on one thread."""
    cdef int i, ndim = weight.c_ndim
    cdef int64_t last = weight.c_sizes[ndim - 1], other = weight.c_sizes[ndim - 2], image = 1
    cdef bint worth = ne(last, 1) or ne(other, 1) or ge(input.c_sizes[0], LARGE_BATCH)
    for i in range(p.dims):
        if p.transposed and ge(p.output_padding[i], p.stride[i]):
            return False
        worth = worth or ne(p.stride[i], 1) or ne(p.dilation[i], 1)
    if is_in(DTYPES_REDUCED_FLOATING, input.c_dtype):
        return True
    if input.c_dtype != ST_float32 or not worth:
        return False
    for i in range(min(4, input.c_ndim)):
        image = mul(image, input.c_sizes[i])
    return gt(p.groups, 1) or gt(input.c_sizes[0], 1) or (gt(last, 3) and gt(other, 3)) or gt(image, LARGE_IMAGE)


cdef bint line_is_channels_last(Tensor t) except -1:
    """Whether a tensor of 3 dimensions suggests channels_last once it has a height of 1."""
    cdef int64_t n = t.c_sizes[0], c = t.c_sizes[1], w = t.c_sizes[2]
    cdef int64_t sn = t.c_strides[0], sc = t.c_strides[1], sw = t.c_strides[2]
    if eq_or_false(sc, 0) or eq_or_false(n, 0) or eq_or_false(c, 0) or eq_or_false(w, 0) or lt(sw, mul(sc, c)):
        return False
    return ge(sn, mul(sw, w) if gt(w, 1) else sw) and ne(sn, sc)


cdef int layout_of(Tensor t, Tensor weight, const Parameters* p) except -1:
    """The memory format that results have; that of a line is the one with a height of 1."""
    cdef int wanted
    if t.c_devtype == DEV_META or eq_or_false(t.c_sizes[0], 0) or eq_or_false(t.c_sizes[1], 0):
        return MF_contiguous
    if weight.c_ndim == 3:
        # An input that is not contiguous is copied first; with sizes of 1 its strides may be odd.
        if line_is_channels_last(weight) or t.c_flags & TF_CONTIGUOUS and line_is_channels_last(t):
            return MF_channels_last
        return MF_contiguous
    if weight.c_ndim == 4:
        wanted = MF_channels_last
    elif weight.c_ndim == 5 and example(t.c_sizes[0]) >= 0 and uses_onednn(t, weight, p):
        wanted = MF_channels_last_3d
    else:
        return MF_contiguous
    if rules.suggest_memory_format(t) == wanted or rules.suggest_memory_format(weight) == wanted:
        return wanted
    return MF_contiguous


cdef int set_spec(Spec* s, const int64_t* sizes, int ndim, int code, int memory_format) except -1:
    cdef int64_t plane[4]
    cdef int64_t strides[4]
    s.ndim, s.dtype = ndim, code
    memcpy(s.sizes, sizes, ndim * sizeof(int64_t))
    if memory_format == MF_contiguous:
        return 0
    s.has_strides = True
    if ndim != 3:
        return rules.strides_for(s.strides, s.sizes, ndim, memory_format)
    plane[0], plane[1], plane[2], plane[3] = sizes[0], sizes[1], 1, sizes[2]
    rules.strides_for(strides, plane, 4, memory_format)
    s.strides[0], s.strides[1], s.strides[2] = strides[0], strides[1], strides[3]
    return 0


cdef bint is_left(const int64_t* out, const Parameters* p, int device) except -1:
    """PyTorch looks for one dimension that is left, but on cuda; negative sizes never pass."""
    cdef int i
    if not all_reach(out + 2, p.dims, 0):
        return False
    for i in range(p.dims):
        if device == DEV_CUDA or gt(out[i + 2], 0):
            return True
    return False


cdef int hand_over(Spec* s, Tensor weight, const Parameters* p) noexcept:
    """The windows, for bodies; the number of dimensions alone where it is larger than a body takes."""
    cdef Windows w
    cdef int i, first = 3 - p.dims
    w.dims = p.dims
    for i in range(3):
        w.kernel[i] = w.stride[i] = w.dilation[i] = 1
        w.padding[i] = 0
    if first >= 0:
        memcpy(w.kernel + first, weight.c_sizes + 2, p.dims * sizeof(int64_t))
        memcpy(w.stride + first, p.stride, p.dims * sizeof(int64_t))
        memcpy(w.padding + first, p.padding, p.dims * sizeof(int64_t))
        memcpy(w.dilation + first, p.dilation, p.dims * sizeof(int64_t))
    hand_windows(s.handed, &w)
    return 0


# ---- operators ---------------------------------------------------------------------------------

cdef int convolution(Spec* s, Tensor input, Tensor weight, Tensor bias, IntArray stride, IntArray padding,
                     IntArray dilation, bint transposed, IntArray output_padding, int64_t groups) except -1:
    cdef Parameters p
    cdef int64_t out[64]
    if input.c_dtype != weight.c_dtype:
        raise refused(f"expected scalar type {scalar_type(input.dtype)} but found {scalar_type(weight.dtype)}: "
                      f"input and weight must have one dtype, got {input.dtype!r} and {weight.dtype!r}")
    read_parameters(&p, weight, stride, padding, dilation, transposed, output_padding, groups)
    check_shapes(input, weight, bias, &p)
    check_bias(input, bias, &p)
    hand_over(s, weight, &p)
    check_for_cpu(input, &p)
    output_sizes(out, input, weight, &p)
    # The check of the kernel's span leaves no other sizes than positive ones, unless transposed.
    if transposed and not is_left(out, &p, input.c_devtype):
        raise refused(f"the output for input {sizes_of(input)} and weight {sizes_of(weight)} would have sizes "
                      f"{as_list(input.c_ndim, out)}")
    return set_spec(s, out, input.c_ndim, input.c_dtype, layout_of(input, weight, &p))


cdef int check_gradient(Tensor grad_output, Tensor input, Tensor weight, const Parameters* p) except -1:
    """The sizes of the result. (PyTorch's Meta kernel does not look.)"""
    cdef int64_t out[64]
    cdef int i
    cdef bint good = grad_output.c_ndim == input.c_ndim
    output_sizes(out, input, weight, p)
    for i in range(input.c_ndim):
        good = good and grad_output.c_sizes[i] == out[i]
    if not good:
        raise refused(f"expected grad_output of shape {as_list(input.c_ndim, out)}, got {sizes_of(grad_output)}")
    return 0


cdef int convolution_backward(Spec* s, Tensor grad_output, Tensor input, Tensor weight, object bias_sizes,
                              IntArray stride, IntArray padding, IntArray dilation, bint transposed,
                              IntArray output_padding, int64_t groups, object output_mask) except -1:
    cdef Parameters p
    cdef int code = grad_output.c_dtype, memory_format
    read_parameters(&p, weight, stride, padding, dilation, transposed, output_padding, groups)
    check_shapes(input, weight, None, &p)
    check_for_cpu(input, &p)
    hand_over(s, weight, &p)
    if rules.is_eager(grad_output):
        check_gradient(grad_output, input, weight, &p)
    memory_format = layout_of(input, weight, &p)
    if output_mask[2] and bias_sizes is None and not rules.is_eager(grad_output):
        raise refused("the gradient of bias needs bias_sizes", TypeError)
    s[0].absent, s[1].absent, s[2].absent = not output_mask[0], not output_mask[1], not output_mask[2]
    set_spec(&s[0], input.c_sizes, input.c_ndim, code, memory_format)
    set_spec(&s[1], weight.c_sizes, weight.c_ndim, code, memory_format)
    s[2].dtype = code
    if output_mask[2]:
        if rules.is_eager(grad_output):       # the sum over all but the channels: nothing is read of `bias_sizes`
            s[2].ndim, s[2].sizes[0] = 1, grad_output.c_sizes[1]
        else:
            s[2].ndim = read_ints(bias_sizes, s[2].sizes, "bias_sizes")
    return 0
