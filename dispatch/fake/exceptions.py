"""What fake tensors raise when metadata alone cannot answer (torch._subclasses.fake_tensor).

Raised by shape functions and by FakeTensorMode. `func` is the operator.
"""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensorDeviceMismatchError",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedMutationAliasingException",
    "UnsupportedOperatorException",
]


_E = TypeVar("_E", bound=type[RuntimeError])


def _made_from(field: str) -> Callable[[_E], _E]:
    """Class decorator: the rest of a dataclass of one field, which takes import too long to make."""

    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(getattr(self, field) == getattr(other, field))

    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({field}={getattr(self, field)!r})"

    def complete(cls: _E) -> _E:
        for name, value in (
            ("__eq__", __eq__), ("__repr__", __repr__), ("__hash__", None),
            ("__match_args__", (field,)),
        ):  # fmt: skip
            setattr(cls, name, value)
        return cls

    return complete


@_made_from("reason")
class UnsupportedFakeTensorException(RuntimeError):
    """The tensor is of a kind that cannot be made fake; `reason` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@_made_from("func")
class DynamicOutputShapeException(RuntimeError):
    """The output's sizes depend on values."""

    def __init__(self, func: Any) -> None:
        self.func = func


@_made_from("func")
class DataDependentOutputException(RuntimeError):
    """The output is a number that depends on values."""

    def __init__(self, func: Any) -> None:
        self.func = func


@_made_from("func")
class UnsupportedOperatorException(RuntimeError):
    """The operator has no Meta kernel and no fake implementation."""

    def __init__(self, func: Any) -> None:
        self.func = func


@_made_from("reason")
class UnsupportedMutationAliasingException(RuntimeError):
    """The operator writes to, or aliases, what it must not; `reason` says what."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@_made_from("reason")
class MetadataMismatchError(RuntimeError):
    """A fake result and a real one differ in metadata; `reason` says in what."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


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
