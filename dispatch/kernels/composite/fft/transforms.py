"""Fourier transforms as a user calls them: lengths, dimensions and norms, over `_fft_*`.

Each function serves the functional operator and, with `out`, the out variant. Input is made
floating-point (complex where the transform needs it), cut or padded to the lengths asked for, and
given to `_fft_c2c`, `_fft_r2c` or `_fft_c2r`; those that these do not have (real output forward,
halved output backward) are conjugates of those that they have, as in PyTorch's SpectralOps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "fft",
    "fft2",
    "fftn",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
]

_aten = ops.aten
_Ints = Sequence[int]

_NONE, _BY_ROOT, _BY_COUNT = 0, 1, 2
_COMPLEX_OF = {
    dtypes.float16: dtypes.complex32,
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
}


# ---- arguments ---------------------------------------------------------------------------------


def _norm(norm: str | None, forward: bool) -> int:
    if norm is None or norm == "backward":
        return _NONE if forward else _BY_COUNT
    if norm == "forward":
        return _BY_COUNT if forward else _NONE
    if norm == "ortho":
        return _BY_ROOT
    raise refused(f"expected norm to be 'forward', 'backward' or 'ortho', got {norm!r}")


def _promoted(self: Tensor, need_complex: bool = False) -> Tensor:
    """The input in the floating-point or complex dtype that is transformed."""
    kind = self.dtype
    if not kind.is_complex:
        if not kind.is_floating_point:
            kind = dtypes.get_default_dtype()
        narrow = kind is dtypes.float16 and self.device.type in ("cuda", "meta")
        if kind not in (dtypes.float32, dtypes.float64) and not narrow:
            raise refused(f"expected self of a dtype with a transform, got {kind}")
        if need_complex:
            kind = _COMPLEX_OF[kind]
    return self if kind is self.dtype else _aten._to_copy(self, dtype=kind)


def _check_count(n: int) -> None:
    if n < 1:
        raise refused(f"expected at least one point to transform, got {n}")


def _resized(x: Tensor, dims: _Ints, sizes: _Ints) -> Tensor:
    """`x` cut or padded with zeros to `sizes` along `dims`."""
    pad, padded = [0] * (2 * x.ndim), False
    for d, size in zip(dims, sizes, strict=True):
        have = x.shape[d]
        if have < size:
            padded = True
            pad[len(pad) - 2 * d - 1] = size - have
        if have > size:
            x = _aten.slice(x, d, 0, size)
    return _aten.constant_pad_nd(x, pad, 0.0) if padded else x


def _shape_and_dims(self: Tensor, s: _Ints | None, dim: _Ints | None) -> tuple[list[int], ...]:
    """How many points to transform along which dimensions."""
    dims: list[int] = []
    if dim is not None:
        dims = [rules.wrap_dim(d, self.ndim, False) for d in dim]
        if len(set(dims)) != len(dims):
            raise refused(f"expected dim to name each dimension once, got {list(dim)}")
    if s is not None:
        if dim is not None and len(dim) != len(s):
            raise refused(f"expected s and dim of one length, got {list(s)} and {list(dim)}")
        if len(s) > self.ndim:
            raise refused(f"s {list(s)} has more values than self of {list(self.shape)}")
        if dim is None:
            dims = list(range(self.ndim - len(s), self.ndim))
        shape = [self.shape[d] if n == -1 else n for n, d in zip(s, dims, strict=True)]
    else:
        if dim is None:
            dims = list(range(self.ndim))
        shape = [self.shape[d] for d in dims]
    for n in shape:
        _check_count(n)
    return shape, dims


def _check_any(dims: _Ints) -> None:
    if not dims:
        raise refused("expected at least one dimension to transform, got none")


def _real_shape_and_dims(
    self: Tensor, s: _Ints | None, dim: _Ints | None
) -> tuple[list[int], list[int], int]:
    """The same for real output: lengths of the input, and of the output's last dimension."""
    shape, dims = _shape_and_dims(self, s, dim)
    _check_any(dims)
    last = shape[-1]
    if s is None or s[-1] == -1:
        last = 2 * (self.shape[dims[-1]] - 1)
    _check_count(last)
    shape[-1] = last // 2 + 1
    return shape, dims, last


def _check_real(self: Tensor) -> None:
    if self.dtype.is_complex:
        raise refused(f"expected self to be real, got {self.dtype}")


# ---- the three transforms, with or without `out` -----------------------------------------------


def _c2c(x: Tensor, dims: _Ints, norm: int, forward: bool, out: Tensor | None) -> Tensor:
    if out is None:
        return _aten._fft_c2c(x, dims, norm, forward)
    if not out.dtype.is_complex:
        raise refused(f"expected out to be complex, got {out.dtype}")
    return _aten._fft_c2c.out(x, dims, norm, forward, out=out)


def _r2c(x: Tensor, dims: _Ints, norm: int, onesided: bool, out: Tensor | None) -> Tensor:
    if out is None:
        return _aten._fft_r2c(x, dims, norm, onesided)
    if not out.dtype.is_complex:
        raise refused(f"expected out to be complex, got {out.dtype}")
    return _aten._fft_r2c.out(x, dims, norm, onesided, out=out)


def _c2r(x: Tensor, dims: _Ints, norm: int, last: int, out: Tensor | None) -> Tensor:
    if out is None:
        return _aten._fft_c2r(x, dims, norm, last)
    if not out.dtype.is_floating_point:
        raise refused(f"expected out to be floating-point, got {out.dtype}")
    return _aten._fft_c2r.out(x, dims, norm, last, out=out)


# ---- one dimension -----------------------------------------------------------------------------


def _complex_1d(
    self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, out: Tensor | None
) -> Tensor:
    if not self.dtype.is_complex:
        return _from_real_1d(self, n, dim, norm, forward, False, out)
    d = rules.wrap_dim(dim, self.ndim, False)
    _check_count(self.shape[d] if n is None else n)
    x = self if n is None else _resized(self, [d], [n])
    return _c2c(x, [d], _norm(norm, forward), forward, out)


def _from_real_1d(
    self: Tensor,
    n: int | None,
    dim: int,
    norm: str | None,
    forward: bool,
    onesided: bool,
    out: Tensor | None,
) -> Tensor:
    _check_real(self)
    if out is not None and not out.dtype.is_complex:
        raise refused(f"expected out to be complex, got {out.dtype}")
    x = _promoted(self)
    d = rules.wrap_dim(dim, x.ndim, False)
    _check_count(x.shape[d] if n is None else n)
    if n is not None:
        x = _resized(x, [d], [n])
    mode = _norm(norm, forward)
    if forward:
        return _r2c(x, [d], mode, onesided, out)
    result = _aten._fft_r2c(x, [d], mode, onesided)
    if out is not None:
        return _aten.conj_physical.out(result, out=out)
    return _aten.conj(result)


def _to_real_1d(
    self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, out: Tensor | None
) -> Tensor:
    if out is not None and not out.dtype.is_floating_point:
        raise refused(f"expected out to be floating-point, got {out.dtype}")
    x = _promoted(self, True)
    d = rules.wrap_dim(dim, x.ndim, False)
    last = 2 * (x.shape[d] - 1) if n is None else n
    _check_count(last)
    if n is not None:
        x = _resized(x, [d], [n // 2 + 1])
    mode = _norm(norm, forward)
    if forward:
        x = _aten.conj(x)
    return _c2r(x, [d], mode, last, out)


def fft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform of real or complex input."""
    return _complex_1d(self, n, dim, norm, True, out)


def ifft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Its inverse."""
    return _complex_1d(self, n, dim, norm, False, out)


def rfft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The half of the transform of real input that tells all."""
    return _from_real_1d(self, n, dim, norm, True, True, out)


def irfft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfft`: `n` points, an even number unless it is given."""
    return _to_real_1d(self, n, dim, norm, False, out)


def hfft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform, which is real, of a half of Hermitian input."""
    return _to_real_1d(self, n, dim, norm, True, out)


def ihfft(
    self: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfft`."""
    return _from_real_1d(self, n, dim, norm, False, True, out)


# ---- several dimensions ------------------------------------------------------------------------


def _complex_nd(
    self: Tensor,
    s: _Ints | None,
    dim: _Ints | None,
    norm: str | None,
    forward: bool,
    out: Tensor | None,
) -> Tensor:
    shape, dims = _shape_and_dims(self, s, dim)
    x = _resized(_promoted(self, True), dims, shape)
    return _c2c(x, dims, _norm(norm, forward), forward, out)


def fftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform along several dimensions: all, or the last ones for which `s` has lengths."""
    return _complex_nd(self, s, dim, norm, True, out)


def ifftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Its inverse."""
    return _complex_nd(self, s, dim, norm, False, out)


def rfftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The half, along the last of the dimensions, of the transform of real input."""
    _check_real(self)
    shape, dims = _shape_and_dims(self, s, dim)
    _check_any(dims)
    x = _resized(_promoted(self), dims, shape)
    return _r2c(x, dims, _norm(norm, True), True, out)


def irfftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfftn`."""
    shape, dims, last = _real_shape_and_dims(self, s, dim)
    x = _resized(_promoted(self, True), dims, shape)
    return _c2r(x, dims, _norm(norm, False), last, out)


def hfftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform, which is real, of input that is Hermitian along the last dimension."""
    shape, dims, last = _real_shape_and_dims(self, s, dim)
    x = _resized(_promoted(self, True), dims, shape)
    mode = _norm(norm, True)
    if len(dims) > 1:
        x = _aten._fft_c2c(x, dims[:-1], mode, True)
    return _c2r(_aten.conj(x), dims[-1:], mode, last, out)


def ihfftn(
    self: Tensor,
    s: _Ints | None = None,
    dim: _Ints | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfftn`."""
    _check_real(self)
    shape, dims = _shape_and_dims(self, s, dim)
    _check_any(dims)
    x = _resized(_promoted(self), dims, shape)
    mode = _norm(norm, False)
    half = _aten._fft_r2c(x, dims[-1:], mode, True)
    if len(dims) == 1:
        return _aten.conj(half) if out is None else _aten.conj_physical.out(half, out=out)
    return _c2c(_aten.conj_physical(half), dims[:-1], mode, False, out)


# ---- two dimensions ----------------------------------------------------------------------------

_LAST_TWO = (-2, -1)


def _in_two(transform: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The transform along the last two dimensions."""

    def kernel(
        self: Tensor,
        s: _Ints | None = None,
        dim: _Ints = _LAST_TWO,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        return transform(self, s, dim, norm, out=out)

    kernel.__name__ = kernel.__qualname__ = transform.__name__[:-1] + "2"
    return kernel


fft2 = _in_two(fftn)
ifft2 = _in_two(ifftn)
rfft2 = _in_two(rfftn)
irfft2 = _in_two(irfftn)
hfft2 = _in_two(hfftn)
ihfft2 = _in_two(ihfftn)
