"""Names of function transforms (torch._C._functorch), for which rules may be registered."""

from __future__ import annotations

from typing import ClassVar

from dispatch._C.enums import BoundEnum

__all__ = ["TransformType"]


class TransformType(BoundEnum):
    """The kinds of transforms; a higher-order operator's `functorch_table` goes by them."""

    __slots__ = ()
    _numbers: ClassVar = {"Torch": 0, "Vmap": 1, "Grad": 2, "Jvp": 3, "Functionalize": 4}
    Torch: ClassVar[TransformType]
    Vmap: ClassVar[TransformType]
    Grad: ClassVar[TransformType]
    Jvp: ClassVar[TransformType]
    Functionalize: ClassVar[TransformType]
