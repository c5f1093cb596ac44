"""Sources: where a number comes from in the program's inputs.

A symbol's name is made from its source's name, and guards are printed over sources. Names are those
of `torch._dynamo.source`.
"""

from dataclasses import dataclass
from typing import Any

from dispatch.symbolic.properties import Source, TensorProperty, TensorPropertySource

__all__ = [
    "AttrSource",
    "CallMethodItemSource",
    "ConstantSource",
    "EphemeralSource",
    "GetItemSource",
    "LocalSource",
    "Source",
    "TensorProperty",
    "TensorPropertySource",
]


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
class CallMethodItemSource(Source):
    """What `item()` of another source gives."""

    base: Source

    @property
    def name(self) -> str:
        """The call, as guards have it."""
        return f"{self.base.name}.item()"


@dataclass(frozen=True, repr=False, slots=True)
class GetItemSource(Source):
    """An element of another source."""

    base: Source
    index: Any

    @property
    def name(self) -> str:
        return f"{self.base.name}[{self.index!r}]"
