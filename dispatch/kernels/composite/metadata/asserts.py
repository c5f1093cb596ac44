"""Asserts and ranges of sizes, as exported programs state them; and printing.

CompositeExplicitAutograd, but for those that read a tensor's value, which Meta tensors do not have.
The functional ones pass a token through, so that a graph keeps their order.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_assert_async",
    "_assert_async_msg",
    "_assert_scalar",
    "_functional_assert_async",
    "_functional_assert_scalar",
    "_functional_sym_constrain_range",
    "_functional_sym_constrain_range_for_size",
    "_print",
    "assume_async",
    "assume_async_msg",
    "assume_functional",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "sym_constrain_range_of",
    "sym_constrain_size_of",
]

_aten = ops.aten
_LAST = 2**63 - 1


# ---- asserts -----------------------------------------------------------------------------------


def _assert_async(self: Tensor) -> None:
    """RuntimeError if the one value is 0."""
    _assert_async_msg(self, "Expected Tensor with single nonzero value, but got zero")


def _assert_async_msg(self: Tensor, assert_msg: str) -> None:
    """The same with a text of the caller's."""
    if not _aten.is_nonzero(self):
        raise refused(assert_msg)


def _functional_assert_async(self: Tensor, assert_msg: str, dep_token: Tensor) -> Tensor:
    _assert_async_msg(self, assert_msg)
    return _aten.clone(dep_token)


def assume_async(self: Tensor) -> None:
    """The Meta kernels: there is no value to look at."""


def assume_async_msg(self: Tensor, assert_msg: str) -> None:
    pass


def assume_functional(self: Tensor, assert_msg: str, dep_token: Tensor) -> Tensor:
    return dep_token


def _assert_scalar(self: Any, assert_msg: str) -> None:
    """RuntimeError if a number is 0."""
    if not isinstance(self, int | float | complex):
        from dispatch.symbolic import expect_true

        holds = expect_true(self)
    else:
        holds = bool(self)
    if not holds:
        raise refused(assert_msg)


def _functional_assert_scalar(self: Any, assert_msg: str, dep_token: Tensor) -> Tensor:
    _assert_scalar(self, assert_msg)
    return _aten.clone(dep_token)


# ---- ranges ------------------------------------------------------------------------------------


def _check_range(size: Any, least: int, most: int, *, of_size: bool = False) -> None:
    if most < least:
        raise refused(f"max {most} is less than min {least}")
    if not isinstance(size, int | float):
        from dispatch.symbolic import SymInt, _constrain_range_for_size, constrain_range

        if isinstance(size, SymInt):
            constrain = _constrain_range_for_size if of_size else constrain_range
            constrain(size, min=least, max=most)
            return
    if not least <= int(size) <= most:
        raise refused(f"{size} is not in the range [{least}, {most}]")


def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """RuntimeError unless a number lies in a range."""
    _check_range(size, -_LAST - 1 if min is None else min, _LAST if max is None else max)


def sym_constrain_range_for_size(
    size: Any, *, min: int | None = None, max: int | None = None
) -> None:
    """The same for a size, which is 0 at least and may be larger than 2."""
    if max is not None and max <= 2:
        raise refused(f"max of a size must be greater than 2, got {max}")
    _check_range(size, 0 if min is None else min, _LAST if max is None else max, of_size=True)


def _functional_sym_constrain_range(
    size: Any, min: int | None, max: int | None, dep_token: Tensor
) -> Tensor:
    _aten.sym_constrain_range(size, min=min, max=max)
    return _aten.clone(dep_token)


def _functional_sym_constrain_range_for_size(
    size: Any, min: int | None, max: int | None, dep_token: Tensor
) -> Tensor:
    _aten.sym_constrain_range_for_size(size, min=min, max=max)
    return _aten.clone(dep_token)


def sym_constrain_range_of(
    size: Any, min: int | None, max: int | None, dep_token: Tensor
) -> Tensor:
    """On meta the token goes on itself."""
    _aten.sym_constrain_range(size, min=min, max=max)
    return dep_token


def sym_constrain_size_of(
    size: Any, min: int | None, max: int | None, dep_token: Tensor
) -> Tensor:
    _aten.sym_constrain_range_for_size(size, min=min, max=max)
    return dep_token


def _print(s: str) -> None:
    """A line on standard output."""
    print(s)
