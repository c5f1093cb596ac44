"""Operators that are others by another name or in another form, written in Python."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import get_default_dtype
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.tensor.arrays import wrapped_number

__all__ = [
    "absolute", "allclose", "broadcast_tensors", "broadcast_to", "concat", "equal", "isclose",
    "movedim", "movedim_int", "multiply", "negative", "ravel", "remainder_scalar_tensor",
    "subtract", "swapaxes", "tile",
]  # fmt: skip

_aten = ops.aten


def absolute(self: Any) -> Any:
    """`abs`."""
    return _aten.abs.default(self)


def concat(tensors: list[Any], dim: int = 0) -> Any:
    """`cat`."""
    return _aten.cat.default(tensors, dim)


def multiply(self: Any, other: Any) -> Any:
    """`mul`."""
    return _aten.mul.Tensor(self, other)


def negative(self: Any) -> Any:
    """`neg`."""
    return _aten.neg.default(self)


def subtract(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`sub`."""
    return _aten.sub.Tensor(self, other, alpha=alpha)


def remainder_scalar_tensor(self: Any, other: Any) -> Any:
    """`self % other`: the number is a tensor of no dimension that does not decide the dtype."""
    return _aten.remainder.Tensor(wrapped_number(self), other)


# ---- comparisons of whole tensors


def equal(self: Any, other: Any) -> bool:
    """Whether sizes and all values are the same. RuntimeError for different dtypes,
    NotImplementedError on meta, where there are no values."""
    if self.device.type == "meta":
        raise NotImplementedError("aten::equal: no kernel for Meta: there are no values to compare")
    if self.dtype != other.dtype:
        raise RuntimeError(f"aten::equal: expected one dtype, got {self.dtype} and {other.dtype}")
    if self.shape != other.shape:
        return False
    return bool(_aten.all.default(_aten.eq.Tensor(self, other)).item())


def isclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Element by element: |self - other| <= atol + rtol * |other|, or equal."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"aten::isclose: expected one dtype, got {self.dtype} and {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"aten::isclose: rtol {rtol} and atol {atol} must not be negative")
    close = _aten.eq.Tensor(self, other)
    whole = not (self.dtype.is_floating_point or self.dtype.is_complex)
    if equal_nan and not whole:
        both = _aten.bitwise_and_.Tensor(_aten.ne.Tensor(self, self), _aten.ne.Tensor(other, other))
        close = _aten.bitwise_or_.Tensor(close, both)
    if rtol == 0 and atol == 0:
        return close
    if whole:
        self, other = (_aten.to.dtype(t, get_default_dtype()) for t in (self, other))
    scaled = _aten.abs.default(_aten.mul.Scalar(other, rtol))
    allowed = _aten.add.Scalar(scaled, atol)
    error = _aten.abs.default(_aten.sub.Tensor(self, other))
    finite = _aten.isfinite.default(error)
    within = _aten.bitwise_and_.Tensor(finite, _aten.le.Tensor(error, allowed))
    return _aten.bitwise_or_.Tensor(close, within)


def allclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close."""
    close = _aten.isclose.default(self, other, rtol, atol, equal_nan)
    return bool(_aten.all.default(close).item())


# ---- views


def broadcast_to(self: Any, size: list[int]) -> Any:
    """`expand`."""
    return _aten.expand.default(self, size)


def broadcast_tensors(tensors: list[Any]) -> list[Any]:
    """All tensors expanded to the shape that they broadcast to."""
    size: list[int] = []
    for t in tensors:
        size = list(rules.broadcast_shapes(size, list(t.shape)))
    return [t if list(t.shape) == size else _aten.expand.default(t, size) for t in tensors]


def movedim(self: Any, source: list[int], destination: list[int]) -> Any:
    """Dimensions `source` at the places `destination`, the others in order in what is left."""
    n = self.dim()
    if len(source) != len(destination):
        raise RuntimeError(f"aten::movedim: {source} and {destination} differ in length")
    sources = [_wrapped(d, n) for d in source]
    places = [_wrapped(d, n) for d in destination]
    if len(set(sources)) != len(sources) or len(set(places)) != len(places):
        raise RuntimeError(f"aten::movedim: a dimension is repeated in {source} or {destination}")
    rest = iter([d for d in range(n) if d not in sources])
    order = [sources[places.index(d)] if d in places else next(rest) for d in range(n)]
    return _aten.permute.default(self, order)


def _wrapped(dim: int, n: int) -> int:
    limit = max(n, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"dimension {dim} is out of range for a tensor of {n} dimensions")
    return dim % limit


def movedim_int(self: Any, source: int, destination: int) -> Any:
    """`movedim` of one dimension."""
    return movedim(self, [source], [destination])


def ravel(self: Any) -> Any:
    """All elements in one dimension."""
    return _aten.view.default(_aten.contiguous.default(self), [-1])


def swapaxes(self: Any, axis0: int, axis1: int) -> Any:
    """`transpose`."""
    return _aten.transpose.int(self, axis0, axis1)


def tile(self: Any, dims: list[int]) -> Any:
    """`repeat`, with ones for dimensions that are not named."""
    return _aten.repeat.default(self, [1] * (self.dim() - len(dims)) + dims)
