"""What overloads do in Python: key resolution, the Python dispatcher's decisions (torch._ops).

`_C/overload` calls these through the hook that the last line sets; `_C/python_dispatcher` asks
`get_dispatch` for what is not in an overload's cache. Cached is what a key resolves to, not what
depends on the modes of the moment.
"""

import sys
from collections.abc import Callable
from typing import Any

from dispatch._C._functorch import TransformType
from dispatch._C.inspection import _dispatch_find_schema_or_throw, _dispatch_has_backend_fallback
from dispatch._C.keys import (
    DispatchKey,
    _dispatch_autogradother_backends,
    _dispatch_get_backend_keyset_from_autograd,
    _dispatch_is_included_in_alias,
    _to_functionality_key,
)
from dispatch._C.overload import OperatorBase, OpOverload, _set_operator_rules
from dispatch._C.tags import Tag
from dispatch._C.tls import (
    _dispatch_tls_is_dispatch_key_excluded,
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
)
from dispatch._operators.pre_dispatch import (
    _len_torch_dispatch_stack_pre_dispatch,
    _pop_mode_from_pre_dispatch,
    _set_mode_pre_dispatch,
)
from dispatch._operators.script_objects import (
    TorchBindOpOverload,
    _call_overload_packet_from_python,
    _must_dispatch_in_python,
)

__all__ = [
    "SEEDED",
    "TorchBindOpOverload",
    "_call_overload_packet_from_python",
    "_must_dispatch_in_python",
    "add_cached_op",
    "cached_ops",
    "current_mode",
    "decompose",
    "find_handle",
    "functionalize_rules",
    "get_cached_ops",
    "get_dispatch",
    "is_included_in_alias",
    "reset_cached_ops",
    "resolve_key",
]

SEEDED = Tag.nondeterministic_seeded
is_included_in_alias = _dispatch_is_included_in_alias
find_handle = _dispatch_find_schema_or_throw


def resolve_key(op: Any, k: DispatchKey) -> DispatchKey:
    """The key whose registration serves `k` on `op`, by the rules of the computed table.

    Returns `k` itself when a backend fallback serves it (torch._ops.resolve_key).

    Raises:
        RuntimeError: AutogradOther is ambiguous.
        NotImplementedError: nothing serves `k`.
    """
    has = op.has_kernel_for_dispatch_key
    if has(k):
        return k
    undefined = k == DispatchKey.Undefined
    explicit = DispatchKey.CompositeExplicitAutograd
    for alias in (DispatchKey.CompositeExplicitAutogradNonFunctional, explicit):
        if (undefined or is_included_in_alias(k, alias)) and has(alias):
            return alias
    backends = _dispatch_get_backend_keyset_from_autograd(k)
    backend_has_kernel = op.has_kernel_for_any_dispatch_key(backends) or has(explicit)
    nested = DispatchKey.CompositeImplicitAutogradNestedTensor
    if not undefined and not backend_has_kernel and is_included_in_alias(k, nested) and has(nested):
        return nested
    implicit = DispatchKey.CompositeImplicitAutograd
    if (undefined or is_included_in_alias(k, implicit)) and has(implicit):
        others = _dispatch_autogradother_backends
        if k == DispatchKey.AutogradOther and op.has_kernel_for_any_dispatch_key(others):
            raise RuntimeError(f"{op}: which kernel serves AutogradOther is ambiguous")
        if not backend_has_kernel:
            return implicit
    for alias in (DispatchKey.Autograd, DispatchKey.FuncTorchBatchedDecomposition):
        if is_included_in_alias(k, alias) and has(alias):
            return alias
    if _dispatch_has_backend_fallback(k):
        return k
    raise NotImplementedError(f"{op}: no kernel serves the key {k}")


# ---- the Python dispatcher

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
    # what serves PreDispatch depends on the stack of the moment
    return found if key == DispatchKey.PreDispatch else _cache(op, key, found)


def _cache(op: Any, key: DispatchKey, found: Any) -> Any:
    op._dispatch_cache[key] = found
    add_cached_op(op)
    return found


def _python_handler(op: Any, key: DispatchKey) -> Any:
    is_script = isinstance(op, TorchBindOpOverload)
    if not is_script and not op.python_key_table:
        return key

    def handler(*args: Any, **kwargs: Any) -> Any:
        from dispatch._library.utils import handle_dispatch_mode
        from dispatch.modes import _pop_mode_temporarily

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
        from dispatch._library.utils import handle_dispatch_mode

        mode = _pop_mode_from_pre_dispatch()
        try:
            return handle_dispatch_mode(mode, op, *args, **kwargs)
        finally:
            _set_mode_pre_dispatch(mode)

    return handler


# ---- decompositions and functionalization


def decompose(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the CompositeImplicitAutograd kernel returns; NotImplemented when there is none."""
    key = DispatchKey.CompositeImplicitAutograd
    if key in op.py_kernels:
        return op.py_kernels[key](*args, **kwargs)
    if op.has_kernel_for_dispatch_key(key):
        return op._op_dk(key, *args, **kwargs)
    return NotImplemented


def functionalize_rules(op: OperatorBase, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Register `fn` at the key Functionalize, for FunctionalTensorMode and for the transform."""
    from dispatch import functional

    def at_key(*args: Any, **kwargs: Any) -> Any:
        return fn(functional.CppFunctionalizeAPI(), *args, **kwargs)

    def under_mode(mode: Any, *args: Any, **kwargs: Any) -> Any:
        if _has_user_subclass(args, kwargs):
            return NotImplemented
        return fn(functional.PythonFunctionalizeAPI(mode), *args, **kwargs)

    def under_transform(interpreter: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(functional.FunctorchFunctionalizeAPI(interpreter), *args, **kwargs)

    op.py_impl(DispatchKey.Functionalize)(at_key)
    op.py_impl(functional.FunctionalTensorMode)(under_mode)
    op.py_impl(TransformType.Functionalize)(under_transform)
    return fn


def _has_user_subclass(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether some argument is of a tensor class that is neither ours nor fake nor functional."""
    from dispatch import pytree
    from dispatch._C.tensor import Tensor
    from dispatch.fake import FakeTensor
    from dispatch.functional import FunctionalTensor

    return any(
        isinstance(leaf, Tensor)
        and type(leaf) is not Tensor
        and not isinstance(leaf, (FakeTensor, FunctionalTensor))
        for leaf in pytree.tree_leaves((args, kwargs))
    )


_set_operator_rules(sys.modules[__name__])
