"""Operators that PyTorch's own tests call: defaults, lists, views, copies."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

_aten = ops.aten


def _same(self: Tensor, *_: Any, **__: Any) -> Tensor:
    return self


def _copied(self: Tensor, *_: Any) -> Tensor:
    return _aten.clone(self)


foobar = test_parallel_materialize = _same
test_autograd_multiple_dispatch_fullcoverage = test_autograd_multiple_dispatch_ntonly = _copied
test_functorch_fallback = test_warn_in_autograd = _copied


def test_autograd_multiple_dispatch_view(self: Tensor) -> Tensor:
    """self as a vector."""
    return _aten.view(self, [-1])


def test_autograd_multiple_dispatch_view_copy(self: Tensor) -> Tensor:
    """self as a vector, in memory of its own."""
    return _aten.clone(_aten._test_autograd_multiple_dispatch_view(self))


def test_check_tensor(self: Tensor) -> Tensor:
    """A copy of what is true everywhere."""
    if self.dtype is not dtypes.bool:
        raise refused(f"expected self to be bool, got {self.dtype}")
    if not _aten.item(_aten.all(self)):
        raise refused("Test message for TORCH_CHECK_TENSOR_ALL: an element of self is not true")
    return _aten.clone(self)


def test_serialization_subcmul(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    """self - alpha * other."""
    return _aten.sub.Tensor(self, other, alpha=alpha)


def test_string_default(dummy: Tensor, a: str = "\"'\\", b: str = "\"'\\") -> Tensor:
    """`dummy`, if both strings are the default."""
    for name, text in (("A", a), ("B", b)):
        if text != "\"'\\":
            raise refused(f"expected the default of {name}, got {text!r}")
    return dummy


def test_ambiguous_defaults_a(dummy: Tensor, a: int = 1, b: int = 1) -> Tensor:
    """1, if both numbers are the default."""
    if (a, b) != (1, 1):
        raise refused(f"expected the defaults, got {a} and {b}")
    return _aten.scalar_tensor(1, dtype=dtypes.int64)


def test_ambiguous_defaults_b(dummy: Tensor, a: int = 2, b: str = "2") -> Tensor:
    """2, if both are the default."""
    if (a, b) != (2, "2"):
        raise refused(f"expected the defaults, got {a} and {b!r}")
    return _aten.scalar_tensor(2, dtype=dtypes.int64)
