"""Operators that take objects of custom classes (torch._ops.TorchBindOpOverload).

An argument's type is `__torch__.torch.classes.namespace.Name`. A `FakeScriptObject` stands for such
an object where there is none; calls that have one are dispatched in Python, by the overload's
`py_impl` registrations and the modes, and never reach a kernel below.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from dispatch._C.inspection import (
    _dispatch_has_kernel_for_dispatch_key,
    _dispatch_kernel_for_dispatch_key_is_fallthrough,
)
from dispatch._C.keys import DispatchKey, _dispatch_keyset_full
from dispatch._C.overload import OpOverload, _set_overload_hooks
from dispatch._C.registration import fallthrough_kernel
from dispatch._ops.keysets import _compute_keyset, _to_flat_tuple
from dispatch.modes.function import handle_torch_function, has_torch_function
from dispatch.registry.effects import EffectType
from dispatch.registry.entries import singleton
from dispatch.registry.script_classes import FakeScriptObject

__all__ = [
    "TorchBindOpOverload",
    "_call_overload_packet_from_python",
    "_contains_fake_script_object",
    "_has_script_object_arg",
    "_must_dispatch_in_python",
]

_OFTEN_FALLTHROUGH = (
    DispatchKey.Autograd,
    DispatchKey.AutogradCPU,
    DispatchKey.AutogradCUDA,
    DispatchKey.ADInplaceOrView,
    DispatchKey.BackendSelect,
    DispatchKey.PythonTLSSnapshot,
    DispatchKey.PythonDispatcher,
    DispatchKey.Functionalize,
)


class TorchBindOpOverload(OpOverload):
    """An overload that takes objects of custom classes."""

    def _may_fall_through(self, key: DispatchKey) -> bool:
        if _dispatch_has_kernel_for_dispatch_key(self.name(), key):
            return _dispatch_kernel_for_dispatch_key_is_fallthrough(self.name(), key)
        return self.py_kernels.get(key, fallthrough_kernel) is fallthrough_kernel

    def _fallthrough_keys(self) -> list[DispatchKey]:
        """The keys that a call in Python skips: they have no kernel but a fallback."""
        return [key for key in _OFTEN_FALLTHROUGH if self._may_fall_through(key)]

    @contextlib.contextmanager
    def _register_as_effectful_op_temporarily(self) -> Iterator[None]:
        """In the block, the operator has the effect ORDERED, unless it has one already."""
        holder = singleton.find(self.name()).effect
        handle = holder.register(EffectType.ORDERED) if holder.effect is None else None
        try:
            yield
        finally:
            if handle is not None:
                handle.destroy()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if _must_dispatch_in_python(args, kwargs):
            return self._dispatch_in_python(self._fallthrough_keys(), *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def _dispatch_in_python(
        self, fallthrough_keys: list[DispatchKey], *args: Any, **kwargs: Any
    ) -> Any:
        """Run what is registered in Python for the highest key; RuntimeError when nothing is."""
        allowed = _dispatch_keyset_full()
        for skipped in fallthrough_keys:
            allowed = allowed.remove(skipped)
        key = _compute_keyset(args, kwargs, allowed).highestPriorityTypeId()
        cache = self._dispatch_cache
        handler: Any = cache[key] if key in cache else self._get_dispatch(key)
        if not isinstance(handler, DispatchKey):
            run: Callable[..., Any] = handler
            return run(*args, **kwargs)
        if _dispatch_kernel_for_dispatch_key_is_fallthrough(self.name(), key):
            return self._dispatch_in_python([*fallthrough_keys, key], *args, **kwargs)
        raise RuntimeError(
            f"{self}: a FakeScriptObject came to the key {handler}, where no kernel in Python is "
            "registered; kernels below cannot take one"
        )


def _contains_fake_script_object(obj: Any) -> bool:
    """Whether the value is a FakeScriptObject or has one in its lists, tuples and dicts."""
    if isinstance(obj, FakeScriptObject):
        return True
    if isinstance(obj, (list, tuple)):
        return any(map(_contains_fake_script_object, obj))
    return isinstance(obj, dict) and any(map(_contains_fake_script_object, obj.values()))


def _must_dispatch_in_python(args: Any, kwargs: Any) -> bool:
    """Whether some argument is, or holds, a FakeScriptObject."""
    return any(map(_contains_fake_script_object, (*args, *(kwargs or {}).values())))


def _has_script_object_arg(schema: Any) -> bool:
    """Whether some argument's type is a custom class."""
    return any(a.type.kind() == "ClassType" for a in schema.arguments)


def _fits(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the arguments have places in the schema; FakeScriptObjects by their class."""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    given = dict(zip((a.name for a in positional), args, strict=False))
    names = {a.name for a in schema.arguments}
    if len(args) > len(positional) or given.keys() & kwargs.keys() or kwargs.keys() - names:
        return False
    given |= kwargs
    for a in schema.arguments:
        value = given.get(a.name)
        if a.name not in given:
            if not a.has_default_value():
                return False
        elif isinstance(value, FakeScriptObject):
            if a.type.kind() != "ClassType" or str(a.type) != value.script_class_name:
                return False
        elif a.type.kind() == "ClassType":
            return False
    return True


def _call_overload_packet_from_python(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the first overload whose schema the arguments fit; RuntimeError when none does."""
    flat = _to_flat_tuple(args, kwargs)
    if has_torch_function(flat):
        return handle_torch_function(op, flat, *args, **kwargs)
    for overload in op.op_overloads():
        if _fits(overload._schema, args, kwargs):
            return overload(*args, **kwargs)
    schemas = "\n".join(f"  {schema}" for schema in op._schemas.values())
    raise RuntimeError(f"{op}: the arguments fit none of the overloads\n{schemas}")


_set_overload_hooks(
    TorchBindOpOverload=TorchBindOpOverload,
    call_script_packet=_call_overload_packet_from_python,
    must_dispatch_in_python=_must_dispatch_in_python,
)
