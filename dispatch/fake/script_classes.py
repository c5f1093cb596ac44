"""Fake objects for objects of custom classes (torch._library.fake_class_registry).

A custom class registers a Python class that stands for it where tensors are fake. A real object is
flattened by its `__obj_flatten__` into (name, value) pairs, its tensors become fake ones, and the
registered class makes an object of them by its `__obj_unflatten__`. Programs hold that object
behind a `FakeScriptObject`, whose methods are `FakeScriptMethod`s. An object of an opaque type
(`library.opaque`) needs none of this: its stand-in has the registered members.
"""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.modes import _disable_current_modes
from dispatch.registry.handles import parse_namespace
from dispatch.registry.opaque_types import FakeOpaqueObject, OpaqueType, get_opaque_obj_info
from dispatch.registry.script_classes import FakeScriptObject

__all__ = [
    "FakeClassRegistry",
    "FakeScriptMethod",
    "deregister_fake_class",
    "find_fake_class",
    "global_fake_class_registry",
    "has_fake_class",
    "maybe_to_fake_obj",
    "register_fake_class",
    "tracing_with_real",
]

_UNFLATTEN = "__obj_unflatten__"
_PREFIX = "__torch__.torch.classes."
# Methods that a fake class need not have.
_OPTIONAL = frozenset({"__obj_flatten__", "__getstate__", "__setstate__"})


def _warn(text: str, *args: Any) -> None:
    import logging  # it prepares forks, as `dispatch.forks` does: not while one is prepared

    logging.getLogger(__name__).warning(text, *args)


class FakeScriptMethod:
    """A method of a fake object: calls the one of the class that stands for it."""

    def __init__(self, self_fake_obj: FakeScriptObject, method_name: str, schema: Any) -> None:
        self.self_fake_obj = self_fake_obj
        self.method_name = method_name
        self.schema = schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.self_fake_obj.wrapped_obj, self.method_name)(*args, **kwargs)


class FakeClassRegistry:
    """Full name (`__torch__.torch.classes.namespace.Name`) -> the class that stands for it."""

    def __init__(self) -> None:
        self._registered_class: dict[str, Any] = {}

    def has_impl(self, full_qualname: str) -> bool:
        return full_qualname in self._registered_class

    def get_impl(self, full_qualname: str) -> Any:
        """The class; RuntimeError when there is none."""
        if full_qualname not in self._registered_class:
            raise RuntimeError(f"{full_qualname}: register_fake_class has not been called for it")
        return self._registered_class[full_qualname]

    def register(self, full_qualname: str, fake_class: Any = None) -> None:
        """Enter a class; one that was there is replaced, with a warning in the log."""
        if self.has_impl(full_qualname):
            _warn(
                "%s: %s replaces the fake class registered before", full_qualname, fake_class
            )
        self._registered_class[full_qualname] = fake_class

    def deregister(self, full_qualname: str) -> Any:
        """Take it out and return it; a warning in the log and None when there is none."""
        if not self.has_impl(full_qualname):
            _warn("%s: there is no fake class to deregister", full_qualname)
        return self._registered_class.pop(full_qualname, None)

    def clear(self) -> None:
        self._registered_class.clear()


global_fake_class_registry = FakeClassRegistry()


def _full_name(qualname: str) -> str:
    namespace, name = parse_namespace(qualname)
    return f"{_PREFIX}{namespace}.{name}"


def register_fake_class(qualname: str, fake_class: Any = None) -> Any:
    """Register the class that stands for a custom class on fake tensors; also a decorator.

    Args:
        qualname: `namespace::Name`.
        fake_class: has a classmethod `__obj_unflatten__(flattened)`.

    Raises:
        RuntimeError: there is no such method, or it is no classmethod.
        ValueError: the name has no namespace.
    """

    def register(fake_class: Any) -> Any:
        if getattr(fake_class, _UNFLATTEN, None) is None:
            raise RuntimeError(f"{fake_class} has no classmethod {_UNFLATTEN}")
        if not isinstance(vars(fake_class).get(_UNFLATTEN), classmethod):
            raise RuntimeError(f"{fake_class}: {_UNFLATTEN} must be a classmethod of its own")
        global_fake_class_registry.register(_full_name(qualname), fake_class)
        return fake_class

    return register if fake_class is None else register(fake_class)


def deregister_fake_class(qualname: str) -> Any:
    """Take a registration back; the class, or None when there was none."""
    return global_fake_class_registry.deregister(_full_name(qualname))


def has_fake_class(full_qualname: str) -> bool:
    return global_fake_class_registry.has_impl(full_qualname)


def find_fake_class(full_qualname: str) -> Any:
    """The registered class, or None."""
    registry = global_fake_class_registry
    return registry.get_impl(full_qualname) if registry.has_impl(full_qualname) else None


def tracing_with_real(x: Any) -> bool:
    """Whether an object asks to stay what it is: its `tracing_mode()` is "real"."""
    if not hasattr(x, "tracing_mode"):
        return False
    mode = x.tracing_mode()
    if mode not in ("real", "fake"):
        raise AssertionError(f"tracing_mode() must be 'real' or 'fake', got {mode!r}")
    return bool(mode == "real")


def _check_flat(flat: Any) -> None:
    """RuntimeError unless it is a tuple of (name, value) pairs."""
    if not isinstance(flat, tuple):
        raise RuntimeError(f"__obj_flatten__ must return a tuple, got {type(flat).__name__}")
    for pair in flat:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise RuntimeError(f"__obj_flatten__ must return (name, value) pairs, got {pair!r}")


def _fake_tensor_like(t: Tensor) -> Tensor:
    made = ops.aten.empty_strided.default(
        t.size(), t.stride(), dtype=t.dtype, layout=t.layout, device=t.device
    )
    return made.requires_grad_(t.requires_grad)


def maybe_to_fake_obj(fake_mode: Any, x: Any) -> Any:
    """The FakeScriptObject for an object of a custom class, or `x` if it asks to stay real.

    Args:
        fake_mode: the FakeTensorMode that its tensors become tensors of.
        x: is of an opaque type, or has `__obj_flatten__`, `_type().qualified_name()` and
            `_method_names()`.

    Raises:
        TypeError: an object of an opaque type has not a member that the type was registered with.
        RuntimeError: no class is registered for it, what `__obj_flatten__` returned is no tuple of
            (name, value) pairs, or an attribute in the place of a method cannot be called.
    """
    if tracing_with_real(x):
        return x
    opaque = get_opaque_obj_info(type(x))
    if opaque is not None:
        return _opaque_stand_in(opaque, x)
    with _disable_current_modes():
        flat = x.__obj_flatten__()
    _check_flat(flat)
    full_name = x._type().qualified_name()
    fake_class = find_fake_class(full_name)
    if fake_class is None:
        raise RuntimeError(
            f"{full_name}: no fake class is registered for it; register_fake_class takes one, with "
            f"the methods that the program calls and a classmethod {_UNFLATTEN}"
        )
    with fake_mode:
        fake = fake_class.__obj_unflatten__(pytree.tree_map_only(Tensor, _fake_tensor_like, flat))
    made = FakeScriptObject(fake, full_name, x)
    vars(made).update(_methods(made, fake, x))
    return made


def _opaque_stand_in(opaque: OpaqueType, x: Any) -> FakeScriptObject:
    """A stand-in that has the members which the type was registered with, as they are now."""
    made = FakeScriptObject(FakeOpaqueObject(), opaque.class_name, x)
    with _disable_current_modes():
        for name in opaque.members:
            if not hasattr(x, name):
                raise TypeError(
                    f"Opaque object of type '{opaque.class_name}' was specified to have member "
                    f"'{name}', and has none: see register_opaque_type"
                )
            vars(made)[name] = getattr(x, name)
    return made


def _methods(made: FakeScriptObject, fake: Any, x: Any) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in x._method_names():
        method = getattr(fake, name, None)
        if method is None:
            if name not in _OPTIONAL:
                _warn("the fake object of %s has no method %s", x, name)
        elif not callable(method):
            raise RuntimeError(f"expected {name} to be callable, got {method!r}")
        else:
            schema = getattr(getattr(x, name), "schema", None)
            found[name] = FakeScriptMethod(made, name, schema)
    return found
