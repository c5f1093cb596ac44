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
    "UnsupportedMutationAliasingException",
    "UnsupportedOperatorException",
]


class _OfOneField(RuntimeError):
    """Made from one thing; two of a kind are equal when these are, as PyTorch's dataclasses."""

    __match_args__: tuple[str]
    __hash__ = None  # type: ignore[assignment]

    def _value(self) -> Any:
        return getattr(self, self.__match_args__[0])

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(self._value() == other._value())

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({self.__match_args__[0]}={self._value()!r})"


class _OfOperator(_OfOneField):
    __match_args__ = ("func",)

    def __init__(self, func: Any) -> None:
        self.func = func


class _OfReason(_OfOneField):
    __match_args__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class UnsupportedFakeTensorException(_OfReason):
    """The tensor is of a kind that cannot be made fake; `reason` says why."""


class DynamicOutputShapeException(_OfOperator):
    """The output's sizes depend on values."""


class DataDependentOutputException(_OfOperator):
    """The output is a number that depends on values."""


class UnsupportedOperatorException(_OfOperator):
    """The operator has no Meta kernel and no fake implementation."""


class UnsupportedMutationAliasingException(_OfReason):
    """The operator writes to, or aliases, what it must not; `reason` says what."""


class MetadataMismatchError(_OfReason):
    """A fake result and a real one differ in metadata; `reason` says in what."""


class FakeTensorDeviceMismatchError(RuntimeError):
    """The tensors of a call lie on different devices, and the operator does not mix them."""

    def __init__(self, func: Any, common_device: Any, device: Any) -> None:
        self.func = func
        self.common_device = common_device
        self.device = device
        schema = getattr(func, "_schema", None)
        name = func.name() if hasattr(func, "name") else func
        super().__init__(
            f"{name}: the tensors of a call must be on one device, got {common_device} and "
            f"{device}\n  {schema}"
        )
