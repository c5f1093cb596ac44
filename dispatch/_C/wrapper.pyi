from typing import Any, TypeVar

from dispatch._C.dtypes import (
    device as _device,
    dtype as _dtype,
    layout as _layout,
    memory_format as _memory_format,
)
from dispatch._C.keys import DispatchKeySet
from dispatch._C.storage import Storage
from dispatch._C.tensor import Tensor

_T = TypeVar("_T", bound=Tensor)

def answer(t: Tensor, question: str, memory_format: _memory_format | None = None) -> Any: ...
def answers(t: Tensor, policy: str) -> bool: ...
def has_handler(t: Tensor) -> bool: ...
def layout_code(t: Tensor) -> int: ...
def adopt_view(t: Tensor, made: Tensor) -> None: ...
def set_source(
    tensor: Tensor, storage: Storage, storage_offset: int, size: Any, stride: Any
) -> None: ...
def share_storage(tensor: Tensor, like: Tensor) -> None: ...
def share_memory(tensor: Tensor, source: Tensor) -> None: ...
def stored_fact(
    t: Tensor, question: str, memory_format: _memory_format | None = None
) -> bool: ...
def make_subclass(
    cls: type[_T],
    data: Tensor,
    require_grad: bool = False,
    *,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    device_for_backend_keys: _device | str | None = None,
) -> _T: ...
def as_subclass(self: Tensor, cls: type[_T]) -> _T: ...
def make_wrapper_subclass(
    cls: type[_T],
    size: Any,
    strides: Any = None,
    storage_offset: int | None = None,
    memory_format: _memory_format | None = None,
    dtype: _dtype | None = None,
    layout: _layout = ...,
    device: _device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    _extra_dispatch_keys: DispatchKeySet | None = None,
    storage_size: int | None = None,
) -> _T: ...
