"""Blocks that switch a fake mode, or a part of it, and back (torch._subclasses.fake_tensor)."""

import contextlib
from collections.abc import Iterator
from typing import Any

from dispatch._C.guards import _DisableTorchDispatch, _PreserveDispatchKeyGuard
from dispatch._C.tls import (
    _meta_in_tls_dispatch_include,
    _set_dispatch_mode,
    _set_meta_in_tls_dispatch_include,
    _TorchDispatchModeKey,
    _unset_dispatch_mode,
)

__all__ = [
    "IncrementRecursionCount",
    "disable_fake_tensor_cache",
    "in_kernel_invocation_manager",
    "recursion_count",
    "unset_fake_temporarily",
]

_recursion = [0]


class IncrementRecursionCount:
    """Counts one level deeper as long as it lives: `dispatch.fake.RECURSION_COUNT`."""

    def __init__(self) -> None:
        _recursion[0] += 1

    def __del__(self) -> None:
        _recursion[0] -= 1


def recursion_count() -> int:
    """How many `IncrementRecursionCount` objects live."""
    return _recursion[0]


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[Any]:
    """No fake mode in the block; gives the one that was active, or None."""
    previous = _unset_dispatch_mode(_TorchDispatchModeKey.FAKE)
    try:
        yield previous
    finally:
        if previous is not None:
            _set_dispatch_mode(previous)


@contextlib.contextmanager
def disable_fake_tensor_cache(fake_mode: Any) -> Iterator[None]:
    """In the block every call of the mode runs afresh."""
    enabled = fake_mode.cache_enabled
    fake_mode.cache_enabled = False
    try:
        yield
    finally:
        fake_mode.cache_enabled = enabled


@contextlib.contextmanager
def in_kernel_invocation_manager(fake_mode: Any) -> Iterator[None]:
    """In the block fake tensors say that they are on meta, and operators run their Meta kernels.

    Raises: AssertionError when the mode and the thread's state disagree about that.
    """
    previous = fake_mode.in_kernel_invocation
    if _meta_in_tls_dispatch_include() != previous:
        raise AssertionError("the mode is in a kernel, the thread is not")
    with _DisableTorchDispatch(), _PreserveDispatchKeyGuard():
        _set_meta_in_tls_dispatch_include(True)
        fake_mode.in_kernel_invocation = True
        try:
            yield
        finally:
            fake_mode.in_kernel_invocation = previous
            _set_meta_in_tls_dispatch_include(previous)
