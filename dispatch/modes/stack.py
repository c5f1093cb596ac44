"""The stack of dispatch modes as programs see and change it (torch.utils._python_dispatch).

The class is compiled (`_C/mode`); the stack belongs to the thread's state (`_C/tls`), and that of
pre-dispatch modes to `_C/pre_dispatch`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from dispatch._C.guards import _DisableTorchDispatch
from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.keys import DispatchKey, _dispatch_key_for_device
from dispatch._C.mode import TorchDispatchMode, _entered_modes
from dispatch._C.pre_dispatch import (
    _get_dispatch_mode_pre_dispatch,
    _len_torch_dispatch_stack_pre_dispatch,
    _pop_mode_from_pre_dispatch,
    _set_mode_pre_dispatch,
    unset_mode_pre_dispatch,
)
from dispatch._C.tensor import Tensor
from dispatch._C.tls import (
    _get_dispatch_mode,
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
    _TorchDispatchModeKey,
    _unset_dispatch_mode,
)

__all__ = [
    "BaseTorchDispatchMode",
    "all_same_mode",
    "any_torch_dispatch_mode_on_stack",
    "autograd_would_have_decomposed",
    "is_in_any_mode_without_ignore_compile_internals",
    "is_in_torch_dispatch_mode",
    "no_dispatch",
]


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


# ---- looking


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode; None when there is none."""
    depth = _len_torch_dispatch_stack()
    return _get_dispatch_stack_at(depth - 1) if depth else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """All active modes, the innermost last."""
    return [_get_dispatch_stack_at(i) for i in range(_len_torch_dispatch_stack())]


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether the program is in the `with` block of a mode, of any thread; also while that mode
    handles a call."""
    entered, users, _ = _entered_modes()
    return (entered if include_infra_modes else users) > 0


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Whether the program is in the block of a mode that sees compiled regions too."""
    return _entered_modes()[2] > 0


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """In its block neither modes nor handlers see a call (torch.utils._mode_utils.no_dispatch)."""
    with _DisableTorchDispatch():
        yield


def any_torch_dispatch_mode_on_stack() -> bool:
    """Whether this thread's stack has a mode that is neither an infra mode nor one that leaves
    compiled regions alone."""
    return any(
        not mode.is_infra_mode() and not mode.ignore_compile_internals()
        for mode in _get_current_dispatch_mode_stack()
    )


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Whether the modes are one and the same."""
    return all(mode == modes[0] for mode in modes)


# ---- pushing and popping


def _push_mode(mode: Any) -> None:
    """Push a mode on its stack: that of its dispatch key, else the thread's."""
    key = getattr(mode, "_dispatch_key", None)
    if key is None:
        _push_on_torch_dispatch_stack(mode)
        return
    if key != DispatchKey.PreDispatch:
        raise AssertionError(f"a mode's _dispatch_key is None or PreDispatch, got {key}")
    _set_mode_pre_dispatch(mode)


def _pop_mode(k: Any = None) -> Any:
    """Pop the innermost mode, that of an infra key, or (PreDispatch) a pre-dispatch mode."""
    if k is None or isinstance(k, _TorchDispatchModeKey):
        return _pop_torch_dispatch_stack(k)
    return _pop_mode_from_pre_dispatch() if k == DispatchKey.PreDispatch else None


@contextlib.contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    """The innermost mode, off the stack for the block."""
    mode = _pop_mode(k)
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """No mode is active in the block, not before autograd either; what was comes back in order.

    Yields the modes, innermost first, the pre-dispatch ones before the others.
    """
    n_early = _len_torch_dispatch_stack_pre_dispatch()
    early = [_pop_mode(DispatchKey.PreDispatch) for _ in range(n_early)]
    modes = [_pop_mode() for _ in range(_len_torch_dispatch_stack())]
    try:
        yield early + modes
    finally:
        for mode in reversed(early + modes):
            _push_mode(mode)


# ---- infra modes


def _check_either(key: Any) -> None:
    if key not in (_TorchDispatchModeKey.FUNCTIONAL, _TorchDispatchModeKey.PROXY):
        raise AssertionError(f"expected the key FUNCTIONAL or PROXY, got {key}")


def _both_infra_modes(key: Any) -> tuple[Any, Any]:
    """(the pre-dispatch mode, the mode of the thread's stack) of an infra key."""
    early, late = _get_dispatch_mode_pre_dispatch(key), _get_dispatch_mode(key)
    if early is not None and late is not None:
        raise AssertionError(f"a mode of {key} is active before and after dispatch at once")
    return early, late


def _detect_infra_mode(key: Any) -> Any:
    """The active functional or proxy mode, wherever it stands; None when there is none."""
    _check_either(key)
    early, late = _both_infra_modes(key)
    return late if early is None else early


def _unset_infra_mode(key: Any) -> Any:
    """Take the active mode of the key off and return it; None when there is none."""
    early, late = _both_infra_modes(key)
    if early is not None:
        return unset_mode_pre_dispatch(key)
    return None if late is None else _unset_dispatch_mode(key)


def _disable_infra_mode(key: Any) -> Iterator[Any]:
    """A generator, for `contextlib.contextmanager`: that mode is off meanwhile."""
    _check_either(key)
    mode = _unset_infra_mode(key)
    try:
        yield mode
    finally:
        _push_mode(mode)  # None does nothing


def autograd_would_have_decomposed(func: Any, flat_args: Sequence[Any]) -> bool:
    """Whether autograd would use the composite kernel of `func`: there is no kernel for the
    backend of the first tensor."""
    for value in flat_args:
        if isinstance(value, Tensor):
            key = _dispatch_key_for_device(value.device.type)
            return not _dispatch_has_kernel_for_dispatch_key(func.name(), key)
    return True
