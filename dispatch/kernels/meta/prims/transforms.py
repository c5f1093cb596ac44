"""Shapes of the `prims` of Fourier transforms, of singular values and of exponents.

Called by the Meta kernels, and by the composite kernels for the checks. A transform is contiguous
here, whatever memory order the library behind it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.prims.elementwise import real_of

__all__ = ["fft_c2c", "fft_c2r", "fft_r2c", "frexp", "svd"]

Ints = Sequence[int]

_COMPLEX = {
    dtypes.float16: dtypes.complex32,
    dtypes.bfloat16: dtypes.complex64,
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
}
_SOLVED = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _dims(self: Tensor, dim: Ints) -> list[int]:
    found = list(rules.wrap_dims(dim, self.ndim))
    if len(set(found)) != len(found):
        raise refused(f"a dimension is given more than once in {list(dim)}")
    return found


def fft_r2c(self: Tensor, dim: Ints, onesided: bool) -> TensorSpec:
    """Complex; one-sided, the last of `dim` keeps its first half."""
    dims = _dims(self, dim)
    sizes = list(self.shape)
    if onesided:
        sizes[dims[-1]] = sizes[dims[-1]] // 2 + 1
    if self.dtype not in _COMPLEX:
        raise refused(f"expected a real floating dtype, got {self.dtype}", KeyError)
    return TensorSpec(sizes, _COMPLEX[self.dtype])


def fft_c2c(self: Tensor, dim: Ints, forward: bool) -> TensorSpec:
    """As self."""
    _dims(self, dim)
    return TensorSpec(self.shape, self.dtype)


def fft_c2r(self: Tensor, dim: Ints, last_dim_size: int) -> TensorSpec:
    """Real; the last of `dim` has the length that is asked for."""
    dims = _dims(self, dim)
    sizes = list(self.shape)
    sizes[dims[-1]] = last_dim_size
    if not self.dtype.is_complex:
        raise refused(f"expected a complex dtype, got {self.dtype}", KeyError)
    return TensorSpec(sizes, real_of(self.dtype))


def _columns(sizes: Ints) -> list[int]:
    strides = list(rules.contiguous_strides(sizes))
    strides[-2:] = [1, rules.larger(sizes[-2], 1)]
    return strides


def svd(A: Tensor, full_matrices: bool) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """Matrices column by column, as LAPACK leaves them, and real singular values."""
    if A.ndim < 2:
        raise refused(f"expected A to be matrices, got shape {list(A.shape)}")
    if A.dtype not in _SOLVED:
        raise refused(f"expected a floating or complex dtype of 32 bits or more, got {A.dtype}")
    *batch, rows, columns = A.shape
    least = rules.smaller(rows, columns)
    left = [*batch, rows, rows if full_matrices else least]
    right = [*batch, columns if full_matrices else least, columns]
    return (
        TensorSpec(left, A.dtype, _columns(left)),
        TensorSpec([*batch, least], real_of(A.dtype)),
        TensorSpec(right, A.dtype, _columns(right)),
    )


def frexp(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    """The fraction, and the exponent as an int32."""
    if not self.dtype.is_floating_point:
        raise refused(f"expected a floating-point dtype, got {self.dtype}")
    strides = rules.dense_like_strides(self)
    return TensorSpec(self.shape, self.dtype, strides), TensorSpec(
        self.shape, dtypes.int32, strides
    )
