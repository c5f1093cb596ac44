"""Implementations that users register for operators on fake tensors (torch._subclasses.fake_impls).

`FakeTensorMode` looks here after fake kernels and before Meta kernels. Our own operators need no
entry: their rules stand in their Meta kernels and in `propagate`.
"""

import functools
from collections.abc import Callable
from typing import Any

from dispatch._C.inspection import _dispatch_has_computed_kernel_for_dispatch_key
from dispatch._C.overload import OpOverload
from dispatch._ops import ops

__all__ = [
    "_deregister_op_impl",
    "_is_op_registered_to_fake_rule",
    "_is_tensor_constructor",
    "contains_tensor_types",
    "get_fast_op_impls",
    "has_meta",
    "is_builtin",
    "op_implementations_checks",
    "op_implementations_dict",
    "ordered_set",
    "register_fast_op_impl",
    "register_op_impl",
    "stride_incorrect_op",
]

Implementation = Callable[..., Any]

op_implementations_dict: dict[Any, Implementation] = {}
op_implementations_checks: list[tuple[Callable[[Any], bool], Implementation]] = []
_fast_op_implementations: dict[Any, Implementation] = {}


def ordered_set(*items: Any) -> dict[Any, bool]:
    """The items as the keys of a dictionary, in order."""
    return dict.fromkeys(items, True)


def register_op_impl(
    run_impl_check: Any,
) -> Callable[[Implementation], Implementation]:
    """Register `impl(mode, func, *args, **kwargs)` for an operator, or for each of a list.

    The implementation may return NotImplemented to leave the call to the Meta kernel.

    A function in the operator's place says, of each operator, whether the implementation is for it.

    Raises: AssertionError when the operator has one, or for what is no operator.
    """

    def decorate(op_impl: Implementation) -> Implementation:
        if isinstance(run_impl_check, OpOverload):
            if run_impl_check in op_implementations_dict:
                raise AssertionError(f"duplicate registration: {run_impl_check}")
            op_implementations_dict[run_impl_check] = op_impl
        elif isinstance(run_impl_check, list | tuple):
            for op in run_impl_check:
                register_op_impl(op)(op_impl)
        elif callable(run_impl_check):
            op_implementations_checks.append((run_impl_check, op_impl))
        else:
            raise AssertionError(f"expected an operator, got {type(run_impl_check).__name__}")
        return op_impl

    return decorate


def _is_op_registered_to_fake_rule(op: Any) -> bool:
    """Whether the operator has an implementation."""
    return op in op_implementations_dict


def _deregister_op_impl(op: Any) -> None:
    """Take the implementation of an operator back; nothing happens when it has none."""
    op_implementations_dict.pop(op, None)


def register_fast_op_impl(func: Any) -> Callable[[Implementation], Implementation]:
    """Register an implementation of an operator that programs may call: no call asks for it."""

    def decorate(op_impl: Implementation) -> Implementation:
        _fast_op_implementations[func] = op_impl
        return op_impl

    return decorate


def get_fast_op_impls() -> dict[Any, Implementation]:
    """What `register_fast_op_impl` registered, and arithmetic: `impl(mode, x, y)`."""
    if not _fast_op_implementations:
        for name in ("add", "sub", "mul", "div"):
            op = getattr(ops.aten, name).Tensor
            register_fast_op_impl(op)(_under_its_mode(op))
    return _fast_op_implementations


def _under_its_mode(op: Any) -> Implementation:
    def run(mode: Any, *args: Any, **kwargs: Any) -> Any:
        with mode:
            return op(*args, **kwargs)

    return run


def is_builtin(op: Any) -> bool:
    """Whether the operator is of a namespace of PyTorch's own."""
    return op.namespace in ("aten", "prims", "prim")


def has_meta(func: Any) -> bool:
    """Whether the operator's table has a kernel for Meta."""
    return _dispatch_has_computed_kernel_for_dispatch_key(func.name(), "Meta")


def stride_incorrect_op(op: Any) -> bool:
    """False: all Meta kernels give the right strides."""
    return False


def contains_tensor_types(type_: Any) -> bool:
    """Whether a schema's type is Tensor, or a list or an optional of it."""
    return "Tensor" in str(type_)


@functools.cache
def _is_tensor_constructor(func: Any) -> bool:
    """Whether an operator takes no tensor and gives one. AssertionError for what is no overload."""
    if not isinstance(func, OpOverload):
        raise AssertionError(f"expected an OpOverload, got {type(func).__name__}")
    schema = func._schema
    if any(contains_tensor_types(a.type) for a in schema.arguments):
        return False
    return len(schema.returns) == 1 and str(schema.returns[0].type) == "Tensor"


def _overloads(*names: str) -> dict[Any, bool]:
    """Overloads of aten by name, those that there are."""
    found = []
    for name in names:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(ops.aten, packet, None), overload or "default", None)
        if op is not None:
            found.append(op)
    return ordered_set(*found)


_LIKE_PACKETS = ("empty", "full", "ones", "rand", "randn", "randint", "zeros")
_LIKE_OVERLOADS = (
    "", ".out", ".generator", ".generator_out", ".Tensor", ".Tensor_out", ".Tensor_generator",
    ".Tensor_generator_out", ".low_dtype", ".low_dtype_out", ".low_generator_dtype",
    ".low_generator_dtype_out",
)  # fmt: skip
_LIKE = [f"{p}_like{o}" for p in _LIKE_PACKETS for o in _LIKE_OVERLOADS]
_NEW_PACKETS = ("empty", "empty_strided", "full", "zeros", "ones")
_NEW = [f"new_{p}{o}" for p in _NEW_PACKETS for o in ("", ".out")]
_DEVICE_NOT_KEYWORD = (
    "_resize_output_", "_nested_tensor_from_tensor_list", "pin_memory", "to.device",
    "to.prim_Device", "is_pinned", "_pin_memory", "_pin_memory.out", "_resize_output",
    "_nested_tensor_from_tensor_list.out", "_resize_output.out",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "_like_tensor_constructors":
        found = _overloads(*_LIKE, *_NEW)
    elif name == "_device_not_kwarg_ops":
        found = _overloads(*_DEVICE_NOT_KEYWORD)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found
