"""Functions that tell a compiler or a reader something, and change nothing here.

`torch.compile`, `torch._disable_dynamo`, marks of `torch.compiler` and
`torch._dynamo` with their questions (nothing is ever compiled), `torch._export.wrappers`,
`torch.utils._exposed_in`, paths of test data.
"""

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from dispatch.as_torch.modules import missing_text

__all__ = [
    "_disable_dynamo", "allow_in_graph", "assume_constant_result", "compile",
    "cudagraph_mark_step_begin", "deprecated", "disable", "exposed_in", "forbid_in_graph",
    "get_file_path_2", "graph_break", "is_compiling", "is_dynamo_compiling", "is_dynamo_supported",
    "is_exporting", "is_inductor_supported", "mark_dynamic", "mark_static", "mark_static_address",
    "mark_subclass_constructor_exportable_experimental", "mark_unbacked", "maybe_mark_dynamic",
    "nested_compile_region", "reset",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """The function as it is: nobody would compile it."""
    return fn if fn is not None else functools.partial(_disable_dynamo, recursive=recursive)


def _mark(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function as it is, or a decorator that leaves functions as they are."""
    return fn if callable(fn) else lambda function: function


allow_in_graph = assume_constant_result = disable = forbid_in_graph = _mark
nested_compile_region = _mark


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: Any = "inductor", mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """`model` as it is, or a decorator that leaves it so: PyTorch with `TORCH_COMPILE_DISABLE=1`.

    Raises:
        NotImplementedError: `backend` is a program's own, which would wait for a graph.
        RuntimeError: both `mode` and `options` are given.
    """
    if mode is not None and options is not None:
        raise RuntimeError("torch.compile: either mode or options can be given, not both")
    if callable(backend) and not disable:
        raise NotImplementedError(missing_text("torch.compile"))
    return _mark(model)


def mark_static_address(t: Any, *args: Any, **kwargs: Any) -> None:
    """Nothing: what is told of a tensor's sizes or place is for a compiler."""


mark_dynamic = mark_static = mark_unbacked = maybe_mark_dynamic = mark_static_address


def reset() -> None:
    """Nothing: there is nothing that was compiled to forget."""


cudagraph_mark_step_begin = reset


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph to break."""


def is_compiling() -> bool:
    """False: nothing is compiled or traced."""
    return False


is_dynamo_compiling = is_exporting = is_compiling
is_dynamo_supported = is_inductor_supported = is_compiling


def mark_subclass_constructor_exportable_experimental(constructor_subclass: F) -> F:
    """The `__init__` of a tensor subclass as it is: nobody would export it.

    Raises:
        RuntimeError: it is not a method called `__init__`.
    """
    name = getattr(constructor_subclass, "__qualname__", "")
    if not name.endswith(".__init__"):
        raise RuntimeError(
            f"expected the __init__ of a tensor subclass, got {name or 'no function'}"
        )
    return constructor_subclass


def exposed_in(module: str) -> Callable[[F], F]:
    """A decorator: the function says that it is from `module`."""

    def name(fn: F) -> F:
        fn.__module__ = module
        return fn

    return name


def get_file_path_2(*path_components: str) -> str:
    """The components joined."""
    return os.path.join(*path_components)


def deprecated() -> Callable[[F], F]:
    """A decorator of a function `_name`: its module gets `name`, which warns and does the same.

    Raises: ValueError for a name without an underscore, RuntimeError if the module has the other.
    """

    def mark(function: F) -> F:
        name = function.__name__[1:]
        module = sys.modules[function.__module__]
        if not function.__name__.startswith("_"):
            raise ValueError(f"deprecated: {function.__name__!r} starts with no underscore")
        if hasattr(module, name):
            raise RuntimeError(f"deprecated: {module.__name__} has {name!r} already")

        @functools.wraps(function)
        def warned(*args: Any, **kwargs: Any) -> Any:
            text = f"{name} is DEPRECATED, please consider using an alternative API(s). "
            warnings.warn(text, UserWarning, 2)
            return function(*args, **kwargs)

        outer, dot, _ = function.__qualname__.rpartition(".")
        warned.__name__, warned.__qualname__ = name, outer + dot + name
        setattr(module, name, warned)
        return function

    return mark
