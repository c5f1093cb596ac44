"""The common device of a call, for code that has the arguments as a flat list.

The rules are those of the compiled handler (`propagate`), which sees the same call in C
(torch._subclasses.fake_tensor.FakeTensor._find_common_device).
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C.dtypes import device
from dispatch._C.operator import _should_allow_numbers_as_tensors
from dispatch.fake.exceptions import FakeTensorDeviceMismatchError

__all__ = ["find_common_device", "init_gpu_context", "is_indexed_device_type", "merged_device",
           "should_allow_numbers_as_tensors"]  # fmt: skip

_INDEXED = frozenset(("cuda", "hpu", "xpu", "mps", "mtia", "privateuseone"))


def is_indexed_device_type(device_type: str) -> bool:
    """Whether devices of the type are told apart by an index."""
    return device_type in _INDEXED


def init_gpu_context(device: Any) -> None:
    """Nothing to do here: no accelerator has a context of its own."""


def should_allow_numbers_as_tensors(func: Any) -> bool:
    """Whether the operator takes Python numbers where its schema says Tensor."""
    return bool(_should_allow_numbers_as_tensors(func.name().split("::")[-1].split(".")[0]))


def _is_cpu_scalar(t: Any) -> bool:
    return bool(t.device.type == "cpu" and t.dim() == 0)


def _may_mix(name: str, a: Any, b: Any) -> bool:
    if name == "aten::_foreach_copy":
        return "cpu" in (a.type, b.type)
    return name == "aten::add_.Tensor" and "meta" in (a.type, b.type)


def merged_device(func: Any, tensors: Sequence[Any]) -> Any:
    """The device of the tensors, a 0-d CPU tensor going with any other; None without tensors.

    Raises: FakeTensorDeviceMismatchError for two devices that do not go together.
    """
    common, scalar = None, False
    name = func.name()
    strict = name == "aten::nextafter"
    for t in tensors:
        if common is None:
            common, scalar = t.device, _is_cpu_scalar(t)
        elif t.device == common:
            scalar = scalar and _is_cpu_scalar(t)
        elif _is_cpu_scalar(t) and not strict:
            continue
        elif scalar and not strict:
            common, scalar = t.device, False
        elif not _may_mix(name, common, t.device):
            raise FakeTensorDeviceMismatchError(func, common, t.device)
    return common


def find_common_device(func: Any, flat_args: Sequence[Any], fake: type) -> tuple[Any, bool]:
    """(common device of the fake tensors, whether the call has numbers only).

    Raises: FakeTensorDeviceMismatchError; AssertionError when nothing tells the device.
    """
    common = merged_device(func, [t for t in flat_args if isinstance(t, fake)])
    if common is not None:
        return common, False
    if should_allow_numbers_as_tensors(func):
        return device("cpu"), True
    raise AssertionError(f"{func.name()}: no fake tensor among the arguments tells the device")
