"""`Parameter` and `Buffer`: tensors that say what they are for.

A plain tensor becomes an object of the class over the same memory. A tensor of a subclass with
`__torch_function__` or `__torch_dispatch__` of its own stays of that class and is marked:
`isinstance(x, Parameter)` is true for both (torch.nn.parameter).
"""

from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C.disabled import _disabled_torch_function_impl
from dispatch.tensor.text import print_as_plain

__all__ = ["Buffer", "Parameter"]


class _Kind(type(Tensor)):  # type: ignore[misc]
    """Marked tensors of other classes are instances too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (
            isinstance(instance, Tensor) and getattr(instance, cls._mark, False)
        )


class Parameter(Tensor, metaclass=_Kind):
    """A tensor that a model learns: `requires_grad` unless told otherwise.

    Args: data, a tensor (None: an empty one); requires_grad. Shares the memory of `data`.
    """

    _mark = "_is_param"
    _mark_text = "Parameter"
    _is_param = True
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = dispatch.empty(0)
        if type(data) is Tensor or type(data) is cls:
            return Tensor._make_subclass(cls, data, requires_grad)
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires "
                "that detach() returns an instance of the same type, but return type "
                f"{type(marked).__name__} was found instead"
            )
        marked._is_param = True
        marked._mark_text = cls._mark_text
        return marked

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = self.data.clone(memory_format=dispatch.preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        attributes = {name: v for name, v in self.__dict__.items() if name != "grad"}
        return _parameter, (self.data, self.requires_grad, attributes)


print_as_plain(Parameter)


def _parameter(data: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """A pickled parameter."""
    found: Parameter = Parameter(data, requires_grad)
    found.__dict__.update(attributes)
    return found


class Buffer(Tensor, metaclass=_Kind):
    """A tensor that belongs to a model and is not learned.

    Args: data, a tensor (None: an empty one); persistent: whether it is saved with the model.
    """

    _mark = "_is_buffer"
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = dispatch.empty(0)
        marked = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked
