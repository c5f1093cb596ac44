from typing import Any

from dispatch._C.dtypes import dtype as _dtype
from dispatch._C.storage import Storage
from dispatch._C.tensor import Tensor

__all__ = ["storage_over", "tensor_on"]

def storage_over(array: Any) -> Storage: ...
def tensor_on(
    storage: Storage,
    dtype: _dtype,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> Tensor: ...
