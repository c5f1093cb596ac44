"""Tensors without data for the tests of shape functions, and what is compared of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dispatch
from dispatch._C import arrays, tensor as core
from dispatch._C.storage import _new_storage
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.kernels.meta import rules
from dispatch.modes import TorchDispatchMode

__all__ = ["fake", "geometry", "meta", "traced"]


def meta(
    sizes: Sequence[int], strides: Sequence[int] | None = None, dtype: str = "float32"
) -> core.Tensor:
    """A meta tensor; strides None for contiguous."""
    steps = rules.contiguous_strides(sizes) if strides is None else strides
    storage = _new_storage(1 << 16, "meta")
    return arrays._new_strided(storage, getattr(dispatch, dtype), list(sizes), list(steps), 0)


def fake(
    mode: FakeTensorMode,
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    dtype: str = "float32",
    device: str = "cpu",
) -> FakeTensor:
    """A fake tensor of `mode`."""
    return FakeTensor(mode, meta(sizes, strides, dtype), dispatch.device(device))


def geometry(t: Any) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """dtype, sizes and strides."""
    return str(t.dtype).rpartition(".")[2], tuple(t.shape), tuple(t.stride())


class _Names(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func).removeprefix("aten."))
        return func(*args, **(kwargs or {}))


@contextmanager
def traced() -> Iterator[list[str]]:
    """The names of the operators that a mode sees meanwhile."""
    mode = _Names()
    with mode:
        yield mode.names
