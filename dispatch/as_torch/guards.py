"""`torch._guards`: which fake mode a program runs under; `torch._constrain_as_size`.

There is no compiler here, so a tracing context is what a program says it is: it names a fake mode
for the block, and nothing else happens. Else the fake mode is that of the inputs, or the innermost
active one.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from dispatch import ops
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.modes import _get_current_dispatch_mode_stack
from dispatch.pytree import tree_leaves
from dispatch.symbolic import ShapeGuard, SLoc

__all__ = [
    "SLoc", "ShapeGuard", "TracingContext", "_constrain_as_size", "active_fake_mode",
    "detect_fake_mode", "tracing",
]  # fmt: skip


class TracingContext:
    """What is being traced, and with which fake mode."""

    def __init__(self, fake_mode: FakeTensorMode | None) -> None:
        self.fake_mode = fake_mode

    @staticmethod
    def try_get() -> "TracingContext | None":
        """The context of the innermost `tracing`; None outside."""
        return _context.get()

    @staticmethod
    def get() -> "TracingContext":
        """The context of the innermost `tracing`; RuntimeError outside."""
        context = _context.get()
        if context is None:
            raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
        return context


_context: ContextVar[TracingContext | None] = ContextVar("tracing", default=None)


@contextlib.contextmanager
def tracing(context: TracingContext | None) -> Iterator[TracingContext | None]:
    """`context` is what `TracingContext.get` gives in the block."""
    token = _context.set(context)
    try:
        yield context
    finally:
        _context.reset(token)


def active_fake_mode() -> FakeTensorMode | None:
    """The innermost fake mode that is active; None without one."""
    modes = reversed(_get_current_dispatch_mode_stack())
    return next((mode for mode in modes if isinstance(mode, FakeTensorMode)), None)


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """The one fake mode of active modes and of the fake tensors in `inputs`; None without any.

    AssertionError when there are several.
    """
    context = _context.get()
    found: list[FakeTensorMode] = []
    if context is not None and context.fake_mode is not None:
        found.append(context.fake_mode)
    found += [
        mode
        for mode in reversed(_get_current_dispatch_mode_stack())
        if isinstance(mode, FakeTensorMode)
    ]
    found += [leaf.fake_mode for leaf in tree_leaves(inputs) if isinstance(leaf, FakeTensor)]
    if any(mode is not found[0] for mode in found):
        raise AssertionError(f"detect_fake_mode: expected one fake mode, got {found}")
    return found[0] if found else None


def _constrain_as_size(symbol: Any, min: int | None = None, max: int | None = None) -> None:
    """From now on a number without a value is a size, between `min` and `max`."""
    ops.aten.sym_constrain_range_for_size(symbol, min=min, max=max)
