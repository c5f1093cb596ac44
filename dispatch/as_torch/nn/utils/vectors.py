"""`torch.nn.utils`: parameters as one vector, modules without initial values, memory formats."""

import inspect
from collections.abc import Iterable
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.modules.module import Module

__all__ = [
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
    "parameters_to_vector", "skip_init", "vector_to_parameters",
]  # fmt: skip


def _check_one_device(parameters: list[Tensor]) -> None:
    places = {str(p.device) for p in parameters}
    if len(places) > 1:
        raise TypeError(f"parameters on different devices are no vector: {sorted(places)}")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one after the other, flat.

    Raises: TypeError for parameters on several devices.
    """
    given = list(parameters)
    _check_one_device(given)
    return dispatch.cat([p.view(-1) for p in given])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the parts of a vector, as views on it.

    Raises: TypeError for what is no tensor, or for parameters on several devices.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {dispatch.typename(vec)}")
    given, start = list(parameters), 0
    _check_one_device(given)
    for parameter in given:
        n = parameter.numel()
        parameter.data = vec[start : start + n].view_as(parameter).data
        start += n


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """A module whose tensors have no values yet.

    Raises: RuntimeError for what is no module class, or one without `device`.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    place = kwargs.pop("device", "cpu")
    kwargs["device"] = "meta"
    return module_cls(*args, **kwargs).to_empty(device=place)


def _converted(module: Any, memory_format: Any, kinds: tuple[Any, ...]) -> Any:
    if isinstance(module, kinds):
        weight = module.weight.detach().clone()
        module.weight.data = weight.contiguous(memory_format=memory_format)
    for child in module.children():
        _converted(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Weights of all two-dimensional convolutions inside in this memory format."""
    return _converted(module, memory_format, (modules.Conv2d, modules.ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Weights of all three-dimensional convolutions inside in this memory format."""
    return _converted(module, memory_format, (modules.Conv3d, modules.ConvTranspose3d))
