"""Operators as Python objects: namespaces, overloads, packets, higher-order operators (torch._ops).

The callable classes are compiled (`_C/overload`); this module gives them their names and what is
written in Python, key resolution among it. `ops` holds nothing until it is asked: a namespace, a
packet and an overload are made at first use.
"""

import types
from typing import TYPE_CHECKING, Any

from dispatch._C.keys import (
    DispatchKey,
    DispatchKeySet,
    _dispatch_autogradother_backends,
    _dispatch_get_backend_keyset_from_autograd,
    _dispatch_is_included_in_alias,
)
from dispatch._C.overload import (
    OperatorBase,
    OpOverload,
    OpOverloadPacket,
    _find_overload,
    _find_packet,
    _refresh_packet,
)
from dispatch._C.registration import (
    _dispatch_has_backend_fallback,
    _dispatch_has_kernel_for_any_dispatch_key,
    _dispatch_has_kernel_for_dispatch_key,
)

if TYPE_CHECKING:
    from dispatch._C.generated.ops_aten import AtenOps

__all__ = [
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "OperatorBase",
    "is_included_in_alias",
    "ops",
    "resolve_key",
]

is_included_in_alias = _dispatch_is_included_in_alias


def _has_kernel(op: Any, key: DispatchKey) -> bool:
    """Whether a kernel is registered for exactly `key`, in Python or with the dispatcher."""
    if key in op.py_kernels:
        return True
    return isinstance(op, OpOverload) and _dispatch_has_kernel_for_dispatch_key(op.name(), key)


def _has_kernel_for_any(op: Any, keys: DispatchKeySet) -> bool:
    """Whether a kernel is registered for some runtime key of the set."""
    if OperatorBase.has_kernel_for_any_dispatch_key(op, keys):
        return True
    return isinstance(op, OpOverload) and _dispatch_has_kernel_for_any_dispatch_key(op.name(), keys)


def resolve_key(op: Any, k: DispatchKey) -> DispatchKey:
    """The key whose registration serves `k` on `op`, by the rules of the computed table.

    Returns `k` itself when a backend fallback serves it (torch._ops.resolve_key).

    Raises:
        RuntimeError: AutogradOther is ambiguous.
        NotImplementedError: nothing serves `k`.
    """
    if _has_kernel(op, k):
        return k
    undefined = k == DispatchKey.Undefined
    explicit = DispatchKey.CompositeExplicitAutograd
    for alias in (DispatchKey.CompositeExplicitAutogradNonFunctional, explicit):
        if (undefined or is_included_in_alias(k, alias)) and _has_kernel(op, alias):
            return alias
    backend_has_kernel = _has_kernel(op, explicit) or _has_kernel_for_any(
        op, _dispatch_get_backend_keyset_from_autograd(k)
    )
    nested = DispatchKey.CompositeImplicitAutogradNestedTensor
    is_nested = not undefined and is_included_in_alias(k, nested)
    if is_nested and not backend_has_kernel and _has_kernel(op, nested):
        return nested
    implicit = DispatchKey.CompositeImplicitAutograd
    if (undefined or is_included_in_alias(k, implicit)) and _has_kernel(op, implicit):
        if k == DispatchKey.AutogradOther and _has_kernel_for_any(
            op, _dispatch_autogradother_backends
        ):
            raise RuntimeError("ambiguous autogradother kernel")
        if not backend_has_kernel:
            return implicit
    for alias in (DispatchKey.Autograd, DispatchKey.FuncTorchBatchedDecomposition):
        if is_included_in_alias(k, alias) and _has_kernel(op, alias):
            return alias
    if _dispatch_has_backend_fallback(k):
        return k
    raise NotImplementedError(f"could not find kernel for {op} at dispatch key {k}")


_higher_order_ops: dict[str, "HigherOrderOperator"] = {}


class HigherOrderOperator(OperatorBase):
    """An operator that takes functions: dispatched in Python by `py_impl` registrations.

    Source of the semantics: torch._ops.HigherOrderOperator.
    """

    def __init__(self, name: str) -> None:
        if type(self) is HigherOrderOperator:
            raise RuntimeError("Direct instantiation of HigherOrderOperator is not allowed.")
        self._name = name
        self.__name__ = name
        _higher_order_ops[name] = self

    def name(self) -> str:
        """The operator's name."""
        return self._name

    @property
    def namespace(self) -> str:
        return "higher_order"

    def __str__(self) -> str:
        return self._name


class _HigherOrderNamespace(types.ModuleType):
    """`dispatch.ops.higher_order`."""

    def __init__(self) -> None:
        super().__init__("dispatch.ops.higher_order")

    def __getattr__(self, name: str) -> HigherOrderOperator:
        try:
            return _higher_order_ops[name]
        except KeyError:
            raise AttributeError(f"'higher_order' has no operator '{name}'") from None

    def __dir__(self) -> list[str]:
        return sorted(_higher_order_ops)


class _OpNamespace(types.ModuleType):
    """The operators of one namespace: `dispatch.ops.aten`."""

    def __init__(self, name: str) -> None:
        super().__init__("dispatch.ops." + name)
        self.name = name

    def __getattr__(self, op_name: str) -> OpOverloadPacket:
        if op_name in ("__origin__", "__self__", "__wrapped__", "__file__", "__path__"):
            raise AttributeError(f"Invalid attribute '{op_name}' for '_OpNamespace' '{self.name}'")
        packet = _find_packet(f"{self.name}::{op_name}")
        if packet is None:
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'"
            )
        self.__dict__[op_name] = packet
        return packet

    def __dir__(self) -> list[str]:
        from dispatch._C.registration import _dispatch_get_all_op_names

        prefix = self.name + "::"
        names = (n[len(prefix) :] for n in _dispatch_get_all_op_names() if n.startswith(prefix))
        return sorted({n.partition(".")[0] for n in names})

    def __iter__(self) -> Any:
        return iter(self.__dir__())


class _Ops(types.ModuleType):
    """`dispatch.ops`: namespaces by name."""

    aten: "AtenOps"
    higher_order: "_HigherOrderNamespace"

    def __init__(self) -> None:
        super().__init__("dispatch.ops")
        self._namespaces: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'dispatch.ops' has no attribute {name!r}")
        made: Any = _HigherOrderNamespace() if name == "higher_order" else _OpNamespace(name)
        self.__dict__[name] = made
        self._namespaces.add(name)
        return made


ops = _Ops()


def _forget_packet(namespace: str, name: str) -> None:
    """Drop a packet from its namespace: its last definition went away."""
    holder = ops.__dict__.get(namespace)
    if holder is not None:
        holder.__dict__.pop(name, None)


def find_overload(name: str) -> OpOverload | None:
    """The overload called `namespace::name.overload`; None when there is none."""
    base, _, overload = name.partition(".")
    return _find_overload(base, overload)


def refresh(name: str) -> None:
    """After a change to the overloads of `namespace::name`: packets look again."""
    _refresh_packet(name)
    if _find_packet(name) is None:
        _forget_packet(*name.split("::", 1))
