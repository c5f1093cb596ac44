"""Names for annotations (torch.types)."""

from collections.abc import Sequence
from typing import TypeAlias

from dispatch._C.dtypes import device as _device
from dispatch._C.keys import DispatchKey as DispatchKey
from dispatch._C.size import Size as Size
from dispatch._C.storage import Storage as Storage
from dispatch._C.tensor import Tensor as Tensor

__all__ = ["Device", "Number"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None

_bool = bool
_complex = complex
_float = float
_int = int
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize: TypeAlias = Size | Sequence[int]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
