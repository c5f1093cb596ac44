"""Operators without a Meta kernel: their real kernel runs on zeros, for the shapes alone.

Called by `propagate` when the mode allows it (torch._subclasses.fake_tensor.run_fallback_kernel).
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C.guards import _DisableTorchDispatch
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["fall_back", "run_fallback_kernel"]


def fall_back(mode: Any, func: Any, args: Any, kwargs: Any, error: Exception) -> Any:
    """`run_fallback_kernel` on arguments as they come."""
    from dispatch.pytree import tree_flatten

    flat, spec = tree_flatten((args, kwargs))
    return run_fallback_kernel(mode, func, flat, spec, error)


def run_fallback_kernel(
    fake_mode: Any,
    func: Any,
    flat_args: Sequence[Any],
    args_spec: Any,
    orig_not_implemented_exception: Exception,
) -> Any:
    """What the operator gives on zeros, made fake; arguments that it returns stay what they are.

    Raises: `orig_not_implemented_exception` for an operator that changes its arguments' metadata,
    or returns something that shares their storage; what the kernel raises.
    """
    from dispatch import pytree

    if Tag.inplace_view in func.tags:
        raise orig_not_implemented_exception
    fakes: dict[int, Any] = {}
    storages: set[int] = set()

    def real(value: Any) -> Any:
        if fake_mode.is_our_fake(value):
            made = ops.aten.empty_strided.default(
                list(value.shape), list(value.stride()), dtype=value.dtype, device=value.fake_device
            ).zero_()
            fakes[id(made)] = value
            return made
        return value

    def fake(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) in fakes:
            return fakes[id(value)]
        if value.untyped_storage()._cdata in storages:
            raise orig_not_implemented_exception
        return fake_mode.fake_tensor_converter.from_real_tensor(fake_mode, value)

    with _DisableTorchDispatch():
        values = [real(a) for a in flat_args]
        storages.update(v.untyped_storage()._cdata for v in values if isinstance(v, Tensor))
        args, kwargs = pytree.tree_unflatten(values, args_spec)
        result = func(*args, **kwargs)
    return pytree.tree_map(fake, result)
