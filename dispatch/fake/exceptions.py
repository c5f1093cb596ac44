"""What fake tensors raise when metadata alone cannot answer (torch._subclasses.fake_tensor).

Raised by shape functions and by FakeTensorMode. `func` is the operator; the text is its name, as in
PyTorch, and what to do is a note, which tracebacks show.
"""

from dataclasses import dataclass
from typing import Any

from dispatch._C.naming import full_name

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

    def __post_init__(self) -> None:
        self.add_note(
            "The sizes of its result depend on values, which fake tensors have not; "
            "FakeTensorMode(shape_env=ShapeEnv()) makes symbols of them."
        )


@dataclass
class DataDependentOutputException(RuntimeError):
    """The output is a number that depends on values."""

    func: Any

    def __post_init__(self) -> None:
        self.add_note(
            "Its result is a value, which fake tensors have not; "
            "FakeTensorMode(shape_env=ShapeEnv()) makes a symbol of it."
        )


@dataclass
class UnsupportedOperatorException(RuntimeError):
    """The operator has no Meta kernel and no fake implementation."""

    func: Any

    def __post_init__(self) -> None:
        name = self.func.name() if hasattr(self.func, "name") else self.func
        self.add_note(
            "No Meta kernel and no fake kernel gives the shape of its result; "
            f"`{full_name('library.register_fake')}({name!r})` registers one."
        )


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
