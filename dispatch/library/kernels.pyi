from collections.abc import Callable
from typing import Any

from dispatch._C.keys import DispatchKeySet
from dispatch._C.native_functor import NativeFunctor
from dispatch._C.overload import OpOverload

class AutogradKernel(NativeFunctor): ...
class BackendKernel(NativeFunctor): ...

def new_autograd_kernel(
    op: OpOverload,
    record: Callable[[DispatchKeySet, tuple[Any, ...], dict[str, Any]], Any],
    is_out: bool,
) -> NativeFunctor: ...
def new_version_kernel(op: OpOverload) -> NativeFunctor: ...
def new_backend_kernel(
    op: OpOverload,
    functions: dict[str | None, Callable[..., Any]],
    disabled: set[str | None],
    initial: Callable[..., Any],
    device_type: str | None,
    is_inplace: bool,
    is_out: bool,
    is_view: bool,
) -> NativeFunctor: ...
