"""Modes that handle every dispatched call of a block (torch.utils._python_dispatch).

The class is compiled (`_C/mode`); the stack of modes belongs to the thread's state (`_C/tls`), and
the helpers here look at it.
"""

import contextlib
from collections.abc import Iterator

from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tls import (
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)

__all__ = [
    "TorchDispatchMode",
    "_disable_current_modes",
    "_get_current_dispatch_mode",
    "_get_current_dispatch_mode_stack",
    "_pop_mode_temporarily",
]


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode; None when there is none."""
    depth = _len_torch_dispatch_stack()
    return _get_dispatch_stack_at(depth - 1) if depth else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """All active modes, the innermost last."""
    return [_get_dispatch_stack_at(i) for i in range(_len_torch_dispatch_stack())]


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchDispatchMode]:
    """The innermost mode, off the stack for the block."""
    mode = _pop_torch_dispatch_stack()
    try:
        yield mode
    finally:
        _push_on_torch_dispatch_stack(mode)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """No mode is active in the block; the ones that were come back in their order."""
    modes = [_pop_torch_dispatch_stack() for _ in range(_len_torch_dispatch_stack())]
    try:
        yield modes
    finally:
        for mode in reversed(modes):
            _push_on_torch_dispatch_stack(mode)
