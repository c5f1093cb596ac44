from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from dispatch._C.dtypes import dtype as _dtype

_Ints: TypeAlias = Sequence[int]

def empty_like_strides(tensor: Any) -> tuple[int, ...]: ...
def elementwise_strides(
    shape: _Ints, tensors: Iterable[Any], dtype: _dtype | None = None
) -> tuple[int, ...]: ...
def elementwise_strides_meta(
    shape: _Ints, tensors: Iterable[Any], dtype: _dtype | None = None
) -> tuple[int, ...]: ...
