"""Small enumerations with the manners of PyTorch's bindings: a number and a name, nothing ordered.

A value without a member is `???`, as there; equal by number within the class.
"""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

__all__ = ["_SchemaArgType", "_TorchFunctionState"]


class BoundEnum:
    """A number with a name; subclasses list their members in `_names`, by number."""

    __slots__ = ("_value",)
    _names: ClassVar[tuple[str, ...]] = ()
    __members__: ClassVar[dict[str, BoundEnum]] = {}

    def __init__(self, value: SupportsIndex) -> None:
        if not hasattr(type(value), "__index__") or not -128 <= value.__index__() < 128:
            raise TypeError(f"{type(self).__name__}: expected a small int, got {value!r}")
        self._value = value.__index__()

    def __init_subclass__(cls) -> None:
        cls.__members__ = {name: cls(number) for number, name in enumerate(cls._names)}
        for name, member in cls.__members__.items():
            setattr(cls, name, member)

    @property
    def value(self) -> int:
        """The number."""
        return self._value

    @property
    def name(self) -> str:
        """The member's name, or `???`."""
        return self._names[self._value] if 0 <= self._value < len(self._names) else "???"

    def __int__(self) -> int:
        return self._value

    def __index__(self) -> int:
        return self._value

    def __hash__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._value == self._value

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self._value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self) -> tuple[type[BoundEnum], tuple[int]]:
        return type(self), (self._value,)


class _TorchFunctionState(BoundEnum):
    """Whose `__torch_function__` is called."""

    __slots__ = ()
    _names = ("ENABLED", "SUBCLASSES_DISABLED", "ALL_DISABLED")
    ENABLED: ClassVar[_TorchFunctionState]
    SUBCLASSES_DISABLED: ClassVar[_TorchFunctionState]
    ALL_DISABLED: ClassVar[_TorchFunctionState]


class _SchemaArgType(BoundEnum):
    """Which list of a schema an index points into."""

    __slots__ = ()
    _names = ("input", "output")
    input: ClassVar[_SchemaArgType]
    output: ClassVar[_SchemaArgType]
