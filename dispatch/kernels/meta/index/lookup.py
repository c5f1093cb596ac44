"""Shape functions of reading and writing by index. On every device."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.advice import advise_once
from dispatch._C.errors import refused, scalar_type
from dispatch._C.placement import check_kept, check_together
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "check_fill",
    "check_put",
    "index_copy",
    "index_fill_scalar",
    "index_fill_tensor",
    "index_reduce",
    "put_",
    "take",
]

_INDEX = (dtypes.int64, dtypes.int32)


# ---- elements counted as in one dimension ------------------------------------------------------


def _check_long(index: Tensor) -> None:
    if index.dtype is not dtypes.int64:
        raise refused(f"Expected a long tensor for index, but got {scalar_type(index.dtype)}")


def _check_some(self: Tensor, index: Tensor) -> None:
    if self.numel() == 0 and index.numel():
        raise refused(
            f"tried to take from an empty tensor, index has {index.numel()} elements", IndexError
        )


def _check_same(self: Tensor, source: Tensor) -> None:
    if source.dtype is not self.dtype:
        raise refused(
            f"self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_type(self.dtype)} and source.dtype = {scalar_type(source.dtype)}"
        )


def _check_vector(index: Tensor) -> None:
    if index.ndim > 1:
        raise refused(f"Index should have dimension 1 or 0 (got {index.ndim})", IndexError)


def take(self: Tensor, index: Tensor) -> TensorSpec:
    """The index's sizes."""
    _check_long(index)
    _check_some(self, index)
    return TensorSpec(index.shape, self.dtype, overlap="none" if rules.is_eager(self) else None)


def check_put(self: Tensor, index: Tensor, source: Tensor) -> None:
    """What `put_` refuses on every device."""
    _check_long(index)
    _check_same(self, source)
    if rules.is_eager(self) and index.numel() != source.numel():
        raise refused(
            "Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}",
            IndexError,
        )
    _check_some(self, index)


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """The Meta kernel."""
    check_put(self, index, source)
    check_kept(self)
    return self


# ---- slices along a dimension ------------------------------------------------------------------


def _like(self: Tensor, copied: bool = False) -> TensorSpec:
    """Contiguous, however self is laid out."""
    return TensorSpec(self.shape, self.dtype, overlap="self", copied=copied)


def _surely_differ(sizes: list[Any], others: list[Any], but: int = -1) -> bool:
    """PyTorch's Meta kernel does not look at sizes, so that expressions are not asked."""
    pairs = enumerate(zip(sizes, others, strict=True))
    return any(d != but and type(a) is type(b) is int and a != b for d, (a, b) in pairs)


def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Shaped:
    """self's sizes; `dim` is handed over wrapped."""
    dim = rules.wrap_dim(dim, self.ndim)
    _check_vector(index)
    if source.ndim == 0 and index.numel() != 1:
        raise refused(f"{index.numel()} indices for one number", IndexError)
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise refused(
            "expected as many dimensions in source as in self, got "
            f"{list(source.shape)} and {list(self.shape)}",
            IndexError,
        )
    _check_long(index)
    _check_same(self, source)
    mine, theirs = list(self.shape), list(source.shape)
    if mine:
        del mine[dim]
    if theirs:
        del theirs[dim]
    if mine != theirs:
        raise refused(
            f"source of shape {list(source.shape)} does not fit self of shape "
            f"{list(self.shape)} beside dimension {dim}"
        )
    if source.ndim and index.numel() != source.shape[dim]:
        raise refused(
            f"Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source.shape[dim]})",
            IndexError if rules.is_eager(self) else RuntimeError,
        )
    return Shaped(_like(self, copied=True), dim)


def check_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> int:
    """What `index_fill_` refuses on every device -> the wrapped dimension."""
    if index.dtype is not dtypes.int64 and rules.is_eager(self):
        raise refused(f"Expected dtype int64 for index, got {index.dtype}", IndexError)
    if isinstance(value, Tensor) and value.ndim:
        raise refused(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if isinstance(value, complex) and not self.dtype.is_complex:
        raise refused("a complex value needs a complex tensor")
    dim = rules.wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise refused(f"expected an index of at most one dimension, got {list(index.shape)}")
    return dim


def index_fill_scalar(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """The Meta kernel."""
    check_fill(self, dim, index, value)
    check_together(self=self, index=index)
    return self


def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """The same."""
    check_fill(self, dim, index, value)
    check_together(self=self, index=index, value=value)
    return self


def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool
) -> Shaped:
    """self's sizes; `dim` is handed over wrapped."""
    if rules.is_eager(self):
        advise_once("index_reduce", "it may change")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise refused(f"Expected reduce to be one of mean, amax, amin, or prod but got {reduce}")
    if index.dtype not in _INDEX:
        raise refused(f"expected an index of dtype int32 or int64, got {index.dtype}")
    dim = rules.wrap_dim(dim, self.ndim)
    _check_vector(index)
    _check_same(self, source)
    mine, theirs = list(self.shape), list(source.shape)
    wanted = [*mine[:dim], index.numel(), *mine[dim + 1 :]] if mine else []
    if len(mine) != len(theirs) or _surely_differ(wanted, theirs, but=dim):
        raise refused(
            f"source of shape {theirs} does not fit self of shape {mine} beside dimension {dim}"
        )
    if _surely_differ([index.numel()], theirs[dim : dim + 1] or [1]):
        raise refused(f"{index.numel()} indices for source of shape {theirs}")
    return Shaped(_like(self), dim)
