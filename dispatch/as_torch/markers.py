"""Decorators that tell a compiler or a reader something of a function, and change nothing here.

`torch._disable_dynamo`, marks of `torch.compiler` and `torch._dynamo` with their questions (nothing
is ever compiled), `torch._export.wrappers`, `torch.utils._exposed_in`, paths of test data.
"""

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "_disable_dynamo",
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "exposed_in",
    "get_file_path_2",
    "is_compiling",
    "is_dynamo_compiling",
    "is_dynamo_supported",
    "is_exporting",
    "is_inductor_supported",
    "mark_subclass_constructor_exportable_experimental",
]

F = TypeVar("F", bound=Callable[..., Any])


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """The function as it is: nobody would compile it."""
    return fn if fn is not None else functools.partial(_disable_dynamo, recursive=recursive)


def _mark(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function as it is, or a decorator that leaves functions as they are."""
    return fn if callable(fn) else lambda function: function


allow_in_graph = assume_constant_result = disable = _mark


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
