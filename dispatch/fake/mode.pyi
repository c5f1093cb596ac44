from collections.abc import Callable
from typing import Any, Generic, TypeVar

from dispatch._C.mode import TorchDispatchMode
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch.fake.cache import DispatchCache, DispatchCacheInfo
from dispatch.fake.fake_tensor import FakeTensor

T = TypeVar("T")

def own_info(mode: FakeTensorMode) -> DispatchCacheInfo: ...
def own_clear(mode: FakeTensorMode) -> None: ...

class OfModeOrAll(Generic[T]):
    def __init__(
        self, of_mode: Callable[[FakeTensorMode], T], of_all: Callable[[], T], doc: str
    ) -> None: ...
    def __get__(
        self, mode: FakeTensorMode | None, owner: type | None = None
    ) -> Callable[[], T]: ...

class FakeTensorMode(TorchDispatchMode):
    allow_fallback_kernels: bool
    allow_non_fake_inputs: bool
    allow_meta: bool
    export: bool
    in_kernel_invocation: bool
    shape_env: Any
    static_shapes: bool
    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
        cache: bool | DispatchCache | None = True,
        cache_policy: Callable[[OpOverload], bool] | None = None,
    ) -> None: ...
    @property
    def cache(self) -> DispatchCache | None: ...
    cache_enabled: bool
    cache_crosscheck_enabled: bool
    cache_info: OfModeOrAll[DispatchCacheInfo]
    cache_clear: OfModeOrAll[None]
    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any: ...
    def from_tensor(
        self,
        tensor: Tensor,
        *,
        static_shapes: bool | None = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> FakeTensor: ...
    def is_our_fake(self, t: object) -> bool: ...
