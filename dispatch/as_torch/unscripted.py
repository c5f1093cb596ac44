"""`torch.jit` as it is in a process where PyTorch's own switch turns TorchScript off.

With `PYTORCH_JIT=0` in the environment PyTorch gives functions and modules back as they are, and
its decorators are marks. So it is here always: there is no TorchScript.
Source of the semantics: `torch/jit/_script.py`, `torch/jit/_trace.py` and `torch/_jit_internal.py`.
"""

import builtins
import collections.abc
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from dispatch.as_torch.nn.modules.module import Module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "ScriptWarning",
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "_overload",
    "_overload_method",
    "_script_if_tracing",
    "annotate",
    "boolean_dispatch",
    "export",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "optimize_for_inference",
    "optimized_execution",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
]  # fmt: skip


class Error(Exception):
    """What TorchScript's interpreter raises; nothing here does."""


class ScriptWarning(Warning):
    """A warning of the compiler; nothing here gives it."""


class TracerWarning(Warning):
    """A warning of the tracer; nothing here gives it."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Nothing: there are no such warnings."""


class ScriptFunction:
    """A compiled function: there are none, so `isinstance` says no."""


class ScriptModule(Module):
    """A module that is not compiled; programs derive from it.

    Args:
        arg: not used, as in PyTorch.
    """

    def __init__(self, arg: Any = None) -> None:
        super().__init__()


class RecursiveScriptModule(ScriptModule):
    """A module as the compiler makes them: there are none, so `isinstance` says no."""


class TracedModule(ScriptModule):
    """A module as the tracer makes them: there are none, so `isinstance` says no."""


class TopLevelTracedModule(TracedModule):
    """As `TracedModule`."""


# ---- compiling, which gives back what it is given


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """`obj` as it is, a function, a class or a module."""
    return obj


def trace(func: Any, *args: Any, **kwargs: Any) -> Any:
    """`func` as it is; it is not called, and example inputs are not looked at."""
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """`mod` as it is."""
    return mod


def script_method(fn: Any) -> Any:
    """`fn` as it is."""
    return fn


def script_if_tracing(fn: Any) -> Any:
    """`fn` as it is: nothing is ever traced."""
    return fn


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """RuntimeError: no module is compiled."""
    raise RuntimeError("freeze: expects a ScriptModule as input, and there is no TorchScript here")


def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """RuntimeError: no module is compiled."""
    raise RuntimeError(
        "optimize_for_inference: expects a ScriptModule as input, and there is no TorchScript here"
    )


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which nothing is different."""
    yield


_script_if_tracing = script_if_tracing


def is_scripting() -> bool:
    """False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """False: nothing is traced."""
    return False


# ---- marks


_MODIFIER = "_torchscript_modifier"
_EXPORT = "export (compile this function even if nothing calls it)"
_UNUSED = "unused (ignored and replaced with raising of an exception)"
_IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"


def export(fn: Any) -> Any:
    """`fn` with the mark of a method to compile."""
    setattr(fn, _MODIFIER, _EXPORT)
    return fn


def unused(fn: Any) -> Any:
    """`fn` with the mark of one that is not compiled; a property's functions get it."""
    for function in (fn.fget, fn.fset) if builtins.isinstance(fn, property) else (fn,):
        if function is not None:
            setattr(function, _MODIFIER, _UNUSED)
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A function with the mark of one that is left to Python, or a decorator that gives it.

    Args:
        drop: the function (`@ignore`), or whether exported programs leave it out (`@ignore(...)`).

    Raises:
        RuntimeError: `drop` is neither a bool nor can be called.
    """
    if callable(drop):
        setattr(drop, _MODIFIER, _IGNORE)
        return drop
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(f"torch.jit.ignore: drop must be a bool or a function, got {drop!r}")
    mark = _UNUSED if drop or kwargs.get("drop_on_export") else _IGNORE

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        setattr(fn, _MODIFIER, mark)
        return fn

    return decorate


def _overload_method(func: Any) -> Any:
    """`func` as it is: one of the signatures of a method."""
    return func


_overload = _overload_method


def interface(obj: Any) -> Any:
    """The class `obj` as it is.

    Raises:
        RuntimeError: it is no class, or one with other bases than `object`.
    """
    if not builtins.isinstance(obj, type):
        raise RuntimeError("torch.jit.interface: must be applied to a class")
    if obj.__mro__ != (obj, object):
        raise RuntimeError("torch.jit.interface: an interface must inherit from object alone")
    return obj


def annotate(the_type: Any, the_value: Any) -> Any:
    """`the_value`."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:
    """`value`: what a module that is not compiled keeps."""
    return value


# ---- containers with the types of what they hold


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, also of what a container holds: `list[int]`, `dict[str, Tensor]`.

    Args:
        obj: anything.
        target_type: a class, a list, dict, tuple, `Optional` or `Union` with arguments, or a tuple
            of those; nothing is of another type with arguments. An empty list or dict is of each
            type of its kind.

    Raises:
        RuntimeError: a container type without arguments, or something that is no type.
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if builtins.isinstance(target_type, collections.abc.Container):
        raise RuntimeError("torch.jit.isinstance: expected a type or a tuple of types")
    bare = target_type in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple)  # noqa: UP006
    if bare or target_type is typing.Optional:
        name = getattr(target_type, "__name__", str(target_type))
        raise RuntimeError(f"torch.jit.isinstance: {name} needs the types that it contains")
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return builtins.isinstance(obj, target_type)
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, type(None) if one is None else one) for one in inner)
    if origin not in (list, dict, tuple) or not builtins.isinstance(obj, origin):
        return False
    if origin is dict:
        return all(isinstance(k, inner[0]) and isinstance(v, inner[1]) for k, v in obj.items())
    if origin is tuple:
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    return all(isinstance(item, inner[0]) for item in obj)


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: Any,
    func_name: Any,
) -> Any:  # fmt: skip
    """A function that is `if_true` or `if_false`, as one of its arguments says.

    Raises: RuntimeError if both have a doc string: it gets the one there is.
    """

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = args[arg_index] if arg_index < len(args) else default
        return (if_true if kwargs.get(arg_name, flag) else if_false)(*args, **kwargs)

    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise RuntimeError("only one function can have a docstring")
    chosen.__doc__ = if_true.__doc__ = if_false.__doc__ = if_true.__doc__ or if_false.__doc__
    chosen.__module__ = module_name or chosen.__module__
    chosen.__name__ = func_name or chosen.__name__
    return chosen
