"""What fake tensors raise when metadata alone cannot answer (torch._subclasses.fake_tensor).

Raised by shape functions and by FakeTensorMode. `func` is the operator.
"""

from dataclasses import dataclass
from typing import Any

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensorDeviceMismatchError",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedMutationAliasingException",
    "UnsupportedOperatorException",
]


@dataclass
class UnsupportedFakeTensorException(RuntimeError):
    """The tensor is of a kind that cannot be made fake; `reason` says why."""

    reason: str


@dataclass
class DynamicOutputShapeException(RuntimeError):
    """The output's sizes depend on values."""

    func: Any


@dataclass
class DataDependentOutputException(RuntimeError):
    """The output is a number that depends on values."""

    func: Any


@dataclass
class UnsupportedOperatorException(RuntimeError):
    """The operator has no Meta kernel and no fake implementation."""

    func: Any


@dataclass
class UnsupportedMutationAliasingException(RuntimeError):
    """The operator writes to, or aliases, what it must not; `reason` says what."""

    reason: str


@dataclass
class MetadataMismatchError(RuntimeError):
    """A fake result and a real one differ in metadata; `reason` says in what."""

    reason: str


class FakeTensorDeviceMismatchError(RuntimeError):
    """The tensors of a call lie on different devices, and the operator does not mix them."""

    def __init__(self, func: Any, common_device: Any, device: Any) -> None:
        self.func = func
        self.common_device = common_device
        self.device = device
        schema = getattr(func, "_schema", None)
        name = func.name() if hasattr(func, "name") else func
        super().__init__(
            f"Unhandled FakeTensor Device Propagation for {name}: found two different devices "
            f"{common_device}, {device}\n  {schema}"
        )
