"""Which kernel serves a key of an operator, by the rules of the computed table (torch._ops).

Calls find it in emitted or computed rows; this is for those that are dispatched in Python, whose
kernels are in no row. The rows are `_C/operator`'s, and a test holds both together, but for where
PyTorch's two differ: a nested kernel beside CompositeExplicitAutograd.
"""

import importlib
from typing import Any

from dispatch._C.inspection import _dispatch_has_backend_fallback
from dispatch._C.keys import (
    DispatchKey,
    _dispatch_autogradother_backends,
    _dispatch_get_backend_keyset_from_autograd,
    _dispatch_is_included_in_alias,
)
from dispatch._C.overload import OpOverload, _set_overload_hooks

__all__ = ["decompose", "is_included_in_alias", "resolve_key"]

is_included_in_alias = _dispatch_is_included_in_alias


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


def decompose(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the CompositeImplicitAutograd kernel returns; NotImplemented when there is none."""
    key = DispatchKey.CompositeImplicitAutograd
    if key in op.py_kernels:
        return op.py_kernels[key](*args, **kwargs)
    if op.has_kernel_for_dispatch_key(key):
        return op._op_dk(key, *args, **kwargs)
    return NotImplemented


def _load_descriptions() -> None:
    importlib.import_module("dispatch._ops.describe")  # enters itself


_set_overload_hooks(decompose=decompose, load_descriptions=_load_descriptions)
