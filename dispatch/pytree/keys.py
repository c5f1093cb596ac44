"""Paths into a nest: one key for each step from a node to its child.

Flatten functions with keys (`nodes`) give them, `walk` joins them. A key prints as the step would
be written in Python, and can be followed (`get`). Keys of different kinds are never equal.
"""

import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["GetAttrKey", "KeyEntry", "KeyPath", "MappingKey", "SequenceKey", "key_get", "keystr"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class KeyEntry(Protocol):
    """What a key of a path can do."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __str__(self) -> str: ...
    def get(self, parent: Any) -> Any:
        """The child of `parent` that the key names."""
        ...


KeyPath = tuple[KeyEntry, ...]


@dataclass(frozen=True, slots=True)
class SequenceKey(Generic[T]):
    """The step to an item of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[T]) -> T:
        """`sequence[idx]`."""
        return sequence[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey(Generic[K, T]):
    """The step to a value of a dict."""

    key: K

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[K, T]) -> T:
        """`mapping[key]`."""
        return mapping[self.key]


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The step to an attribute: a field of a named tuple or a dataclass."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The attribute `name` of `obj`."""
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """A path as it would be written in Python.

    >>> keystr((MappingKey("a"), SequenceKey(1)))
    "['a'][1]"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What stands at a path."""
    return functools.reduce(lambda parent, key: key.get(parent), kp, obj)
