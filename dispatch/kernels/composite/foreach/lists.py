"""Operators on lists: the operator of the same name, element by element.

A kernel is named after that operator, `each_add`, `each_add_`, and made when it is
first asked for. An argument that is a list goes along with `self`, another one goes to every call.
Source of the semantics: PyTorch's foreach kernels without a fast path.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__: list[str] = []

_A = ops.aten


def _norm(self: Tensor, ord: Any, dtype: dtypes.dtype | None) -> Tensor:
    if rules.is_eager(self):
        return _A.linalg_vector_norm(self, ord, dtype=dtype)
    if ord == math.inf and self.numel() == 0:
        raise refused("expected tensors that have elements, for their largest one")
    return _A.new_empty(self, (), dtype=(dtype or self.dtype).to_real())


# Operators that have other names than the list operator, and what stands for those whose
# arguments differ.
_NAMES = {
    "maximum_number": "clamp_min",
    "maximum_number_": "clamp_min_",
    "minimum_number": "clamp_max",
    "minimum_number_": "clamp_max_",
    "zero": "zeros_like",
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "maximum_": lambda t, other: _A.maximum.out(t, other, out=t),
    "minimum_": lambda t, other: _A.minimum.out(t, other, out=t),
    "norm": _norm,
    "powsum": lambda t, ord, dtype: _A.sum(_A.pow(_A.abs(t), ord), dtype=dtype),
}


def _check(lists: Sequence[Any]) -> None:
    if not lists[0]:
        raise refused("Tensor list must have at least one tensor.")
    for other in lists[1:]:
        if len(other) != len(lists[0]):
            raise refused(f"lists must have the same length, got {len(lists[0])} and {len(other)}")


def _each(call: Callable[..., Any]) -> Callable[..., list[Any]]:
    def results(*args: Any, **kwargs: Any) -> list[Any]:
        _check([a for a in args if isinstance(a, list)])
        for a in args:
            if isinstance(a, Tensor) and a.dim():
                raise refused(
                    f"scalar tensor expected to be 0 dim but it has {a.dim()} dimensions and "
                    f"{a.numel()} elements."
                )
        each = partial(call, **kwargs) if kwargs else call
        return list(map(each, *[a if isinstance(a, list) else repeat(a) for a in args]))

    return results


def _in_place(call: Callable[..., list[Any]]) -> Callable[..., None]:
    def kernel(*args: Any, **kwargs: Any) -> None:
        call(*args, **kwargs)

    return kernel


def _values_of(call: Callable[..., Any]) -> Callable[..., Any]:
    """Scalars given as one tensor: a number for each row."""

    def kernel(self: list[Tensor], one: list[Tensor], two: list[Tensor], scalars: Tensor) -> Any:
        if scalars.dim() != 1 or len(self) != scalars.numel():
            raise RuntimeError(
                f"scalars must be a 1-D tensor with a number for each of {len(self)} tensors, "
                f"got one of shape {tuple(scalars.shape)}"
            )
        return call(self, one, two, scalars.tolist())

    return kernel


def _with_value(operator: Any) -> Callable[..., Any]:
    return lambda self, one, two, value: operator(self, one, two, value=value)


def _element_operator(name: str) -> Callable[..., Any]:
    found = _OTHERS.get(name)
    if found is not None:
        return found
    operator = getattr(_A, _NAMES.get(name, name))
    return _with_value(operator) if name.startswith("addc") else operator


def __getattr__(kernel: str) -> Callable[..., Any]:
    """`each_NAME`, `each_NAME_`; `by_tensor_NAME`: with scalars in a tensor."""
    prefix = next((p for p in ("each_", "by_tensor_") if kernel.startswith(p)), None)
    if prefix is None:
        raise AttributeError(f"module {__name__!r} has no attribute {kernel!r}")
    name = kernel.removeprefix(prefix)
    call: Callable[..., Any] = _each(_element_operator(name))
    if prefix == "by_tensor_":
        call = _values_of(call)
    return _in_place(call) if name.endswith("_") else call
