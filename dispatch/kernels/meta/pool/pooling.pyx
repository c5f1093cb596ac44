"""Shape functions of pools with windows of one size, averages and maxima, and of their gradients.

Called by the structured kernels. Results of images keep the memory format that the input suggests,
and so do maxima of volumes; the rules about windows are in `windows`. Bodies are handed them.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_WIDE_UNSIGNED, MF_channels_last_3d, MF_contiguous, ST_int64, ST_uint8, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport COPIED, Spec
from dispatch._C.symbolic cimport eq_or_false, expect_ge, is_symbolic, lt
from dispatch._C.tensor cimport TF_FAKE, Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch.kernels.meta.rules.numbers cimport agree
from dispatch.kernels.meta.pool.windows cimport (
    Windows, check_windows, hand_windows, output_length, read_dilation, read_windows,
)


cdef int set_sizes(Spec* s, Tensor like, const int64_t* sizes, int code, int memory_format) except -1:
    s.ndim, s.dtype = like.c_ndim, code
    memcpy(s.sizes, sizes, s.ndim * sizeof(int64_t))
    if memory_format != MF_contiguous:
        rules.strides_for(s.strides, s.sizes, s.ndim, memory_format)
        s.has_strides = True
    return 0


cdef int raise_ndim(Tensor self, int dims, object error=RuntimeError) except -1:
    raise refused(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input, but got {sizes_of(self)}", error)


cdef int pooled_sizes(int64_t* out, Tensor self, const Windows* w, bint ceil_mode, bint exactly=True) except -1:
    """Output sizes for (batch,) channels and one dimension for each window. Not `exactly`: no guard keeps small inputs away."""
    cdef int i, ndim = self.c_ndim, dims = <int>w.dims
    cdef bint is_left = True
    if ndim < 3:
        raise_ndim(self, dims, IndexError if dims == 2 else RuntimeError)
    if ndim != dims + 1 and ndim != dims + 2:
        raise_ndim(self, dims)
    check_windows(w)
    for i in range(ndim - dims - 1, ndim):
        if eq_or_false(self.c_sizes[i], 0):
            raise refused(f"Expected input's non-batch dimensions to have positive length, but got {sizes_of(self)}")
    for i in range(ndim):
        out[i] = self.c_sizes[i]
        if i >= ndim - dims:
            out[i] = output_length(w, 3 - ndim + i, self.c_sizes[i], ceil_mode)
            is_left = is_left and not ((exactly or not is_symbolic(out[i])) and not expect_ge(out[i], 1))
    if not is_left:
        raise refused(f"Given input size {sizes_of(self)}. Calculated output size: {list(new_size(ndim, out))}. "
                      "Output size is too small")
    return 0


cdef int check_divisor(object divisor_override) except -1:
    if divisor_override is not None and divisor_override == 0:
        raise refused("divisor must be not zero")
    return 0


cdef int check_averaged(Tensor self) except -1:
    """PyTorch's rule for fake and meta tensors; for real ones the CPU body says what it can do."""
    if (self.c_devtype != DEV_CPU or self.c_flags & TF_FAKE) and \
            (self.c_dtype == ST_uint8 or is_in(DTYPES_WIDE_UNSIGNED, self.c_dtype)):
        raise refused(f"not implemented for {dtypes.get_dtype(self.c_dtype)!r}")
    return 0


cdef int check_gradient(str name, Tensor given, const int64_t* wanted, int ndim, int dims, bint exactly=True) except -1:
    """`given` has the output's dimensions; a batch of another size is not looked at. Not `exactly`: no guard keeps others away."""
    cdef int i
    cdef bint fits = given.c_ndim == ndim
    for i in range(ndim - dims - 1, ndim):
        fits = fits and agree(given.c_sizes[i], wanted[i], exactly)
    if not fits:
        raise refused(f"{name} must have sizes {list(new_size(ndim, wanted))}, got {sizes_of(given)}")
    return 0


cdef inline int volume_format(Tensor self) except -1:
    """Of maxima in three dimensions: batches keep channels_last_3d."""
    if self.c_ndim == 5 and rules.suggest_memory_format(self) == MF_channels_last_3d:
        return MF_channels_last_3d
    return MF_contiguous


cdef int set_volume(Spec* s, Tensor self, const int64_t* sizes, int code) except -1:
    """Maxima of a volume without a batch: on the CPU PyTorch lays them out as it would with one."""
    cdef int64_t steps[5]
    cdef int64_t whole[5]
    set_sizes(s, self, sizes, code, volume_format(self))
    if self.c_ndim != 4 or not rules.is_eager(self) or self.c_flags & TF_CONTIGUOUS:
        return 0
    steps[0], whole[0] = 0, 1
    memcpy(steps + 1, self.c_strides, 4 * sizeof(int64_t))
    memcpy(whole + 1, self.c_sizes, 4 * sizeof(int64_t))
    if not rules.is_channels_last(whole, steps, 5):
        return 0
    memcpy(whole + 1, sizes, 4 * sizeof(int64_t))
    rules.strides_for(steps, whole, 5, MF_channels_last_3d)
    memcpy(s.strides, steps + 1, 4 * sizeof(int64_t))
    s.has_strides = True
    return 0


# ---- averages ----------------------------------------------------------------------------------

cdef int averaged(Spec* s, int dims, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                  bint ceil_mode, object divisor_override) except -1:
    cdef Windows w
    cdef int64_t sizes[64]
    cdef int i
    check_averaged(self)
    read_windows(&w, dims, kernel_size, stride, padding)
    hand_windows(s.handed, &w)
    check_divisor(divisor_override)
    pooled_sizes(sizes, self, &w, ceil_mode)
    if dims == 2:
        return set_sizes(s, self, sizes, self.c_dtype, rules.suggest_memory_format(self))
    for i in range(3):
        if lt(self.c_sizes[self.c_ndim - 3 + i], w.kernel[i]):
            raise refused(f"self {sizes_of(self)} is smaller than kernel_size "
                          f"{list(new_size(3, w.kernel))}")
    s.cast |= COPIED
    return set_sizes(s, self, sizes, self.c_dtype, MF_contiguous)


cdef int averaged_backward(Spec* s, int dims, Tensor grad_output, Tensor self, IntArray kernel_size,
                           IntArray stride, IntArray padding, bint ceil_mode, object divisor_override) except -1:
    cdef Windows w
    cdef int64_t sizes[64]
    read_windows(&w, dims, kernel_size, stride, padding)
    hand_windows(s.handed, &w)
    check_divisor(divisor_override)
    pooled_sizes(sizes, self, &w, ceil_mode)
    check_gradient("grad_output", grad_output, sizes, self.c_ndim, dims)
    if dims == 3:
        s.cast |= COPIED
    return set_sizes(s, self, self.c_sizes, self.c_dtype,
                     rules.suggest_memory_format(self) if dims == 2 else MF_contiguous)


# ---- maxima ------------------------------------------------------------------------------------

cdef int largest(Spec* s, int dims, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                 IntArray dilation, bint ceil_mode) except -1:
    cdef Windows w
    cdef int64_t sizes[64]
    read_windows(&w, dims, kernel_size, stride, padding)
    read_dilation(&w, dilation)
    hand_windows(s.handed, &w)
    if dims == 2 and self.c_ndim < 3 and rules.is_eager(self):
        raise refused(f"expected self to have 3 or 4 dimensions, got {sizes_of(self)}")
    pooled_sizes(sizes, self, &w, ceil_mode)
    s[0].cast |= COPIED
    s[1].cast |= COPIED
    if dims == 3:
        set_volume(&s[0], self, sizes, self.c_dtype)
        return set_volume(&s[1], self, sizes, ST_int64)
    set_sizes(&s[0], self, sizes, self.c_dtype, rules.suggest_memory_format(self))
    return set_sizes(&s[1], self, sizes, ST_int64, rules.suggest_memory_format(self))


cdef int check_places(Tensor grad_output, Tensor self, Tensor indices) except -1:
    """What PyTorch's kernels look at, and its shape functions do not."""
    cdef Tensor t
    if indices.c_dtype != ST_int64:
        raise refused(f"indices must be int64, got {dtypes.get_dtype(indices.c_dtype)!r}")
    for t in (grad_output, indices):
        if t.c_sizes[0] != self.c_sizes[0]:
            raise refused(f"expected {self.c_sizes[0]} as the first size, got {list(t.shape)}")
    return 0


cdef int largest_backward(Spec* s, int dims, Tensor grad_output, Tensor self, IntArray kernel_size,
                          IntArray stride, IntArray padding, IntArray dilation, bint ceil_mode,
                          Tensor indices) except -1:
    cdef Windows w
    cdef int64_t sizes[64]
    cdef bint exactly = dims == 2 or rules.is_eager(self)      # of volumes PyTorch's shape function looks at channels alone
    read_windows(&w, dims, kernel_size, stride, padding)
    read_dilation(&w, dilation)
    pooled_sizes(sizes, self, &w, ceil_mode, exactly)
    if self.c_dtype != grad_output.c_dtype:
        raise refused(f"grad_output must be {dtypes.get_dtype(self.c_dtype)!r}, got "
                      f"{dtypes.get_dtype(grad_output.c_dtype)!r}")
    check_gradient("grad_output", grad_output, sizes, self.c_ndim, dims, exactly)
    check_gradient("indices", indices, sizes, self.c_ndim, dims, exactly)
    if rules.is_eager(self):
        check_places(grad_output, self, indices)
    s.cast |= COPIED
    return set_sizes(s, self, self.c_sizes, self.c_dtype,
                     rules.suggest_memory_format(self) if dims == 2 else volume_format(self))


# ---- operators ---------------------------------------------------------------------------------

cdef int avg_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    bint ceil_mode, bint count_include_pad, object divisor_override) except -1:
    return averaged(s, 2, self, kernel_size, stride, padding, ceil_mode, divisor_override)


cdef int avg_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    bint ceil_mode, bint count_include_pad, object divisor_override) except -1:
    return averaged(s, 3, self, kernel_size, stride, padding, ceil_mode, divisor_override)


cdef int avg_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, bint ceil_mode,
                             bint count_include_pad, object divisor_override) except -1:
    return averaged_backward(s, 2, grad_output, self, kernel_size, stride, padding, ceil_mode,
                             divisor_override)


cdef int avg_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, bint ceil_mode,
                             bint count_include_pad, object divisor_override) except -1:
    return averaged_backward(s, 3, grad_output, self, kernel_size, stride, padding, ceil_mode,
                             divisor_override)


cdef int max_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode) except -1:
    return largest(s, 2, self, kernel_size, stride, padding, dilation, ceil_mode)


cdef int max_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode) except -1:
    return largest(s, 3, self, kernel_size, stride, padding, dilation, ceil_mode)


cdef int max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, IntArray dilation, bint ceil_mode,
                             Tensor indices) except -1:
    return largest_backward(s, 2, grad_output, self, kernel_size, stride, padding, dilation, ceil_mode,
                            indices)


cdef int max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, IntArray dilation, bint ceil_mode,
                             Tensor indices) except -1:
    return largest_backward(s, 3, grad_output, self, kernel_size, stride, padding, dilation, ceil_mode,
                            indices)
