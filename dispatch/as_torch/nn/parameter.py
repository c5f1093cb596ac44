"""`Parameter` and `Buffer`: tensors that say what they are for.

A plain tensor becomes an object of the class over the same memory. A tensor of a subclass with
`__torch_function__` or `__torch_dispatch__` of its own stays of that class and is marked:
`isinstance(x, Parameter)` is true for both (torch.nn.parameter). Those of lazy modules have no
sizes until `materialize`, and take part in no operator but conversions.
"""

from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C.disabled import _disabled_torch_function_impl
from dispatch.tensor.text import print_as_plain

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


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


class UninitializedTensorMixin(Tensor):
    """No sizes yet: a dtype, a device, and the class that it becomes."""

    cls_to_become: type[Tensor]
    # What conversions of a whole module call, and what a `state_dict` is copied by.
    _allowed = frozenset(
        getattr(Tensor, name)
        for name in (
            "__hash__", "char", "copy_", "cpu", "cuda", "double", "float", "get_device", "half",
            "int", "is_complex", "is_floating_point", "long", "short", "size", "to",
        )
    )  # fmt: skip

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Get these sizes, and elements that nobody set; other dtypes and devices on demand."""
        device, dtype = device or self.data.device, dtype or self.data.dtype
        self.data = dispatch.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        """There is none: RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        """There is nothing to share: RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in cls._allowed or type(func).__name__ == "method-wrapper":
            return _disabled_torch_function_impl(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter of a lazy module (torch.nn.parameter.UninitializedParameter)."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        data = dispatch.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)


class UninitializedBuffer(UninitializedTensorMixin):
    """A buffer of a lazy module (torch.nn.parameter.UninitializedBuffer).

    It becomes a `Buffer`: no object of a Python class can become a plain tensor.
    """

    cls_to_become = Buffer

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
        persistent: bool = True,
    ) -> Any:  # fmt: skip
        data = dispatch.empty(0, device=device, dtype=dtype)
        made: Any = Tensor._make_subclass(cls, data, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


def is_lazy(value: Any) -> bool:
    """Whether it has no sizes yet (torch.nn.parameter.is_lazy)."""
    return isinstance(value, UninitializedTensorMixin)
