from collections.abc import Iterable

from dispatch._C.dtypes import device as _device, dtype as _dtype
from dispatch._C.tensor import Tensor

class TensorSpec:
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: _dtype
    device: _device | None
    overlap: str | None
    cast: str | None
    copied: bool
    restride: bool
    def __init__(
        self,
        sizes: Iterable[int],
        dtype: _dtype,
        strides: Iterable[int] | None = None,
        *,
        device: _device | None = None,
        cast: str | None = None,
        overlap: str | None = None,
        copied: bool = False,
        restride: bool = False,
    ) -> None: ...

def check_read(out: Tensor, *read: Tensor) -> None: ...
def check_written(out: Tensor, *read: Tensor) -> None: ...
def check_placed(like: Tensor, *outs: Tensor) -> None: ...

class Shaped:
    specs: TensorSpec | tuple[TensorSpec | None, ...]
    handed: tuple[object, ...]
    def __init__(
        self, specs: TensorSpec | tuple[TensorSpec | None, ...], *handed: object
    ) -> None: ...
