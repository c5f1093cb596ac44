"""Custom operators by name, in the older way (torch._custom_ops).

`custom_op("ns::f")` over a prototype defines the operator, `impl`, `impl_abstract`,
`impl_save_for_backward` and `impl_backward` give it its parts; each is a decorator, or takes
`func=`. What they make is in `library/older`; new programs use `dispatch.library.custom_op`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from dispatch.library.functions import get_ctx, register_fake
from dispatch.library.older import (
    _custom_op_with_schema,
    _find_custom_op,
    check_prototype,
    infer_schema,
    parse_qualname,
    validate_namespace,
)

__all__ = [
    "custom_op",
    "get_ctx",
    "impl",
    "impl_abstract",
    "impl_backward",
    "impl_save_for_backward",
]

_Function = Callable[..., Any]


def custom_op(qualname: str, func_or_schema: _Function | str | None = None) -> Any:
    """Define an operator after a function's annotations, or with a schema.

    Raises:
        ValueError: a reserved namespace, an overload, a function of another name, a schema that is
            not functional.
        AssertionError: a schema that cannot be read.
    """
    namespace, name = parse_qualname(qualname)
    validate_namespace(namespace)

    def inner(func: _Function) -> _Function:
        check_prototype(qualname, name, func)
        _custom_op_with_schema(qualname, infer_schema(func, mutates_args=()))
        return func

    if func_or_schema is None:
        return inner
    if isinstance(func_or_schema, str):
        _custom_op_with_schema(qualname, func_or_schema)
        return None
    return inner(func_or_schema)


def _decorator(func: _Function | None, register: Callable[[_Function], Any]) -> Any:
    def inner(f: _Function) -> _Function:
        register(f)
        return f

    return inner if func is None else inner(func)


def impl(
    qualname: str,
    *,
    device_types: str | Iterable[str] = ("cpu", "cuda"),
    func: _Function | None = None,
) -> Any:
    """Register a kernel for these devices, of an operator that a Library defined too."""

    def register(f: _Function) -> None:
        found = _find_custom_op(qualname, also_check_torch_library=True)
        found.impl(device_types, _stacklevel=4)(f)

    return _decorator(func, register)


def impl_abstract(qualname: str, *, func: _Function | None = None) -> Any:
    """`register_fake`: what stands for the operator on tensors without data."""
    return register_fake(qualname, func, _stacklevel=2)


def impl_save_for_backward(qualname: str, *, func: _Function | None = None) -> Any:
    """Register what is kept for the gradient: `func(inputs, output)`."""

    def register(f: _Function) -> None:
        found = _find_custom_op(qualname, also_check_torch_library=True)
        found.impl_save_for_backward(_stacklevel=4)(f)

    return _decorator(func, register)


def impl_backward(
    qualname: str,
    output_differentiability: list[bool] | None = None,
    *,
    func: _Function | None = None,
) -> Any:
    """Register the gradient: `func(ctx, saved, *grads)` -> {name of an argument: gradient}."""

    def register(f: _Function) -> None:
        found = _find_custom_op(qualname, also_check_torch_library=True)
        found.impl_backward(output_differentiability, _stacklevel=4)(f)

    return _decorator(func, register)


def _destroy(qualname: str) -> None:
    """Take an operator back that was defined here; for tests."""
    _find_custom_op(qualname)._destroy()
