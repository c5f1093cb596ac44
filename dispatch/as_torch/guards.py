"""`torch._guards`: which fake mode a program runs under.

There is no compiler here, so no tracing context: the fake mode is that of the inputs, else the
innermost active one.
"""

from typing import Any

from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.modes import _get_current_dispatch_mode_stack
from dispatch.pytree import tree_leaves

__all__ = ["active_fake_mode", "detect_fake_mode"]


def active_fake_mode() -> FakeTensorMode | None:
    """The innermost fake mode that is active; None without one."""
    modes = reversed(_get_current_dispatch_mode_stack())
    return next((mode for mode in modes if isinstance(mode, FakeTensorMode)), None)


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """The one fake mode of active modes and of the fake tensors in `inputs`; None without any.

    AssertionError when there are several.
    """
    found: list[FakeTensorMode] = [
        mode
        for mode in reversed(_get_current_dispatch_mode_stack())
        if isinstance(mode, FakeTensorMode)
    ]
    found += [leaf.fake_mode for leaf in tree_leaves(inputs) if isinstance(leaf, FakeTensor)]
    if any(mode is not found[0] for mode in found):
        raise AssertionError(f"detect_fake_mode: expected one fake mode, got {found}")
    return found[0] if found else None
