"""Sizes and strides of Fourier transforms of complex, from real and to real numbers.

Called by the structured kernels of `_fft_c2c`, `_fft_r2c` and `_fft_c2r`. PyTorch's CPU transforms
move the batch dimensions to the front, in the order of their strides, transform, and undo the move
in the strides of the result: `transform_strides` is that bookkeeping (_exec_fft in its MKL code).
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_NONE, ST_complex32, ST_complex64, ST_complex128, ST_float16, ST_float32, ST_float64, is_complex_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport CAST_ANY, COPIED, OVERLAP_ANY, Spec
from dispatch._C.symbolic cimport add, eq, floordiv, larger, lt, mul
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules

from dispatch._C.naming import tensor_word

cdef enum:
    MAX_DIMS = 64


cdef int complex_of(int code) noexcept nogil:
    if code == ST_float32:
        return ST_complex64
    if code == ST_float64:
        return ST_complex128
    return ST_complex32 if code == ST_float16 else ST_NONE


cdef int check_pair(Tensor first, Tensor second) except -1:
    if first.c_dtype == second.c_dtype and complex_of(first.c_dtype) != ST_NONE:
        return 0
    a, b = tensor_word(first.dtype), tensor_word(second.dtype)
    if complex_of(first.c_dtype) == ST_NONE or complex_of(second.c_dtype) == ST_NONE:
        error = RuntimeError if rules.is_eager(first) else AssertionError
        raise refused(f"Expected both inputs to be Half, Float or Double tensors but got {a} and {b}", error)
    raise refused(f"Expected object of scalar type {a} but got scalar type {b} for second argument")


cdef int real_of(int code) noexcept nogil:
    if code == ST_complex64:
        return ST_float32
    if code == ST_complex128:
        return ST_float64
    return ST_float16 if code == ST_complex32 else ST_NONE


# ---- strides -----------------------------------------------------------------------------------

cdef int sort_by_stride(int64_t* dims, int n, const int64_t* strides) except -1:
    """From the outermost in memory to the innermost; equal strides keep their order."""
    cdef int i, j
    cdef int64_t d
    for i in range(1, n):
        d, j = dims[i], i
        while j > 0 and lt(strides[dims[j - 1]], strides[d]):
            dims[j] = dims[j - 1]
            j -= 1
        dims[j] = d
    return 0


cdef bint has(const int64_t* dims, int n, int64_t d) noexcept nogil:
    cdef int i
    for i in range(n):
        if dims[i] == d:
            return True
    return False


cdef int partitioned(int64_t* out, int ndim, const int64_t* dims, int n) noexcept nogil:
    """Dimensions not in `dims`, in the order in which std::partition leaves them -> how many."""
    cdef int i, first = 0, last = ndim - 1
    for i in range(ndim):
        out[i] = i
    while True:
        while first <= last and not has(dims, n, out[first]):
            first += 1
        while first < last and has(dims, n, out[last]):
            last -= 1
        if first >= last:
            return first
        out[first], out[last] = out[last], out[first]


cdef int transform_strides(int64_t* out, const int64_t* strides, int ndim, const int64_t* out_sizes,
                           const int64_t* dims, int n) except -1:
    """Strides of the transform along `dims` of a tensor with `strides`."""
    cdef int64_t batch[MAX_DIMS]
    cdef int64_t step = 1
    cdef int i, count = partitioned(batch, ndim, dims, n)
    sort_by_stride(batch, count, strides)
    for i in range(n - 1, -1, -1):
        out[dims[i]] = step
        step = mul(step, larger(out_sizes[dims[i]], 1))
    for i in range(count - 1, -1, -1):
        out[batch[i]] = step
        step = mul(step, out_sizes[batch[i]])
    return 0


# ---- what they share ---------------------------------------------------------------------------

cdef object kind_of(Tensor self):
    """Of what names no dimension of `self`: PyTorch's shape functions index lists."""
    return RuntimeError if rules.is_eager(self) else IndexError


cdef int read_dims(int64_t* dims, Tensor self, IntArray dim) except -1:
    """`dim` counted from the front."""
    cdef int i, n = <int>dim.len
    for i in range(n):
        if not -self.c_ndim <= dim.data[i] < self.c_ndim:
            raise refused(f"dimension {dim.data[i]} is out of range for {list(new_size(self.c_ndim, self.c_sizes))}",
                          kind_of(self))
        if i == MAX_DIMS or has(dims, i, dim.data[i] % self.c_ndim):
            raise refused(f"a dimension is given more than once in {list(new_size(n, dim.data))}")
        dims[i] = dim.data[i] + (self.c_ndim if dim.data[i] < 0 else 0)
    for i in range(n):
        if eq(self.c_sizes[dims[i]], 0):
            raise refused(f"dimensions {list(new_size(n, dims))} of {list(new_size(self.c_ndim, self.c_sizes))} must not "
                          "be empty")
    return n


cdef int check_any(Tensor self, IntArray dim) except -1:
    """The last dimension is halved or doubled: there must be one."""
    if dim.len == 0:
        raise refused("dim must name at least one dimension", kind_of(self))
    return 0


cdef int check_half(Tensor self, int64_t given, int64_t size) except -1:
    """Of a signal, what comes in and what goes out are all of it or its half, for PyTorch's kernel of the CPU."""
    cdef int64_t signal
    if not rules.is_eager(self):
        return 0
    signal = max(given, size)
    if given != signal and given != signal // 2 + 1 or size != signal and size != signal // 2 + 1:
        raise refused(f"a half of {given} elements is none of {size}: expected {size // 2 + 1}")
    return 0


cdef int check_kind(int code, int found) except -1:
    if found == ST_NONE:
        raise refused(f"not implemented for {dtypes.get_dtype(code)!r}")
    return found


cdef bint runs_along_rows(Tensor self, const int64_t* dims, int n) noexcept:
    """Whether rows are transformed where they lie: the result is contiguous, too."""
    return n == 1 and dims[0] == self.c_ndim - 1 and self.c_flags & TF_CONTIGUOUS != 0


cdef void start(Spec* s, Tensor self, int code) noexcept:
    """Out variants copy: the CPU into an output of any dtype, Meta into one that it casts to."""
    s.dtype, s.ndim = code, self.c_ndim
    memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    s.cast = COPIED
    if rules.is_eager(self):
        s.cast |= CAST_ANY | OVERLAP_ANY


# ---- shape functions ---------------------------------------------------------------------------

cdef int c2c(Spec* s, Tensor self, IntArray dim, int64_t normalization, bint forward) except -1:
    cdef int64_t dims[MAX_DIMS]
    cdef int n
    if not is_complex_code(self.c_dtype):
        raise refused(f"expected self to be complex, got {dtypes.get_dtype(self.c_dtype)!r}")
    n = read_dims(dims, self, dim)
    memcpy(s.handed, dims, n * sizeof(int64_t))
    start(s, self, self.c_dtype)
    s.has_strides = not runs_along_rows(self, dims, n)
    if n == 0:
        rules.dense_like_strides(s.strides, self)
    elif s.has_strides:
        sort_by_stride(dims, n, self.c_strides)
        transform_strides(s.strides, self.c_strides, self.c_ndim, self.c_sizes, dims, n)
    return 0


cdef int r2c(Spec* s, Tensor self, IntArray dim, int64_t normalization, bint onesided) except -1:
    cdef int64_t dims[MAX_DIMS]
    cdef int n, code = check_kind(self.c_dtype, complex_of(self.c_dtype))
    check_any(self, dim)
    n = read_dims(dims, self, dim)
    memcpy(s.handed, dims, n * sizeof(int64_t))
    start(s, self, code)
    if onesided:
        s.sizes[dims[n - 1]] = add(floordiv(s.sizes[dims[n - 1]], 2), 1)
    if not runs_along_rows(self, dims, n):
        s.has_strides = True
        sort_by_stride(dims, n - 1, self.c_strides)
        transform_strides(s.strides, self.c_strides, self.c_ndim, s.sizes, dims, n)
    return 0


cdef int c2r(Spec* s, Tensor self, IntArray dim, int64_t normalization, int64_t last_dim_size) except -1:
    cdef int64_t dims[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef int64_t last
    cdef int n, code = check_kind(self.c_dtype, real_of(self.c_dtype))
    check_any(self, dim)
    n = read_dims(dims, self, dim)
    memcpy(s.handed, dims, n * sizeof(int64_t))
    start(s, self, code)
    last = dims[n - 1]
    check_half(self, self.c_sizes[last], last_dim_size)
    memcpy(strides, self.c_strides, self.c_ndim * sizeof(int64_t))
    s.sizes[last] = last_dim_size
    rules.numel(s.sizes, s.ndim)
    if runs_along_rows(self, dims, n):
        return 0
    if n > 1:                    # complex to complex first, then along the last one
        sort_by_stride(dims, n - 1, self.c_strides)
        transform_strides(strides, self.c_strides, self.c_ndim, self.c_sizes, dims, n - 1)
    s.has_strides = True
    transform_strides(s.strides, strides, self.c_ndim, s.sizes, &last, 1)
    return 0
