"""Norms of matrices, and what follows from singular values: condition, rank, pseudoinverse.

Called for tensors of all kinds. Tolerances are tensors of float64 unless the caller gives others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.linalg.outputs import check_castable, into
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import check_floating, check_matrix, check_square
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "cond",
    "matrix_norm",
    "matrix_norm_str",
    "matrix_rank_atol_rtol_float",
    "matrix_rank_atol_rtol_tensor",
    "matrix_rank_tol",
    "matrix_rank_tol_tensor",
    "norm",
    "norm_str",
    "pinv_atol_rtol_float",
    "pinv_atol_rtol_tensor",
    "pinv_atol_rtol_tensor_out",
    "pinv_rcond",
    "pinv_rcond_tensor",
    "pinverse",
]

_aten = ops.aten
_Ints = Sequence[int]

_EPSILON = {dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52}


# ---- norms -------------------------------------------------------------------------------------


def _two_dims(self: Tensor, dim: _Ints) -> list[int]:
    if len(dim) != 2:
        raise refused(f"linalg.matrix_norm: dim must be a 2-tuple. Got {list(dim)}")
    dims = [rules.wrap_dim(d, self.ndim) for d in dim]
    if dims[0] == dims[1]:
        raise refused(f"dims must be different. Got {list(dim)}")
    return dims


def _singular_values(self: Tensor, dims: list[int], kind: dtype | None) -> tuple[Tensor, list[int]]:
    """Singular values of the matrices along `dims`; where those dimensions were, if moved back."""
    if kind is not None and kind is not self.dtype:
        self = _aten._to_copy(self, dtype=kind)
    order = [d for d in range(self.ndim) if d not in dims] + dims
    back = sorted(range(self.ndim), key=lambda place: order[place])
    return _aten.linalg_svdvals(_aten.permute(self, order)), back


def _moved_back(result: Tensor, back: list[int], keepdim: bool) -> Tensor:
    """Dimensions of size 1 in the place of those reduced."""
    return _aten.permute(_aten.unsqueeze(result, -1), back) if keepdim else result


def _extreme(values: Tensor, ord: Any, dim: int, keepdim: bool) -> Tensor:
    """The largest, 0 if there is none, or for a negative order the smallest."""
    if ord < 0:
        return _aten.amin(values, [dim], keepdim)
    if values.shape[dim] == 0:
        return _aten.sum.dim_IntList(values, [dim], keepdim)
    return _aten.amax(values, [dim], keepdim)


def _check_normed(self: Tensor) -> None:
    if self.ndim < 2:
        raise refused(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got "
            f"{list(self.shape)}"
        )


def matrix_norm(
    self: Tensor,
    ord: Any,
    dim: _Ints = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The largest (negative: smallest) sum of a column or a row, or singular value."""
    _check_normed(self)
    order = abs(ord)
    check_floating("self", self, order != 2)
    if order not in (1, 2, math.inf):
        raise refused(f"Order {ord} not supported.")
    dims = _two_dims(self, dim)
    if order == 2:
        values, back = _singular_values(self, dims, dtype)
        result = _moved_back(_extreme(values, ord, -1, keepdim), back, keepdim)
    else:
        summed, kept = dims if order == 1 else dims[::-1]
        if not keepdim and summed < kept:
            kept -= 1
        sums = _aten.linalg_vector_norm(self, 1.0, [summed], keepdim, dtype=dtype)
        result = _extreme(sums, ord, kept, keepdim)
    return result if out is None else _exactly_into(out, result)


def matrix_norm_str(
    self: Tensor,
    ord: str = "fro",
    dim: _Ints = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The root of the sum of squares ("fro"), or the sum of the singular values ("nuc")."""
    if ord not in ("fro", "nuc"):
        raise refused(f"Order {ord} not supported.")
    _check_normed(self)
    check_floating("self", self, ord != "nuc")
    dims = _two_dims(self, dim)
    if ord == "fro":
        result = _aten.linalg_vector_norm(self, 2, dims, keepdim, dtype=dtype)
    else:
        values, back = _singular_values(self, dims, dtype)
        result = _moved_back(_aten.sum.dim_IntList(values, [-1], keepdim), back, keepdim)
    return result if out is None else _exactly_into(out, result)


def _exactly_into(out: Tensor, result: Tensor) -> Tensor:
    if out.dtype is not result.dtype:
        raise refused(f"expected out to be {result.dtype}, got {out.dtype}")
    return into(out, result)


def _check_norm_dims(self: Tensor, given: bool, dim: _Ints | None) -> None:
    if dim is not None:
        if len(dim) not in (1, 2):
            raise refused(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
            )
    elif given and self.ndim not in (1, 2):
        raise refused(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{self.ndim}D."
        )


def norm(
    self: Tensor,
    ord: Any = None,
    dim: _Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Of matrices if there are two dimensions and an order, of vectors otherwise."""
    _check_norm_dims(self, ord is not None, dim)
    if ord is not None and (self.ndim if dim is None else len(dim)) == 2:
        dims = [0, 1] if dim is None else dim
        result = _aten.linalg_matrix_norm(self, ord, dims, keepdim, dtype=dtype)
    else:
        order = 2.0 if ord is None else ord
        result = _aten.linalg_vector_norm(self, order, dim, keepdim, dtype=dtype)
    return result if out is None else _exactly_into(out, result)


def norm_str(
    self: Tensor,
    ord: str,
    dim: _Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Of matrices, by name."""
    _check_norm_dims(self, True, dim)
    dims = [0, 1] if dim is None else dim
    result = _aten.linalg_matrix_norm.str_ord(self, ord, dims, keepdim, dtype=dtype)
    return result if out is None else _exactly_into(out, result)


# ---- condition ---------------------------------------------------------------------------------


def _by_inverse(self: Tensor, p: Any) -> Tensor:
    """The norm times that of the inverse; infinite where there is none."""
    check_square("self", self)
    norms = _aten.linalg_matrix_norm
    of_norm = norms.str_ord if isinstance(p, str) else norms.default
    inverse, info = _aten.linalg_inv_ex(self)
    singular = _aten.gt.Scalar(_aten.unsqueeze_(_aten.unsqueeze_(info, -1), -1), 0)
    _aten.masked_fill_.Scalar(inverse, singular, math.inf)
    result = _aten.mul.Tensor(of_norm(self, p), of_norm(inverse, p))
    return _aten.nan_to_num_(result, math.inf, math.inf, -math.inf)


def _condition(self: Tensor, p: Any) -> Tensor:
    check_matrix("self", self)
    if p not in (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc"):
        raise refused(f"linalg.cond got an invalid norm type: {p}")
    if isinstance(p, str):
        check_square("self", self)
    if 0 in self.shape:
        sizes, kind = list(self.shape[:-2]), self.dtype.to_real()
        return _aten.zeros(sizes, dtype=kind, device=self.device)
    if p == "nuc":
        values = _aten.linalg_svdvals(self)
        inverse = _aten.sum.dim_IntList(_aten.reciprocal(values), [-1])
        return _aten.mul.Tensor(_aten.sum.dim_IntList(values, [-1]), inverse)
    if p not in (2, -2):
        return _by_inverse(self, p)
    values = _aten.linalg_svdvals(self)
    largest, smallest = (_aten.narrow(values, -1, start, 1) for start in (0, -1))
    first, second = (largest, smallest) if p == 2 else (smallest, largest)
    return _aten.squeeze.dim(_aten.div.Tensor(first, second), -1)


def cond(self: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """How much larger errors become in solving with these matrices."""
    if out is not None:
        check_castable(out, self.dtype.to_real())
    result = _condition(self, 2 if p is None else p)
    return result if out is None else into(out, result)


# ---- tolerances --------------------------------------------------------------------------------


def _full(self: Tensor, value: float) -> Tensor:
    return _aten.full([], value, dtype=dtypes.float64, layout=self.layout, device=self.device)


def _zero(self: Tensor) -> Tensor:
    return _aten.zeros([], dtype=dtypes.float64, layout=self.layout, device=self.device)


def _default_rtol(self: Tensor) -> float:
    larger = rules.larger(self.size(-2), self.size(-1))
    kind = self.dtype.to_real()
    if kind not in _EPSILON:
        raise refused(f"expected a floating-point or complex tensor of 32 bits or more, got {kind}")
    return _EPSILON[kind] * larger


def _check_real(name: str, t: Tensor) -> None:
    if t.dtype.is_complex:
        raise refused(f"{name} tensor of complex type is not supported, got {t.dtype}")


def _tolerances(self: Tensor, atol: float | None, rtol: float | None) -> tuple[Tensor, Tensor]:
    """By default no absolute one, and a relative one unless there is an absolute one."""
    if rtol is None:
        default = _default_rtol(self)
        rtol = 0.0 if atol is not None and atol > 0 else default
    return _full(self, atol or 0.0), _full(self, rtol)


def _tensor_tolerances(
    self: Tensor, atol: Tensor | None, rtol: Tensor | None
) -> tuple[Tensor, Tensor]:
    absolute = _zero(self) if atol is None else atol
    _check_real("atol", absolute)
    if rtol is None:
        rtol = _full(self, _default_rtol(self))
        if atol is not None:
            zero = _zero(self)
            rtol = _aten.where.self(_aten.gt.Scalar(atol, 0), zero, rtol)
    _check_real("rtol", rtol)
    return absolute, rtol


def _threshold(largest: Tensor, atol: Tensor, rtol: Tensor) -> Tensor:
    relative = _aten.mul.Tensor(_aten.unsqueeze(rtol, -1), largest)
    return _aten.maximum(_aten.unsqueeze(atol, -1), relative)


# ---- rank --------------------------------------------------------------------------------------


def _ranks(self: Tensor, out: Tensor | None) -> Tensor:
    """Where the ranks of self go."""
    check_matrix("self", self)
    sizes = list(self.shape[:-2])
    if out is None:
        return _aten.empty.memory_format(
            sizes, dtype=dtypes.int64, layout=self.layout, device=self.device
        )
    check_castable(out, dtypes.int64)
    check_placed(self, out)
    return resize_out(out, sizes)


def _rank(self: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool, out: Tensor) -> Tensor:
    if 0 in self.shape:
        return _aten.fill_.Scalar(out, 0)
    if hermitian:
        values = _aten.abs(_aten.linalg_eigvalsh(self))
        largest = _aten.amax(values, [-1], True)
    else:
        values = _aten.linalg_svdvals(self)
        largest = _aten.narrow(values, -1, 0, 1)
    counted = _aten.gt.Tensor(values, _threshold(largest, atol, rtol))
    if not rules.is_eager(self):  # PyTorch's has a result of its own where there are only sizes
        return _aten.sum.dim_IntList(counted, [-1])
    return _aten.sum.IntList_out(counted, [-1], out=out)


def matrix_rank_atol_rtol_float(
    self: Tensor,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are above atol and above rtol times the largest."""
    out = _ranks(self, out)
    return _rank(self, *_tolerances(self, atol, rtol), hermitian, out)


def matrix_rank_atol_rtol_tensor(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The same with tensors."""
    out = _ranks(input, out)
    return _rank(input, *_tensor_tolerances(input, atol, rtol), hermitian, out)


def matrix_rank_tol(
    self: Tensor, tol: float, hermitian: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """How many singular values are above `tol`."""
    found = _rank(self, _full(self, tol), _full(self, 0.0), hermitian, _ranks(self, out))
    return found if out is None else out


def matrix_rank_tol_tensor(
    input: Tensor, tol: Tensor, hermitian: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The same with a tensor."""
    _check_real("tol", tol)
    none = _aten.zeros([], dtype=tol.dtype, device=tol.device)
    found = _rank(input, tol, none, hermitian, _ranks(input, out))
    return found if out is None else out


# ---- pseudoinverse -----------------------------------------------------------------------------


def pinv_atol_rtol_tensor(
    self: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    """The inverse in the space of the singular values that are above the tolerances."""
    if self.ndim < 2:
        raise refused(f"expected a tensor with 2 or more dimensions, got {list(self.shape)}")
    check_floating("self", self)
    if self.dtype in REDUCED_FLOATING:
        raise refused(f"expected self to have at least 32 bits, got {self.dtype}")
    absolute, relative = _tensor_tolerances(self, atol, rtol)
    if 0 in self.shape:
        u, values, v = _aten.svd(self)
        scaled = _aten.mul.Tensor(v, _aten.unsqueeze(_aten.reciprocal(values), -2))
        return _aten.matmul(scaled, _aten.adjoint(u))
    if hermitian:
        values, u = _aten.linalg_eigh(self)
        v, sizes = u, _aten.abs(values)
        largest = _aten.amax(sizes, [-1], True)
    else:
        u, values, v = _aten.svd(self)
        sizes, largest = values, _aten.narrow(values, -1, 0, 1)
    counted = _aten.gt.Tensor(sizes, _threshold(largest, absolute, relative))
    zero = _aten.zeros([], dtype=values.dtype, device=values.device)
    inverse = _aten.where.self(counted, _aten.reciprocal(values), zero)
    if inverse.dtype is not self.dtype:
        inverse = _aten._to_copy(inverse, dtype=self.dtype)
    return _aten.matmul(_aten.mul.Tensor(v, _aten.unsqueeze(inverse, -2)), _aten.adjoint(u))


def pinv_atol_rtol_tensor_out(
    self: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
    out: Tensor,
) -> Tensor:
    """The same into `out`."""
    check_castable(out, self.dtype)
    made = _aten.linalg_pinv.atol_rtol_tensor(self, atol=atol, rtol=rtol, hermitian=hermitian)
    return into(out, made)


def _pinv(self: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool, out: Tensor | None) -> Tensor:
    if out is not None:
        check_castable(out, self.dtype)
    result = _aten.linalg_pinv.atol_rtol_tensor(self, atol=atol, rtol=rtol, hermitian=hermitian)
    return result if out is None else into(out, result)


def pinv_atol_rtol_float(
    self: Tensor,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The same with numbers."""
    return _pinv(self, *_tolerances(self, atol, rtol), hermitian, out)


def pinv_rcond(
    self: Tensor, rcond: float, hermitian: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """With a relative tolerance."""
    return _pinv(self, _full(self, 0.0), _full(self, rcond), hermitian, out)


def pinv_rcond_tensor(
    self: Tensor, rcond: Tensor, hermitian: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The same with a tensor."""
    return _pinv(self, _full(self, 0.0), rcond, hermitian, out)


def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """`linalg_pinv` by its older name."""
    return _aten.linalg_pinv(self, rcond)
