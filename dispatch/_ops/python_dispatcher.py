"""What the Python dispatcher runs at a key (torch._ops.OpOverload._get_dispatch).

`_C/python_dispatcher` asks `get_dispatch` for what is not in an overload's cache. Cached is what a
key resolves to, not what depends on the modes of the moment.
"""

from collections.abc import Callable
from typing import Any

from dispatch._C.arrays import _dispatch_keys
from dispatch._C.guards import _DisablePythonDispatcher, _EnablePythonDispatcher
from dispatch._C.keys import DispatchKey, _to_functionality_key
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.overload import OpOverload, _set_overload_hooks
from dispatch._C.pre_dispatch import (
    _len_torch_dispatch_stack_pre_dispatch,
    _pop_mode_from_pre_dispatch,
    _set_mode_pre_dispatch,
)
from dispatch._C.tensor import Tensor
from dispatch._C.tls import (
    _dispatch_tls_is_dispatch_key_excluded,
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
)
from dispatch._ops.resolution import decomposition, resolve_key
from dispatch._ops.script_objects import TorchBindOpOverload
from dispatch.modes.stack import _pop_mode_temporarily

__all__ = [
    "add_cached_op",
    "cached_ops",
    "current_mode",
    "enable_python_dispatcher",
    "get_cached_ops",
    "get_dispatch",
    "handle_dispatch_mode",
    "no_python_dispatcher",
    "reset_cached_ops",
]

# torch._dispatch.python's names of the guards
enable_python_dispatcher = _EnablePythonDispatcher
no_python_dispatcher = _DisablePythonDispatcher

# ---- overloads with something in their caches

cached_ops: set[OpOverload] = set()


def add_cached_op(op_overload: OpOverload) -> None:
    """Note that an overload has something in its `_dispatch_cache`."""
    cached_ops.add(op_overload)


def reset_cached_ops() -> None:
    """Forget which overloads have; their caches stay."""
    cached_ops.clear()


def get_cached_ops() -> set[OpOverload]:
    """The overloads that have."""
    return cached_ops


# ---- decisions


def current_mode() -> Any:
    """The innermost mode of the thread's stack, or None."""
    depth = _len_torch_dispatch_stack()
    return _get_dispatch_stack_at(depth - 1) if depth else None


def get_dispatch(op: Any, key: DispatchKey) -> Any:
    """What runs at `key`: a key whose registration is called, or a callable.

    Raises:
        AssertionError: the answer is in the cache.
        NotImplementedError: nothing serves the key.
    """
    if key in op._dispatch_cache:
        raise AssertionError(f"{op}: {key} is in the dispatch cache")
    if key == DispatchKey.Python:
        return _cache(op, key, _python_handler(op, key))
    if _to_functionality_key(key) == DispatchKey.PreDispatch and _pre_dispatch_is_on():
        return _pre_dispatch_handler(op)
    final = resolve_key(op, key)
    found = op.py_kernels.get(final, final)
    if found is final and _to_functionality_key(key) == DispatchKey.AutogradFunctionality:
        found = decomposition(op) or final
    if key == DispatchKey.Functionalize and _watcher is not None:
        found = _watcher(op, found)
    # what serves PreDispatch depends on the stack of the moment
    return found if key == DispatchKey.PreDispatch else _cache(op, key, found)


_watcher: Callable[[Any, Any], Any] | None = None


def _watch_functionalize(watcher: Callable[[Any, Any], Any] | None) -> None:
    """What goes in place of what runs at Functionalize: `watcher(op, it)`; None: nothing does."""
    global _watcher
    _watcher = watcher
    for op in cached_ops:
        op._uncache_dispatch(DispatchKey.Functionalize)


def _cache(op: Any, key: DispatchKey, found: Any) -> Any:
    op._dispatch_cache[key] = found
    add_cached_op(op)
    return found


def _python_handler(op: Any, key: DispatchKey) -> Any:
    is_script = isinstance(op, TorchBindOpOverload)
    if not is_script and not op.python_key_table:
        return key

    def handler(*args: Any, **kwargs: Any) -> Any:
        rule = op.python_key_table.get(type(current_mode()))
        if rule is None and not is_script:
            return op._op_dk(key, *args, **kwargs)
        with _pop_mode_temporarily() as mode:
            if rule is None:
                return handle_dispatch_mode(mode, op, *args, **kwargs)
            return rule(mode, *args, **kwargs)

    return handler


def _pre_dispatch_is_on() -> bool:
    """Some mode is on the stack, and Python handlers are not switched off."""
    return (
        _len_torch_dispatch_stack_pre_dispatch() > 0
        and not _dispatch_tls_is_dispatch_key_excluded(DispatchKey.Python)
    )


def _pre_dispatch_handler(op: Any) -> Callable[..., Any]:
    def handler(*args: Any, **kwargs: Any) -> Any:
        mode = _pop_mode_from_pre_dispatch()
        try:
            return handle_dispatch_mode(mode, op, *args, **kwargs)
        finally:
            _set_mode_pre_dispatch(mode)

    return handler


def handle_dispatch_mode(curr_mode: Any, op_overload: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a mode's `__torch_dispatch__` with the types that the dispatcher would give it."""
    from dispatch import pytree  # not needed on import

    if not isinstance(curr_mode, TorchDispatchMode):
        raise AssertionError(f"curr_mode must be a TorchDispatchMode, got {type(curr_mode)}")
    leaves = pytree.tree_leaves((args, list(kwargs.values())))
    tensors = [t for t in leaves if isinstance(t, Tensor)]
    types = [type(t) for t in tensors if _dispatch_keys(t).has(DispatchKey.Python)]
    return curr_mode.__torch_dispatch__(op_overload, types, args, kwargs)


_set_overload_hooks(get_dispatch=get_dispatch)
