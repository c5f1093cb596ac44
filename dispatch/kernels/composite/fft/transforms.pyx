"""Fourier transforms as a user calls them: lengths, dimensions and norms, over `_fft_*`.

Each function serves the functional operator and, with `out`, the out variant. Input is made
floating-point (complex where the transform needs it), cut or padded to the lengths asked for, and
given to `_fft_c2c`, `_fft_r2c` or `_fft_c2r`; those that these do not have (real output forward,
halved output backward) are conjugates of those that they have, as in PyTorch's SpectralOps. Sizes
are Python objects, which may be symbolic.
"""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport (
    ST_float16, ST_float32, ST_float64, default_dtype_code, get_dtype, is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.fft.transforms cimport complex_of

cdef enum:
    BY_NONE, BY_ROOT, BY_COUNT

cdef Callee TO_COPY = callee("_to_copy")
cdef Callee SLICE = callee("slice", "Tensor")
cdef Callee PAD = callee("constant_pad_nd")
cdef Callee CONJ = callee("conj")
cdef Callee CONJ_PHYSICAL = callee("conj_physical")
cdef Callee CONJ_PHYSICAL_OUT = callee("conj_physical", "out")
cdef Callee C2C = callee("_fft_c2c")
cdef Callee C2C_OUT = callee("_fft_c2c", "out")
cdef Callee R2C = callee("_fft_r2c")
cdef Callee R2C_OUT = callee("_fft_r2c", "out")
cdef Callee C2R = callee("_fft_c2r")
cdef Callee C2R_OUT = callee("_fft_c2r", "out")


# ---- arguments ---------------------------------------------------------------------------------

cdef int mode_of(object norm, bint forward) except -1:
    if norm is None or norm == "backward":
        return BY_NONE if forward else BY_COUNT
    if norm == "forward":
        return BY_COUNT if forward else BY_NONE
    if norm == "ortho":
        return BY_ROOT
    raise refused(f'Invalid normalization mode: "{norm}"')


cdef Tensor promoted(Tensor self, bint need_complex):
    """The input in the floating-point or complex dtype that is transformed."""
    cdef int code = self.c_dtype
    if not is_complex_code(code):
        if not is_floating_code(code):
            code = default_dtype_code()
        narrow = code == ST_float16 and self.device.type in ("cuda", "meta")
        if code != ST_float32 and code != ST_float64 and not narrow:
            raise refused(f"Unsupported dtype {scalar_type(get_dtype(code))}")
        if need_complex:
            code = complex_of(code)
    return self if code == self.c_dtype else TO_COPY.call((self, get_dtype(code)))


cdef int check_count(object n) except -1:
    if n < 1:
        raise refused(f"Invalid number of data points ({n}) specified")
    return 0


cdef Tensor resized(Tensor x, list dims, list sizes):
    """`x` cut or padded with zeros to `sizes` along `dims`."""
    cdef list pad = None
    cdef Py_ssize_t d
    for d, size in zip(dims, sizes):
        have = x.shape[d]
        if have < size:
            if pad is None:
                pad = [0] * (2 * x.c_ndim)
            pad[2 * (x.c_ndim - d) - 1] = size - have
        if have > size:
            x = SLICE.call((x, d, 0, size))
    return x if pad is None else PAD.call((x, pad, 0))


cdef tuple shape_and_dims(Tensor self, object s, object dim):
    """How many points to transform along which dimensions."""
    cdef list dims = [], shape
    if dim is not None:
        dims = [rules.wrap_dim(d, self.c_ndim, False) for d in dim]
        if len(set(dims)) != len(dims):
            raise refused(f"FFT dims must be unique, got {list(dim)}")
    if s is not None:
        if dim is not None and len(dim) != len(s):
            raise refused(f"When given, dim and shape arguments must have the same length, got {list(s)} and {list(dim)}")
        if len(s) > self.c_ndim:
            raise refused(f"Got shape with {len(s)} values but input tensor only has {self.c_ndim} dimensions.")
        if dim is None:
            dims = list(range(self.c_ndim - len(s), self.c_ndim))
        sizes = self.shape
        shape = [sizes[d] if n == -1 else n for n, d in zip(s, dims)]
    else:
        if dim is None:
            dims = list(range(self.c_ndim))
        sizes = self.shape
        shape = [sizes[d] for d in dims]
    for n in shape:
        check_count(n)
    return shape, dims


cdef int check_any(list dims) except -1:
    if not dims:
        raise refused("must transform at least one axis, got none")
    return 0


cdef tuple real_shape_and_dims(Tensor self, object s, object dim):
    """The same for real output: lengths of the input, and of the output's last dimension."""
    cdef list shape, dims
    cdef Py_ssize_t end
    shape, dims = shape_and_dims(self, s, dim)
    check_any(dims)
    end = len(dims) - 1
    last = shape[end]
    if s is None or s[end] == -1:
        last = 2 * (self.shape[dims[end]] - 1)
    check_count(last)
    shape[end] = last // 2 + 1
    return shape, dims, last


cdef int check_real(Tensor self) except -1:
    if is_complex_code(self.c_dtype):
        raise refused(f"rfft expects a real input tensor, but got {scalar_type(get_dtype(self.c_dtype))}")
    return 0


cdef int check_complex_out(Tensor out) except -1:
    if out is not None and not is_complex_code(out.c_dtype):
        raise refused(f"expects a complex output tensor, but got {scalar_type(get_dtype(out.c_dtype))}")
    return 0


cdef int check_real_out(Tensor out) except -1:
    if out is not None and not is_floating_code(out.c_dtype):
        raise refused(f"expected out to be floating-point, got {get_dtype(out.c_dtype)!r}")
    return 0


# ---- the three transforms, with or without `out` -----------------------------------------------

cdef Tensor c2c(Tensor x, list dims, int mode, bint forward, Tensor out):
    check_complex_out(out)
    return C2C.call((x, dims, mode, forward)) if out is None else C2C_OUT.call((x, dims, mode, forward, out))


cdef Tensor r2c(Tensor x, list dims, int mode, bint onesided, Tensor out):
    check_complex_out(out)
    return R2C.call((x, dims, mode, onesided)) if out is None else R2C_OUT.call((x, dims, mode, onesided, out))


cdef Tensor c2r(Tensor x, list dims, int mode, object last, Tensor out):
    check_real_out(out)
    return C2R.call((x, dims, mode, last)) if out is None else C2R_OUT.call((x, dims, mode, last, out))


# ---- one dimension -----------------------------------------------------------------------------

cdef Tensor cut(Tensor x, int64_t d, object n):
    """`x` with `n` points along `d`; None: those that it has."""
    check_count(x.shape[d] if n is None else n)
    return x if n is None else resized(x, [d], [n])


cdef Tensor complex_1d(Tensor self, object n, int64_t dim, object norm, bint forward, Tensor out):
    cdef int64_t d
    if not is_complex_code(self.c_dtype):
        return from_real_1d(self, n, dim, norm, forward, False, out)
    d = rules.wrap_dim(dim, self.c_ndim, False)
    return c2c(cut(self, d, n), [d], mode_of(norm, forward), forward, out)


cdef Tensor from_real_1d(Tensor self, object n, int64_t dim, object norm, bint forward, bint onesided, Tensor out):
    cdef int64_t d
    cdef int mode
    check_real(self)
    check_complex_out(out)
    self = promoted(self, False)
    d = rules.wrap_dim(dim, self.c_ndim, False)
    self = cut(self, d, n)
    mode = mode_of(norm, forward)
    if forward:
        return r2c(self, [d], mode, onesided, out)
    self = R2C.call((self, [d], mode, onesided))
    return CONJ.call((self,)) if out is None else CONJ_PHYSICAL_OUT.call((self, out))


cdef Tensor to_real_1d(Tensor self, object n, int64_t dim, object norm, bint forward, Tensor out):
    cdef int64_t d
    cdef int mode
    check_real_out(out)
    self = promoted(self, True)
    d = rules.wrap_dim(dim, self.c_ndim, False)
    last = 2 * (self.shape[d] - 1) if n is None else n
    check_count(last)
    if n is not None:
        self = resized(self, [d], [n // 2 + 1])
    mode = mode_of(norm, forward)
    if forward:
        self = CONJ.call((self,))
    return c2r(self, [d], mode, last, out)


def fft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """The transform of real or complex input."""
    return complex_1d(self, n, dim, norm, True, out)


def ifft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """Its inverse."""
    return complex_1d(self, n, dim, norm, False, out)


def rfft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """The half of the transform of real input that tells all."""
    return from_real_1d(self, n, dim, norm, True, True, out)


def irfft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """The inverse of `rfft`: `n` points, an even number unless it is given."""
    return to_real_1d(self, n, dim, norm, False, out)


def hfft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """The transform, which is real, of a half of Hermitian input."""
    return to_real_1d(self, n, dim, norm, True, out)


def ihfft(Tensor self not None, n=None, int64_t dim=-1, norm=None, *, Tensor out=None):
    """The inverse of `hfft`."""
    return from_real_1d(self, n, dim, norm, False, True, out)


# ---- several dimensions ------------------------------------------------------------------------

cdef Tensor complex_nd(Tensor self, object s, object dim, object norm, bint forward, Tensor out):
    shape, dims = shape_and_dims(self, s, dim)
    return c2c(resized(promoted(self, True), dims, shape), dims, mode_of(norm, forward), forward, out)


cdef Tensor half_nd(Tensor self, object s, object dim, object norm, Tensor out):
    check_real(self)
    shape, dims = shape_and_dims(self, s, dim)
    check_any(dims)
    return r2c(resized(promoted(self, False), dims, shape), dims, mode_of(norm, True), True, out)


cdef Tensor real_nd(Tensor self, object s, object dim, object norm, Tensor out):
    shape, dims, last = real_shape_and_dims(self, s, dim)
    return c2r(resized(promoted(self, True), dims, shape), dims, mode_of(norm, False), last, out)


cdef Tensor hermitian_nd(Tensor self, object s, object dim, object norm, Tensor out):
    cdef int mode
    cdef list dims
    cdef Py_ssize_t end
    shape, dims, last = real_shape_and_dims(self, s, dim)
    self = resized(promoted(self, True), dims, shape)
    mode = mode_of(norm, True)
    end = len(dims) - 1
    if end:
        self = C2C.call((self, dims[:end], mode, True))
    return c2r(CONJ.call((self,)), dims[end:], mode, last, out)


cdef Tensor to_hermitian_nd(Tensor self, object s, object dim, object norm, Tensor out):
    cdef int mode
    cdef list dims
    cdef Py_ssize_t end
    check_real(self)
    shape, dims = shape_and_dims(self, s, dim)
    check_any(dims)
    self = resized(promoted(self, False), dims, shape)
    mode = mode_of(norm, False)
    end = len(dims) - 1
    self = R2C.call((self, dims[end:], mode, True))
    if not end:
        return CONJ.call((self,)) if out is None else CONJ_PHYSICAL_OUT.call((self, out))
    return c2c(CONJ_PHYSICAL.call((self,)), dims[:end], mode, False, out)


def fftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """The transform along several dimensions: all, or the last ones for which `s` has lengths."""
    return complex_nd(self, s, dim, norm, True, out)


def ifftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """Its inverse."""
    return complex_nd(self, s, dim, norm, False, out)


def rfftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """The half, along the last of the dimensions, of the transform of real input."""
    return half_nd(self, s, dim, norm, out)


def irfftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """The inverse of `rfftn`."""
    return real_nd(self, s, dim, norm, out)


def hfftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """The transform, which is real, of input that is Hermitian along the last dimension."""
    return hermitian_nd(self, s, dim, norm, out)


def ihfftn(Tensor self not None, s=None, dim=None, norm=None, *, Tensor out=None):
    """The inverse of `hfftn`."""
    return to_hermitian_nd(self, s, dim, norm, out)


# ---- two dimensions, the last unless `dim` names others ----------------------------------------

cdef tuple LAST_TWO = (-2, -1)


def fft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`fftn` along two dimensions."""
    return complex_nd(self, s, dim, norm, True, out)


def ifft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`ifftn` along two dimensions."""
    return complex_nd(self, s, dim, norm, False, out)


def rfft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`rfftn` along two dimensions."""
    return half_nd(self, s, dim, norm, out)


def irfft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`irfftn` along two dimensions."""
    return real_nd(self, s, dim, norm, out)


def hfft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`hfftn` along two dimensions."""
    return hermitian_nd(self, s, dim, norm, out)


def ihfft2(Tensor self not None, s=None, dim=LAST_TWO, norm=None, *, Tensor out=None):
    """`ihfftn` along two dimensions."""
    return to_hermitian_nd(self, s, dim, norm, out)
