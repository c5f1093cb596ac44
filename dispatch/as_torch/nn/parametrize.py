"""`torch.nn.utils.parametrize`: a parameter or buffer that is computed when it is read.

`register_parametrization(module, "weight", p)` moves the tensor to
`module.parametrizations.weight.original`; `module.weight` is then `p(original)`, and setting it
sets the original through `p.right_inverse`. The module's class is replaced by one of its own that
has the property.
"""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.nn.modules.containers import ModuleDict, ModuleList
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

# Within `cached`: what was computed, by module and name.
_kept: dict[tuple[int, str], Any] = {}
_depth = 0


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within the block what is read is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _kept.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what they start from.

    That is `original`, or `original0`, `original1` ... when the first one's `right_inverse` gives
    several.
    """

    original: Any

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        self._is_parameter = isinstance(original, Parameter)
        start = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with contextlib.suppress(NotImplementedError), dispatch.no_grad():
                    start = module.right_inverse(start)
        self.is_tensor = isinstance(start, Tensor)
        if self.is_tensor:
            if start is not original and isinstance(original, Parameter):
                start = Parameter(start, original.requires_grad)
            self._enter("original", start)
            self.ntensors = 1
        else:
            self.ntensors = len(start)
            for i, part in enumerate(start):
                made = Parameter(part, original.requires_grad) if self._is_parameter else part
                self._enter(f"original{i}", made)
        if not unsafe:
            self._check(original)

    def _enter(self, name: str, tensor: Any) -> None:
        if isinstance(tensor, Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def _check(self, original: Any) -> None:
        made = self()
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for what in ("dtype", "shape"):
            if getattr(made, what) != getattr(original, what):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, "
                    f"unless the `unsafe` flag is enabled: {getattr(original, what)} became "
                    f"{getattr(made, what)}"
                )

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that `value` is computed from them.

        Raises: RuntimeError for a parametrization without `right_inverse`.
        """
        with dispatch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            parts = [value] if self.is_tensor else value
            for original, part in zip(self._originals(), parts, strict=True):
                original.set_(part)

    def forward(self) -> Any:
        """The tensor."""
        first, *rest = self
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module has a parametrization, of the tensor `tensor_name` if it is given."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def type_before_parametrizations(module: Module) -> type:
    """The module's class without parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute `module.tensor_name` by `parametrization(original)` from now on.

    `unsafe`: it may change the dtype and the shape.

    Raises: ValueError for no such tensor, or for another dtype or shape.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        several: Any = module.parametrizations[tensor_name]
        before, made = getattr(module, tensor_name), None
        several.append(parametrization)
        try:
            made = several()
            if not unsafe and (made.dtype, made.shape) != (before.dtype, before.shape):
                raise ValueError(
                    "Registering a parametrization may not change the dtype or shape of the "
                    "tensor, unless the `unsafe` flag is enabled"
                )
        except BaseException:
            del several[-1]
            raise
        return module
    original = module._parameters.get(tensor_name, module._buffers.get(tensor_name))
    if original is None:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    made_list = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _take_own_class(module)
        module.parametrizations = ModuleDict()
    _add_property(type(module), tensor_name)
    module.parametrizations[tensor_name] = made_list
    return module


def _take_own_class(module: Module) -> None:
    cls = type(module)

    def refuse(self: Any, protocol: Any = None) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()"
        )

    def deep(self: Any, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = self.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        own = type(type(self).__name__, type(self).__bases__, dict(vars(type(self))))
        made.__class__ = own
        return made

    own = {"__reduce_ex__": refuse, "__deepcopy__": deep, "__module__": cls.__module__}
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), own)


def _add_property(cls: type, name: str) -> None:
    def read(self: Any) -> Any:
        place = (id(self), name)
        if _depth and place in _kept:
            return _kept[place]
        value = self.parametrizations[name]()
        if _depth:
            _kept[place] = value
        return value

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(cls, name, property(read, write))


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make `module.tensor_name` a plain parameter or buffer again.

    It keeps the computed value (`leave_parametrized`), or gets the original back.

    Raises: ValueError for a tensor that is not parametrized, or one from several originals that is
        to get them back.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found: Any = module.parametrizations[tensor_name]
    if not leave_parametrized and not found.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    kept = found._originals()[0]
    if leave_parametrized:
        value = getattr(module, tensor_name)
        if found.is_tensor:
            with dispatch.no_grad():
                kept.set_(value)
        else:
            kept = Parameter(value.detach()) if found._is_parameter else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    if isinstance(kept, Parameter):
        module.register_parameter(tensor_name, kept)
    else:
        module.register_buffer(tensor_name, kept)
    return module
