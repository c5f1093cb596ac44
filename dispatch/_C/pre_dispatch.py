"""The stack of modes at the key PreDispatch, above autograd and decompositions (torch._ops).

It has two places, for a proxy mode and for a functional one, and a third for a schema check mode,
which is used alone. PreDispatch is in the thread's include set exactly while some place is taken;
the modes are asked only while the Python dispatcher is on (`OpOverload._get_dispatch`).
"""

from _thread import _local
from typing import Any

from dispatch._C.keys import DispatchKey
from dispatch._C.tls import _dispatch_tls_set_dispatch_key_included, _TorchDispatchModeKey

__all__ = [
    "_ModeStackStateForPreDispatch",
    "_get_current_dispatch_mode_pre_dispatch",
    "_get_dispatch_mode_pre_dispatch",
    "_len_torch_dispatch_stack_pre_dispatch",
    "_mode_stack_state_for_pre_dispatch",
    "_pop_mode_from_pre_dispatch",
    "_set_mode_pre_dispatch",
    "mode_stack_state_for_pre_dispatch",
    "register_pre_dispatch_mode",
    "unset_mode_pre_dispatch",
]

_PROXY, _FUNCTIONAL = 0, 1
_PLACES = {_TorchDispatchModeKey.PROXY: _PROXY, _TorchDispatchModeKey.FUNCTIONAL: _FUNCTIONAL}


class _ModeStackStateForPreDispatch(_local):
    """The places of a thread's stack: 0 is the proxy mode's, 1 the functional one's."""

    def __init__(self) -> None:
        self._infra_modes: list[Any] = [None, None]
        self._schema_check_mode: Any = None

    def _check(self, index: int) -> None:
        if index >= len(self._infra_modes):
            raise AssertionError(f"there are {len(self._infra_modes)} places, and no place {index}")

    def set(self, index: int, mode: Any) -> None:
        """Put a mode, or None, at a place; AssertionError for a place that there is not."""
        self._check(index)
        self._infra_modes[index] = mode

    def get(self, index: int) -> Any:
        """The mode at a place, or None; AssertionError for a place that there is not."""
        self._check(index)
        return self._infra_modes[index]

    def count(self) -> int:
        """How many modes are set."""
        taken = [mode for mode in self._infra_modes if mode is not None]
        return len(taken) + (self._schema_check_mode is not None)


_mode_stack_state_for_pre_dispatch = _ModeStackStateForPreDispatch()
_state = _mode_stack_state_for_pre_dispatch

# Where a mode of a class belongs: None is the place of a mode that is used alone.
_places_by_class: dict[type, int | None] = {}


def register_pre_dispatch_mode(cls: type, place: int | None) -> None:
    """Let modes of a class onto the stack: at 0 (proxy), 1 (functional), or alone (None)."""
    _places_by_class[cls] = place


def _place_of(mode: Any) -> int | None:
    for cls, place in _places_by_class.items():
        if isinstance(mode, cls):
            return place
    raise AssertionError(
        f"a pre-dispatch mode is functional, proxy or a schema check, not {mode!r}"
    )


def mode_stack_state_for_pre_dispatch() -> _ModeStackStateForPreDispatch:
    """The places of the stack."""
    return _state


def _len_torch_dispatch_stack_pre_dispatch() -> int:
    """How many modes are on the stack."""
    return _state.count()


def _set_mode_pre_dispatch(mode: Any) -> None:
    """Put a mode at the place of its class.

    Raises:
        AssertionError: the place is taken, the class has none, or a mode that is used alone meets
            others.
    """
    before = _state.count()
    place = _place_of(mode)
    if place is None:
        if before:
            raise AssertionError("a schema check mode is used alone; the stack has other modes")
        _state._schema_check_mode = mode
    elif _state.get(place) is not None:
        raise AssertionError(f"the place of {mode!r} is taken by {_state.get(place)!r}")
    else:
        _state.set(place, mode)
    if before == 0:
        _dispatch_tls_set_dispatch_key_included(DispatchKey.PreDispatch, True)


def unset_mode_pre_dispatch(mode_key: Any, schema_check: bool = False) -> Any:
    """Take the mode of an infra key (PROXY, FUNCTIONAL) off and return it; None when there is none.

    Args:
        mode_key: None for the mode that is used alone.
        schema_check: says the same; with a key it is an AssertionError, as is any other key.
    """
    if mode_key is not None and mode_key not in _PLACES:
        raise AssertionError(f"expected PROXY, FUNCTIONAL or None, got {mode_key}")
    if schema_check and mode_key is not None:
        raise AssertionError("schema_check goes without a mode key")
    if mode_key is None:
        mode, _state._schema_check_mode = _state._schema_check_mode, None
    else:
        mode = _state.get(_PLACES[mode_key])
        _state.set(_PLACES[mode_key], None)
    if _state.count() == 0:
        _dispatch_tls_set_dispatch_key_included(DispatchKey.PreDispatch, False)
    return mode


def _pop_mode_from_pre_dispatch() -> Any:
    """Take the mode off that is asked first; AssertionError when there is none."""
    if _state.count() == 0:
        raise AssertionError("there is no pre-dispatch mode to pop")
    if _state._schema_check_mode is not None:
        return unset_mode_pre_dispatch(None, schema_check=True)
    functional = _state.get(_FUNCTIONAL) is not None
    return unset_mode_pre_dispatch(
        _TorchDispatchModeKey.FUNCTIONAL if functional else _TorchDispatchModeKey.PROXY
    )


def _get_dispatch_mode_pre_dispatch(mode_key: Any) -> Any:
    """The mode of an infra key, or None; AssertionError for another key."""
    if mode_key not in _PLACES:
        raise AssertionError(f"expected PROXY or FUNCTIONAL, got {mode_key}")
    return _state.get(_PLACES[mode_key])


def _get_current_dispatch_mode_pre_dispatch() -> Any:
    """The mode that is asked first, or None."""
    if _state._schema_check_mode is not None:
        return _state._schema_check_mode
    functional = _state.get(_FUNCTIONAL)
    return _state.get(_PROXY) if functional is None else functional
