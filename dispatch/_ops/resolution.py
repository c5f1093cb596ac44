"""Which kernel serves a key of an operator that is dispatched in Python (torch._ops).

Calls find theirs in emitted or computed rows; an operator's `py_impl` registrations are in no row.
The rules are those that compute rows (`_C/operator`), but that a backend's kernel goes before a
nested one, as in PyTorch's Python.
"""

import importlib
from typing import Any

from dispatch._C.inspection import _dispatch_has_backend_fallback
from dispatch._C.keys import DispatchKey, _dispatch_is_included_in_alias
from dispatch._C.operator import _serving_key
from dispatch._C.overload import OpOverload, _set_overload_hooks

__all__ = ["decompose", "decomposition", "is_included_in_alias", "resolve_key"]

is_included_in_alias = _dispatch_is_included_in_alias


def resolve_key(op: Any, k: DispatchKey) -> DispatchKey:
    """The key whose registration serves `k` on `op`, by the rules of the computed table.

    Returns `k` itself when a backend fallback serves it (torch._ops.resolve_key).

    Raises:
        RuntimeError: AutogradOther is ambiguous.
        NotImplementedError: nothing serves `k`.
    """
    try:
        found = _serving_key(op._registered_keys(), k)
    except RuntimeError as error:
        raise RuntimeError(f"{op}: {error}") from None
    if found is not None:
        return found
    if _dispatch_has_backend_fallback(k):
        return k
    raise NotImplementedError(f"{op}: no kernel serves the key {k}")


def decompose(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the CompositeImplicitAutograd kernel returns, or another decomposition that there is.

    NotImplemented when there is none.
    """
    key = DispatchKey.CompositeImplicitAutograd
    if key in op.py_kernels:
        return op.py_kernels[key](*args, **kwargs)
    if op.has_kernel_for_dispatch_key(key):
        return op._op_dk(key, *args, **kwargs)
    taken_apart = decomposition(op)
    return NotImplemented if taken_apart is None else taken_apart(*args, **kwargs)


def decomposition(op: Any) -> Any:
    """What takes an operator apart that has a kernel of its own; None: nothing does."""
    # which calls operators, and stands above this room
    return importlib.import_module("dispatch._ops.decompositions").DECOMPOSITIONS.get(op)


def _load_descriptions() -> None:
    importlib.import_module("dispatch._ops.describe")  # enters itself


_set_overload_hooks(decompose=decompose, load_descriptions=_load_descriptions)
