"""Sources: where a number comes from in the program's inputs.

A symbol's name is made from its source's name, and guards are printed over sources. Names are those
of `torch._dynamo.source`.
"""

import enum
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AttrSource",
    "ConstantSource",
    "EphemeralSource",
    "GetItemSource",
    "LocalSource",
    "Source",
    "TensorProperty",
    "TensorPropertySource",
]


class Source:
    """What a value is called: `name` is an expression over the inputs."""

    __slots__ = ()

    @property
    def name(self) -> str:
        raise NotImplementedError

    def is_ephemeral(self) -> bool:
        """Whether it is not there when the program runs again; nor is then what is part of it."""
        base = getattr(self, "base", None)
        return base is not None and base.is_ephemeral()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


@dataclass(frozen=True, repr=False, slots=True)
class ConstantSource(Source):
    """A name given by hand."""

    source_name: str

    @property
    def name(self) -> str:
        return self.source_name


@dataclass(frozen=True, repr=False, slots=True)
class LocalSource(Source):
    """An argument of the program."""

    local_name: str
    is_input: bool = False

    @property
    def name(self) -> str:
        return f"L[{self.local_name!r}]"


@dataclass(frozen=True, repr=False, slots=True)
class EphemeralSource(Source):
    """Something that exists only while the program is looked at."""

    desc: str | None = None

    @property
    def name(self) -> str:
        return "<ephemeral" + (f": {self.desc}>" if self.desc is not None else ">")

    def is_ephemeral(self) -> bool:
        return True


@dataclass(frozen=True, repr=False, slots=True)
class AttrSource(Source):
    """An attribute of another source."""

    base: Source
    member: str

    @property
    def name(self) -> str:
        return f"{self.base.name}.{self.member}"


@dataclass(frozen=True, repr=False, slots=True)
class GetItemSource(Source):
    """An element of another source."""

    base: Source
    index: Any

    @property
    def name(self) -> str:
        return f"{self.base.name}[{self.index!r}]"


class TensorProperty(enum.Enum):
    """What of a tensor a number is."""

    SIZE = 0
    STRIDE = 1
    STORAGE_OFFSET = 2

    def method_name(self) -> str:
        """The method of Tensor that reads it: `size`, `stride`, `storage_offset`."""
        return self.name.lower()


class TensorPropertySource(Source):
    """A size or stride of a tensor, or its storage offset."""

    __slots__ = ("_name", "base", "idx", "prop")

    def __init__(self, base: Source, prop: TensorProperty, idx: int | None = None) -> None:
        self.base, self.prop, self.idx = base, prop, idx
        self._name: str | None = None

    @property
    def name(self) -> str:
        name = self._name
        if name is None:
            method = self.prop._name_.lower()  # neither a hash nor a property of an enum
            place = "" if self.idx is None else f"[{self.idx}]"
            name = self._name = f"{self.base.name}.{method}(){place}"
        return name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorPropertySource) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)
