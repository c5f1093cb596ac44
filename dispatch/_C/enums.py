"""Small enumerations with the manners of PyTorch's bindings: a number and a name, nothing ordered.

A value without a member is `???`, as there; equal by number within the class.
"""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

__all__ = ["_SchemaArgType", "_TorchDispatchModeKey", "_TorchFunctionState"]


class BoundEnum:
    """A number with a name; subclasses list their members in `_numbers`, in PyTorch's order."""

    __slots__ = ("_value",)
    _numbers: ClassVar[dict[str, int]] = {}
    _names: ClassVar[dict[int, str]] = {}
    __members__: ClassVar[dict[str, BoundEnum]] = {}

    def __init__(self, value: SupportsIndex) -> None:
        if not hasattr(type(value), "__index__") or not -128 <= value.__index__() < 128:
            raise TypeError(f"{type(self).__name__}: expected a small int, got {value!r}")
        self._value = value.__index__()

    def __init_subclass__(cls) -> None:
        cls._names = {number: name for name, number in cls._numbers.items()}
        cls.__members__ = {name: cls(number) for name, number in cls._numbers.items()}
        for name, member in cls.__members__.items():
            setattr(cls, name, member)

    @property
    def value(self) -> int:
        """The number."""
        return self._value

    @property
    def name(self) -> str:
        """The member's name, or `???`."""
        return self._names.get(self._value, "???")

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
    _numbers: ClassVar = {"ENABLED": 0, "SUBCLASSES_DISABLED": 1, "ALL_DISABLED": 2}
    ENABLED: ClassVar[_TorchFunctionState]
    SUBCLASSES_DISABLED: ClassVar[_TorchFunctionState]
    ALL_DISABLED: ClassVar[_TorchFunctionState]


class _TorchDispatchModeKey(BoundEnum):
    """Which infra mode a mode is (its `_mode_key`): at most one of each, below all user modes."""

    __slots__ = ()
    _numbers: ClassVar = {"FUNCTIONAL": 2, "PROXY": 1, "FAKE": 0}
    FUNCTIONAL: ClassVar[_TorchDispatchModeKey]
    PROXY: ClassVar[_TorchDispatchModeKey]
    FAKE: ClassVar[_TorchDispatchModeKey]


class _SchemaArgType(BoundEnum):
    """Which list of a schema an index points into."""

    __slots__ = ()
    _numbers: ClassVar = {"input": 0, "output": 1}
    input: ClassVar[_SchemaArgType]
    output: ClassVar[_SchemaArgType]
