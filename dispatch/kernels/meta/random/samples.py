"""Random numbers on Meta: the checks that need no values, and the geometry of new outputs.

The in-place kernels return self untouched. What PyTorch checks on the CPU only (probabilities,
bounds that a dtype cannot hold) is not checked here, as it is not for its fake tensors.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import bool as bool_dtype
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "bernoulli",
    "bernoulli_",
    "bernoulli_tensor_",
    "native_dropout",
    "normal_",
    "random_",
    "random_from_",
    "random_to_",
    "randperm_out",
    "uniform_",
]

_aten = ops.aten


def bernoulli(self: Any, generator: Any) -> TensorSpec:
    """Like self, but always contiguous; a real output may have any dtype."""
    cast = "any" if rules.is_eager(self) else "safe"
    return TensorSpec(self.shape, self.dtype, cast=cast, overlap="any")


def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """The output and its mask; where nothing is dropped the output is `input`, as in PyTorch."""
    mask = _aten.empty_like.default(input, dtype=bool_dtype)
    if train is False or p == 0:
        return input, mask
    if p != 1 and not input.dtype.is_floating_point:
        raise refused(f"expected a floating-point input, got {input.dtype}")
    return _aten.empty_like.default(input), mask


def normal_(self: Any, mean: float, std: float, *, generator: Any) -> Any:
    """Checks `std` and the dtype."""
    if not std >= 0:
        raise refused(f"std must not be negative, got {std}")
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise refused(f"expected a floating-point or complex self, got {self.dtype}")
    return self


def bernoulli_(self: Any, p: float, *, generator: Any) -> Any:
    """self."""
    return self


def bernoulli_tensor_(self: Any, p: Any, *, generator: Any) -> Any:
    """self."""
    return self


def uniform_(self: Any, from_: float, to: float, *, generator: Any) -> Any:
    """self."""
    return self


def random_(self: Any, *, generator: Any) -> Any:
    """self."""
    return self


def random_to_(self: Any, to: int, *, generator: Any) -> Any:
    """self."""
    return self


def random_from_(self: Any, from_: int, to: int | None, *, generator: Any) -> Any:
    """self."""
    return self


def randperm_out(n: int, *, out: Any) -> Any:
    """`out` with `n` elements, of whatever dtype."""
    if n < 0:
        raise refused(f"n must not be negative, got {n}")
    return _aten.resize_.default(out, [n])
