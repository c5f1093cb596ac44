"""What fake tensors raise when metadata alone cannot answer (torch._subclasses.fake_tensor).

Raised by shape functions and by FakeTensorMode. `func` is the operator.
"""

from typing import Any

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensorDeviceMismatchError",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
]


class UnsupportedFakeTensorException(RuntimeError):
    """The tensor is of a kind that cannot be made fake; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _OperatorException(RuntimeError):
    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class DynamicOutputShapeException(_OperatorException):
    """The output's sizes depend on values."""


class DataDependentOutputException(_OperatorException):
    """The output is a number that depends on values."""


class UnsupportedOperatorException(_OperatorException):
    """The operator has no Meta kernel and no fake implementation."""


class FakeTensorDeviceMismatchError(RuntimeError):
    """The tensors of a call lie on different devices, and the operator does not mix them."""


class MetadataMismatchError(RuntimeError):
    """A fake result and a real one differ in metadata."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
