"""What symbolic numbers raise, under PyTorch's names."""

from typing import Any

__all__ = [
    "ConstraintViolationError",
    "GuardOnDataDependentSymNode",
    "PendingUnbackedSymbolNotFound",
    "ShapeEnvGuardError",
    "ValueRangeError",
]


class ConstraintViolationError(RuntimeError):
    """A size does not keep to what its dimension was said to be."""


class GuardOnDataDependentSymNode(RuntimeError):
    """A program's way depends on a number that only its data decide."""

    def __init__(self, cond: Any, *args: Any) -> None:
        super().__init__(*args)
        self.cond = cond


class PendingUnbackedSymbolNotFound(RuntimeError):
    """A new unbacked symbol is in none of the call's results."""


class ShapeEnvGuardError(RuntimeError):
    """A guard was asked for while guards are frozen."""


class ValueRangeError(RuntimeError):
    """A range without a number in it."""
